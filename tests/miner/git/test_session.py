"""A session answers what a git of its own answers, byte for byte, and outlives trouble."""

import contextlib
import os
import resource
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from miner.errors import BadItemError
from miner.git import Mirror, Mirrors
from miner.git.session import NAMES_AT_ONCE
from tests.miner.git.repository import Repository

Question = Callable[[Mirror, str, str], object]
QUESTIONS: dict[str, Question] = {
    "has": lambda mirror, a, b: [mirror.has(each) for each in (a, b, "1" * 40, "main")],
    "find": lambda mirror, a, b: [mirror.find(each) for each in (a, b, "1" * 40)],
    "date": lambda mirror, a, b: [mirror.committed_at(each) for each in (a, b)],
    "first parents": lambda mirror, a, b: [mirror.first_parents(c, limit=9) for c in (a, b)],
    "compare": lambda mirror, a, b: mirror.compare(a, b),
    "backwards": lambda mirror, a, b: mirror.compare(b, a),
    "changes": lambda mirror, a, b: mirror.changes(a, b),
    "no renames": lambda mirror, a, b: mirror.compare(a, b, renames=False),
    "the same": lambda mirror, a, b: [mirror.compare(each, each) for each in (a, b)],
    "tree": lambda mirror, a, b: [mirror.tree(each) for each in (a, b)],
    "files": lambda mirror, a, b: [mirror.read_all(c, ["a.py", "no ne", "b"]) for c in (a, b)],
}


@pytest.fixture
def commits(upstream: Repository) -> list[str]:
    """A history with a merge, renames, binary and awkward content."""
    first = upstream.commit({"a.py": "x\n" * 30, "b/c d": b"\0\xff", "k": "1\n"}, "First\n\nbody\n")
    upstream.git("checkout", "--quiet", "-b", "side")
    upstream.commit({"s": "missing\n"}, "Side")
    upstream.git("checkout", "--quiet", "main")
    upstream.git("mv", "a.py", os.fsdecode(b"caf\xe9 b"))
    second = upstream.commit({"k": "-> s", "b/c d": b"\0\xfe\n", "e": ""}, "blob 12\n")
    upstream.git("merge", "--quiet", "--no-ff", "side", "-m", "Merge")
    return [first, second, upstream.head(), upstream.commit({"f": "end"})]


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_the_same_answers(
    mirrors: Mirrors,
    upstream: Repository,
    commits: list[str],
    question: Question,
) -> None:
    mirror = mirrors.update("o/r", str(upstream.path))
    with mirror.kept_open() as opened:
        for a, b in [*pairwise(commits), (commits[0], commits[-1])] * 2:
            assert question(opened, a, b) == question(mirror, a, b)


def test_more_objects_than_fit_into_a_pipe(mirrors: Mirrors, upstream: Repository) -> None:
    files: dict[str, bytes | str | None] = {
        f"{number}": bytes([number % 251]) * 5000 for number in range(NAMES_AT_ONCE + 50)
    }
    commit = upstream.commit(files)
    with mirrors.update("o/r", str(upstream.path)).kept_open() as mirror:
        for count in (NAMES_AT_ONCE, NAMES_AT_ONCE + 50):
            assert mirror.read_all(commit, [*files][:count]) == dict([*files.items()][:count])


def test_questions_and_answers_larger_than_pipes(mirrors: Mirrors, upstream: Repository) -> None:
    commit = upstream.commit({"d/a": "a\n", "b": b"\0" * 3_000_000})
    names = [f"d/{'x' * 4000}{number}" for number in range(NAMES_AT_ONCE - 2)]
    with mirrors.update("o/r", str(upstream.path)).kept_open() as mirror:
        found = mirror.read_all(commit, ["b", *names, "d/a"])
        assert mirror.session is not None
        assert len(mirror.session._talks) == 1  # nobody else was asked
    assert found == {"b": b"\0" * 3_000_000, "d/a": b"a\n"}


@pytest.fixture
def many_files() -> Iterator[None]:
    """So many files are open that the next one's number is above 1023."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2048:
        pytest.skip("no more than 2048 files may be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2048), hard))
    with contextlib.ExitStack() as opened:
        for _ in range(1030):
            opened.enter_context(Path(os.devnull).open())
        yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
def test_git_is_heard_however_many_files_are_open(mirrors: Mirrors, upstream: Repository) -> None:
    commit = upstream.commit({"a": "a\n"})
    mirror = mirrors.update("o/r", str(upstream.path))
    assert mirror.has(commit)
    with mirror.kept_open() as opened:
        assert opened.read_all(commit, ["a"]) == {"a": b"a\n"}


def test_a_missing_commit_is_never_no_changes(
    mirrors: Mirrors, upstream: Repository, commits: list[str]
) -> None:
    with mirrors.update("o/r", str(upstream.path)).kept_open() as mirror:
        for a, b in [(commits[0], "1" * 40), ("1" * 40, commits[0]), (commits[0], "main")]:
            with pytest.raises(BadItemError):
                mirror.compare(a, b)
        assert mirror.changes(commits[0], commits[1])


def test_commits_fetched_meanwhile_are_seen(
    mirrors: Mirrors, upstream: Repository, commits: list[str]
) -> None:
    with mirrors.update("o/r", str(upstream.path)).kept_open() as mirror:
        assert mirror.has(commits[-1])
        new = upstream.commit({"g": "new\n"})
        assert not mirror.has(new)
        mirrors.update("o/r", str(upstream.path))
        assert mirror.has(new)
        assert [each.path for each in mirror.changes(commits[-1], new)] == ["g"]


def test_a_lost_process_costs_no_answer(
    mirrors: Mirrors, upstream: Repository, commits: list[str]
) -> None:
    with mirrors.update("o/r", str(upstream.path)).kept_open() as mirror:
        expected = mirror.compare(commits[0], commits[1])
        assert mirror.has(commits[0])
        assert mirror.session is not None
        lost = [talk._process for talk in mirror.session._talks.values()]
        for process in lost:
            process.kill()
            process.wait()
        for _ in range(2):
            assert mirror.compare(commits[0], commits[1]) == expected
            assert mirror.has(commits[0])
        now = [talk._process for talk in mirror.session._talks.values()]
        assert len(now) == 2
        assert not set(now) & set(lost)


def test_nothing_is_left_running(
    mirrors: Mirrors, upstream: Repository, commits: list[str]
) -> None:
    with mirrors.update("o/r", str(upstream.path)).kept_open() as mirror:
        assert mirror.changes(commits[0], commits[1])
        assert mirror.has(commits[0])
        assert mirror.session is not None
        processes = [talk._process for talk in mirror.session._talks.values()]
        assert len(processes) == 2
        assert all(process.poll() is None for process in processes)
    assert all(process.poll() is not None for process in processes)
