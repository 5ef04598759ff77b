"""What `miner images` says."""

import json
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from miner.cli import exits
from miner.cli.images import foretell
from miner.store import Database
from miner.verify.stage import VERIFIER_VERSION
from tests.miner.cli.conftest import Miner
from tests.miner.store.samples import NOW, accepted, with_candidates
from tests.real_engine import HERE
from validators.base_images import base_image
from validators.engines import connect
from validators.environment import ENVIRONMENT_LABEL, FAMILY, LAYOUT, LAYOUT_LABEL
from validators.images import Collected, Kept, Kind
from validators.model import BuildSettings, Cache, Image, Limits

WHEN = datetime(2026, 5, 4, tzinfo=UTC)


def test_what_would_go_is_told_with_its_space(capsys: pytest.CaptureFixture[str]) -> None:
    image = Image(digest="sha256:1", tag="miner-environment:abc")
    kept = Kept(
        image=image, kind=Kind.ENVIRONMENT, python="3.12", own_bytes=30 << 20, created_at=WHEN
    )
    cache = Cache(volume="miner-uv-cache-x", size_bytes=12 << 20, created_at=WHEN)
    foretell(Collected(caches=(cache,), removed=(kept,)))
    said = capsys.readouterr().out
    assert [line.split("│")[1:-1] for line in said.splitlines() if "2026-05-04" in line] == [
        [" package cache ", " miner-uv-cache-x      ", "        ", " 12 ", " 2026-05-04 "],
        [" environment   ", " miner-environment:abc ", " 3.12   ", " 30 ", " 2026-05-04 "],
    ]
    assert said.splitlines()[-1] == (
        "1 image and 1 package cache (42 MB) would go, unless a container uses them;"
        " nothing was removed"
    )


def test_without_age_and_budget_the_command_asks(miner: Miner) -> None:
    answer = miner("images", "gc", "--dry-run")
    assert (answer.code, answer.out) == (exits.WRONG_INPUT, "")
    assert "Say which may go" in answer.err


def test_a_python_nobody_has_is_told_before_anything_is_made(miner: Miner) -> None:
    answer = miner("images", "base", "--python", "3.12", "--python", "3.99")
    assert (answer.code, answer.out) == (exits.WRONG_INPUT, "")
    assert "--python 3.99 is unknown; known are 3.6, 3.7" in answer.err


@pytest.mark.docker
@pytest.mark.usefixtures("db")
def test_a_dry_run_only_tells(miner: Miner) -> None:
    answer = miner("images", "gc", "--older-than", "36500", "--dry-run")
    assert (answer.code, answer.err) == (exits.OK, "")
    assert answer.out.endswith("would go, unless a container uses them; nothing was removed\n")


@pytest.fixture
def environments() -> Iterator[tuple[Image, Image]]:
    """Two of ours on the real engine."""
    engine = connect(HERE)
    made: list[Image] = []
    try:
        base, _ = base_image(engine, "3.12", settings=BuildSettings(), progress=print)
        for _ in range(2):
            key = uuid.uuid4().hex
            labels = {ENVIRONMENT_LABEL: key, LAYOUT_LABEL: str(LAYOUT)}
            with engine.install(base, Limits(network=True)) as container:
                container.exec(("sh", "-c", f"echo {key} >/opt/venv/x"), timeout_s=20)
                made.append(container.commit(f"{FAMILY}:{key[:24]}", labels=labels))
        yield made[0], made[1]
    finally:
        for image in made:
            engine.remove_image(image)
        engine.close()


@pytest.mark.docker
@pytest.mark.network
def test_an_instances_own_image_is_listed_and_would_never_go(
    miner: Miner, db: Database, environments: tuple[Image, Image]
) -> None:
    own, other = environments
    (one,) = with_candidates(db, 1)
    db.verify.claim(
        holder="me", version=VERIFIER_VERSION, policy="quick", limit=1, repo=None, now=NOW
    )
    examined = accepted(one)
    assert examined.instance is not None
    environment = replace(examined.instance.environment, image=own)
    examined = replace(examined, instance=replace(examined.instance, environment=environment))
    assert db.verify.save_examined(examined, holder="me", now=NOW)
    listed = json.loads(miner("images", "ls", "--json").out)
    ours = [row for row in listed if row["tag"] in {own.tag, other.tag}]
    assert [(row["kind"], row["python"]) for row in ours] == [("environment", "3.12")] * 2
    answer = miner("images", "gc", "--older-than", "0", "--budget-mb", "0", "--dry-run")
    assert (answer.code, answer.err) == (exits.OK, "")
    told = answer.out.replace("\n", "")
    assert other.tag in told
    assert own.tag not in told
