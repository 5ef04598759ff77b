"""What `miner images` says."""

from datetime import UTC, datetime

import pytest

from miner.cli import exits
from miner.cli.images import foretell
from tests.miner.cli.conftest import Miner
from validators.images import Collected, Kept, Kind
from validators.model import Cache, Image

WHEN = datetime(2026, 5, 4, tzinfo=UTC)


def test_what_would_go_is_told_with_its_space(capsys: pytest.CaptureFixture[str]) -> None:
    image = Image(digest="sha256:1", tag="miner-environment:abc")
    kept = Kept(
        image=image, kind=Kind.ENVIRONMENT, python="3.12", own_bytes=30_000_000, created_at=WHEN
    )
    cache = Cache(volume="miner-uv-cache-x", size_bytes=12_000_000, created_at=WHEN)
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
