"""Names, versions and commits that nobody knows: told as such, never silence, never a retry."""

import json
from pathlib import Path

import pytest

from miner.cli import exits
from miner.cli.snapshots import dockerfile_of
from miner.cli.wiring import now
from miner.publish import stage
from miner.publish.row import canonical
from miner.store import Database
from tests.fakes.progress import SilentProgress
from tests.miner.cli.conftest import Miner
from tests.miner.verified import add_instances, candidate
from validators.model import Recipe


@pytest.fixture
def exported(db: Database, tmp_path: Path) -> Path:
    """Two published instances as a file."""
    add_instances(db, candidate(1), candidate(2))
    stage.publish(
        db.publish,
        name="2026-11-29",
        window=(None, None),
        dockerfile=dockerfile_of,
        now=now(),
        progress=SilentProgress(),
    )
    path = tmp_path / "set.jsonl"
    rows = stage.read_rows(db.publish, "2026-11-29")
    path.write_text("".join(canonical(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    "words",
    ["split", "split --dry-run", "verify", "verify --dry-run", "funnel", "funnel --json",
     "recipes show"],
)  # fmt: skip
def test_an_unknown_repository_is_told_with_the_closest_name(
    miner: Miner, db: Database, words: str
) -> None:
    add_instances(db, candidate(1))
    assert miner("repos", "add", "pallets/click").code == exits.OK
    option = () if words == "recipes show" else ("--repo",)
    answer = miner(*words.split(), *option, "palets/clik")
    assert answer.code == exits.WRONG_INPUT
    assert (answer.out, len(answer.err.splitlines())) == ("", 1)
    assert "palets/clik" in answer.err
    assert "the closest name is pallets/click" in answer.err
    assert "miner crawl --repo zz/yy" in miner(*words.split(), *option, "zz/yy").err


@pytest.mark.parametrize("words", ["split", "funnel", "verify --dry-run"])
def test_a_known_repository_is_found_in_any_case(miner: Miner, db: Database, words: str) -> None:
    add_instances(db, candidate(1))
    assert miner(*words.split(), "--repo", "O/R").code == exits.OK
    miner("repos", "add", "pallets/click")
    assert miner(*words.split(), "--repo", "pallets/click").code == exits.OK


def test_show_tells_why_nothing_is_known(miner: Miner, db: Database) -> None:
    add_instances(db, candidate(1))
    miner("repos", "add", "pallets/click")
    assert "no such pull of o/r was crawled" in miner("show", "o__r-9").err
    assert "the closest name is pallets/click" in miner("show", "palets__click-9").err
    assert "owner__name-123" in miner("show", "9").err


def test_a_recipe_for_a_stranger_is_kept_and_remarked_on(miner: Miner, db: Database) -> None:
    miner("repos", "add", "pallets/click")
    Path("r.json").write_text('{"python": "3.9"}')
    answer = miner("recipes", "set", "palets/click", "r.json")
    assert answer.code == exits.OK
    assert "the closest name is pallets/click" in answer.err


def test_evaluate_names_the_closest_repository(miner: Miner, exported: Path) -> None:
    answer = miner("evaluate", str(exported), "--gold", "--repo", "o/rr")
    assert answer.code == exits.WRONG_INPUT
    assert "the closest name is o/r" in answer.err


UNKNOWN = [
    ({"python": "3.99"}, "Python 3.99"),
    ({"language": "cobol"}, "'cobol'"),
    ({"runner": "nose"}, "'nose'"),
]


@pytest.mark.parametrize(("change", "word"), UNKNOWN)
def test_an_unknown_recipe_in_a_row_is_bad_input(
    miner: Miner, exported: Path, change: dict[str, str], word: str
) -> None:
    first, second = map(json.loads, exported.read_text().splitlines())
    second["install_config"] |= change
    exported.write_text(json.dumps(first) + "\n" + json.dumps(second) + "\n")
    answer = miner("evaluate", str(exported), "--gold")
    assert answer.code == exits.UNKNOWN_RECIPE
    assert "set.jsonl:2: install_config" in answer.err
    assert word in answer.err


@pytest.mark.parametrize(("change", "word"), UNKNOWN)
@pytest.mark.parametrize("words", ["recipes set o/r", "recipes try o__r-1"])
def test_an_unknown_recipe_of_a_person_is_bad_input(
    miner: Miner, db: Database, words: str, change: dict[str, str], word: str
) -> None:
    add_instances(db, candidate(1))
    Path("r.json").write_text(json.dumps({"python": "3.12"} | change))
    answer = miner(*words.split(), "r.json")
    assert answer.code == exits.UNKNOWN_RECIPE
    assert "r.json: " in answer.err
    assert word in answer.err
    assert db.admin.recipes("o/r") == ()


def test_a_recipe_with_a_time_of_no_zone_is_refused(miner: Miner, db: Database) -> None:
    Path("r.json").write_text('{"python": "3.9", "cutoff_at": "2024-05-01T00:00:00"}')
    answer = miner("recipes", "set", "o/r", "r.json")
    assert answer.code == exits.WRONG_INPUT
    assert "time zone" in answer.err


def test_a_snapshot_of_another_version_with_an_unknown_recipe_is_told(
    miner: Miner, db: Database
) -> None:
    unknown = Recipe(language="python", python="3.99", lock="")
    one = candidate(1)
    add_instances(db, one, recipe=unknown)
    assert miner("publish", "--name", "2026-11-29").code == exits.OK
    answer = miner("evaluate", "--gold", "--dry-run")
    assert answer.code == exits.UNKNOWN_RECIPE
    assert "o__r-1: " in answer.err
