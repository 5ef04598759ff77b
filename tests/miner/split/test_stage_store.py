"""The stage over the real store: what is due, what is saved, what a revert and a new version do."""

from dataclasses import replace
from pathlib import Path

import pytest

from miner.model import Gate, PullRequest, Repo
from miner.split.policy import GatePolicy
from miner.split.stage import split
from miner.store import Database
from tests.fakes.progress import SilentProgress
from tests.miner.git.oracle import applied, tree_id
from tests.miner.split.pulls import at
from tests.miner.split.test_stage import GOOD, NOW, Line

REPO = Repo(
    source="github",
    database_id=1,
    name="o/r",
    clone_url="https://example.org/o/r.git",
    default_branch="main",
    language="Python",
)


@pytest.fixture
def database(database: Database) -> Database:
    """With a repository."""
    database.crawl.save_repo(REPO, now=NOW)
    return database


@pytest.fixture
def line(tmp_path: Path) -> Line:
    return Line(tmp_path)


def _save(database: Database, *pulls: PullRequest) -> None:
    for pull in pulls:
        database.crawl.save_pulls([(pull, pull.raw_digest.encode())])


def _split(database: Database, line: Line, policy: GatePolicy | None = None) -> dict[str, int]:
    report = split(
        database.split,
        mirrors=line.mirrors,
        policy=policy or GatePolicy(),
        repo=None,
        limit=1000,
        now=lambda: NOW,
        progress=SilentProgress(),
    )
    return dict(report.counts)


def test_due_once(database: Database, line: Line) -> None:
    _save(database, line.pull(GOOD), line.pull({"pkg/a.py": "3\n"}, number=8))
    assert _split(database, line) == {"candidate": 1, "no_test_change": 1}
    assert _split(database, line) == {}
    assert _split(database, line, GatePolicy(files_max=1)) == {
        "too_many_files": 1,
        "no_test_change": 1,
    }


def test_awkward_bytes_survive_the_store(database: Database, line: Line) -> None:
    files: dict[str, bytes | str | None] = {
        "pkg/a.py": b"caf\xe9\r\n\0",
        "tests/test_a.py": "x\f\u2028y",
    }
    pull = line.pull(files)
    _save(database, pull)
    assert _split(database, line) == {"candidate": 1}
    (found,) = database.verify.claim(
        holder="h", policy="quick", version=1, limit=5, repo=None, now=NOW
    )
    mirror = line.mirrors.open("o/r")
    assert pull.base.commit is not None
    made = applied(mirror, pull.base.commit, [found.test_patch, found.patch])
    assert made == tree_id(mirror, pull.base.merge_tree)


def test_a_revert_that_comes_later_takes_the_candidate_back(database: Database, line: Line) -> None:
    _save(database, line.pull(GOOD))
    assert _split(database, line) == {"candidate": 1}
    undo = line.pull({"pkg/a.py": "1\n", "tests/test_a.py": "1\n"}, number=9, reverts=(7,))
    _save(database, undo)
    assert _split(database, line) == {Gate.REVERT: 1, Gate.REVERTED: 1}
    assert _split(database, line) == {}


def test_a_new_version_of_a_pull_is_judged_anew(database: Database, line: Line) -> None:
    pull = line.pull(GOOD)
    _save(database, replace(pull, links=()))
    assert _split(database, line) == {"no_linked_issue": 1}
    _save(database, replace(pull, raw_digest="raw-7b", updated_at=at(50)))
    assert _split(database, line) == {"candidate": 1}
