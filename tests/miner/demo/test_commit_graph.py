"""The graph in memory agrees with git on random histories."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from miner.demo.commit_graph import linear_branch, merge_base
from miner.demo.fast_import import git, write_repository
from miner.demo.git_facts import RepositoryFacts
from miner.demo.histories import MAINTAINER, History, PlannedCommit
from miner.errors import FatalError

START = datetime(2024, 1, 1, tzinfo=UTC)


def random_history(chance: random.Random, size: int) -> History:
    history = History()
    for key in range(1, size + 1):
        count = min(key - 1, chance.choice((1, 1, 1, 2)))
        recent = range(max(1, key - 5), key)
        parents = tuple(chance.sample(recent, min(count, len(recent))))
        at = START + timedelta(minutes=key * 10 + chance.randrange(-25, 25))  # clocks differ
        history.commits.append(
            PlannedCommit(
                key=key,
                parents=parents,
                message=f"{key}\n",
                author=MAINTAINER,
                committer=MAINTAINER,
                authored_at=at,
                committed_at=at,
                changes={},
            )
        )
        history.refs[f"refs/heads/b{key}"] = key
    return history


@pytest.mark.parametrize("seed", range(3))
def test_it_says_what_git_says_or_nothing(tmp_path: Path, seed: int) -> None:
    size = 14
    path = tmp_path / "r.git"
    oids = write_repository(path, random_history(random.Random(seed), size))  # noqa: S311
    facts = RepositoryFacts(path)
    commits = {oid: facts.commit(oid) for oid in oids.values()}
    answered = 0
    for one in oids.values():
        for other in oids.values():
            try:
                told = git(["-C", str(path), "merge-base", "--all", one, other]).decode().split()
            except FatalError:
                told = []  # no common ancestor
            base = merge_base(commits, one, other)
            assert base is None or told == [base]
            answered += base is not None
            if told:
                listed = git(["-C", str(path), "rev-list", "--reverse", other, f"^{one}"])
                branch = linear_branch(commits, told[0], other)
                if len(told) == 1 and branch is not None:
                    assert list(branch) == listed.decode().split()
    assert answered > size * size // 2


def test_a_missing_commit_gives_no_answer() -> None:
    assert merge_base({}, "a", "b") is None
    assert linear_branch({}, "a", "b") is None
