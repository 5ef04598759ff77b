"""Pulls in, candidates and rejections out: over real git, with a store that is a list."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from miner.errors import ConfigError, RetryableError
from miner.git import Mirrors
from miner.model import Candidate, Gate, PullRequest, Rejection, Stage, StageReport
from miner.split.policy import GatePolicy
from miner.split.stage import split
from tests.fakes.progress import SilentProgress
from tests.miner.git.repository import Repository
from tests.miner.split.pulls import DEPENDABOT, at, make_issue, make_link, make_pull

NOW = datetime(2024, 4, 1, tzinfo=UTC)
TEXT = "".join(f"line {number}\n" for number in range(40))


class ListStore:
    """The newest version of each pull, and every result ever saved."""

    def __init__(self, pulls: Sequence[PullRequest], *, reverted: dict[int, int] | None = None):
        self.pulls = list(pulls)
        self.reverted = reverted or {}
        self.results: dict[tuple[str, str], Candidate | Rejection] = {}
        self.judged_as: dict[int, bool] = {}
        self.breaks_at: int | None = None

    def due_pulls(self, *, policy: str, limit: int, repo: str | None) -> Sequence[PullRequest]:
        due = [
            pull
            for pull in self.pulls
            if (pull.raw_digest, policy) not in self.results and repo in (None, pull.repo)
        ]
        return due[:limit]

    def reverted_by(self, pull: PullRequest) -> int | None:
        return self.reverted.get(pull.number)

    def save_split(
        self, pull: PullRequest, result: Candidate | Rejection, *, policy: str, reverted: bool
    ) -> None:
        self.judged_as[pull.number] = reverted
        if pull.number == self.breaks_at:
            self.breaks_at = None
            raise KeyboardInterrupt
        assert self.results.setdefault((pull.raw_digest, policy), result) is result

    def outcomes(self) -> dict[int, str]:
        return {
            result.pull_number: result.gate if isinstance(result, Rejection) else "candidate"
            for result in self.results.values()
        }


class Line:
    """One upstream repository with a commit for every pull, its mirror, and the stage over it."""

    def __init__(self, path: Path) -> None:
        self.upstream = Repository(path / "upstream")
        self.upstream.commit({"pkg/a.py": "1\n", "tests/test_a.py": "1\n", "pkg/old.py": TEXT})
        self.upstream.git("tag", "v1.4.2")
        self.mirrors = Mirrors(path / "mirrors")

    def pull(self, files: dict[str, bytes | str | None], **fields: object) -> PullRequest:
        base = self.upstream.head()
        merge = self.upstream.commit(files)
        mirror = self.mirrors.update("o/r", str(self.upstream.path))
        number = fields.pop("number", 7)
        assert isinstance(number, int)
        pull = make_pull(
            number=number,
            base=base,
            merge_tree=merge,
            diff=mirror.diff(base, merge),
            raw_digest=f"raw-{number}",
        )
        return replace(pull, **fields)  # type: ignore[arg-type]  # a test names the fields

    def split(
        self,
        store: ListStore,
        *,
        policy: GatePolicy | None = None,
        limit: int = 1000,
        repo: str | None = None,
    ) -> StageReport:
        return split(
            store,
            mirrors=self.mirrors,
            policy=policy or GatePolicy(),
            repo=repo,
            limit=limit,
            now=lambda: NOW,
            progress=SilentProgress(),
        )


@pytest.fixture
def line(tmp_path: Path) -> Line:
    return Line(tmp_path)


GOOD: dict[str, bytes | str | None] = {
    "pkg/a.py": "2\n",
    "tests/test_a.py": "2\n",
    "README.md": "new\n",
}


def _only(store: ListStore) -> Candidate | Rejection:
    (result,) = store.results.values()
    return result


def test_of_several_issues_the_oldest_dates_the_candidate(line: Line) -> None:
    """A cutoff promises that every issue is later, not only the last one."""
    pull = line.pull(
        GOOD,
        links=(make_link(5), make_link(6)),
        issues=(make_issue(5, created_at=at(-24)), make_issue(6, created_at=at(-900))),
    )
    store = ListStore([pull])
    line.split(store)
    found = _only(store)
    assert isinstance(found, Candidate)
    assert found.issue_numbers == (5, 6)
    assert found.issue_created_at == at(-900)


def test_a_good_pull_becomes_a_candidate(line: Line) -> None:
    pull = line.pull(GOOD)
    store = ListStore([pull])
    report = line.split(store)
    assert report == StageReport(
        stage=Stage.SPLIT,
        done=1,
        rejected=0,
        retried=0,
        counts={"candidate": 1},
        started_at=NOW,
        ended_at=NOW,
    )
    found = _only(store)
    assert isinstance(found, Candidate)
    assert found.instance_id == "o__r-7"
    assert found.base_commit == pull.base.commit
    assert found.nearest_tag == "v1.4.2"
    committed = line.upstream.git("show", "-s", "--format=%cI", found.base_commit).strip()
    assert found.base_committed_at == datetime.fromisoformat(committed)
    assert found.issue_numbers == (5,)
    assert found.policy == GatePolicy().digest
    assert found.version == "1.4"
    assert found.language == "python"
    assert found.license == "MIT"
    assert found.problem_statement.startswith("It breaks\n\n")
    assert found.issue_created_at == at(-48)
    assert sorted(found.file_classes) == [
        ("README.md", "docs"),
        ("pkg/a.py", "source"),
        ("tests/test_a.py", "test"),
    ]
    assert b"pkg/a.py" in found.patch
    assert b"README.md" in found.patch
    assert b"tests/" not in found.patch
    assert found.test_patch.startswith(b"diff --git a/tests/test_a.py")


def test_a_rename_across_the_border_is_cut_in_two(line: Line) -> None:
    pull = line.pull({"pkg/old.py": None, "tests/old.py": TEXT, "pkg/a.py": "2\n"})
    assert b"rename from pkg/old.py" in pull.diff
    store = ListStore([pull])
    line.split(store)
    found = _only(store)
    assert isinstance(found, Candidate)
    assert b"rename" not in found.patch + found.test_patch
    assert b"deleted file mode" in found.patch
    assert b"new file mode" in found.test_patch


def test_version_of_a_module_where_nothing_else_says_it(tmp_path: Path) -> None:
    line = Line(tmp_path)
    line.upstream.git("tag", "-d", "v1.4.2")
    line.upstream.commit({"pkg/__init__.py": '__version__ = "0.7.1"\n', "setup.py": "x\n"})
    store = ListStore([line.pull(GOOD)])
    line.split(store)
    found = _only(store)
    assert isinstance(found, Candidate)
    assert found.version == "0.7"


def test_every_pull_leaves_its_reason(line: Line) -> None:
    store = ListStore(
        [
            line.pull(GOOD, number=1),
            line.pull({"pkg/a.py": "3\n"}, number=2),
            line.pull({"README.md": "newer\n"}, number=3),
            line.pull({"pkg/a.py": "4\n", "tests/test_a.py": "4\n"}, number=4, links=()),
            line.pull(
                {"pkg/a.py": "5\n", "tests/test_a.py": "5\n"},
                number=5,
                links=(make_link(4),),
                issues=(make_issue(4, is_pull=True),),
            ),
            line.pull({"pkg/a.py": "6\n", "tests/test_a.py": "6\n"}, number=6),
            line.pull({"setup.cfg": "x\n"}, number=7, author=DEPENDABOT, links=()),
            line.pull({"pkg/a.py": "5\n", "tests/test_a.py": "5\n"}, number=8, reverts=(6,)),
        ],
        reverted={6: 8},
    )
    report = line.split(store)
    assert store.outcomes() == {
        1: "candidate",
        2: Gate.NO_TEST_CHANGE,
        3: Gate.DOCS_ONLY,
        4: Gate.NO_LINKED_ISSUE,
        5: Gate.LINKED_NUMBER_IS_PULL,
        6: Gate.REVERTED,
        7: Gate.BOT_AUTHOR,
        8: Gate.REVERT,
    }
    assert [number for number, reverted in store.judged_as.items() if reverted] == [6]
    assert (report.done, report.rejected, report.retried) == (1, 7, 0)
    assert report.counts["no_test_change"] == 1


def test_a_second_run_does_nothing(line: Line) -> None:
    store = ListStore([line.pull(GOOD), line.pull({"pkg/a.py": "3\n"}, number=8)])
    line.split(store)
    before = dict(store.results)
    report = line.split(store)
    assert (report.done, report.rejected, report.counts) == (0, 0, {})
    assert store.results == before


def test_another_policy_makes_pulls_due_again(line: Line) -> None:
    store = ListStore([line.pull(GOOD)])
    line.split(store)
    strict = GatePolicy(files_max=1)
    line.split(store, policy=strict)
    assert isinstance(store.results["raw-7", GatePolicy().digest], Candidate)
    again = store.results["raw-7", strict.digest]
    assert isinstance(again, Rejection)
    assert again.gate == Gate.TOO_MANY_FILES


def test_ended_at_any_moment_and_called_again(line: Line) -> None:
    pulls = [line.pull({"pkg/a.py": f"{n}\n"}, number=n) for n in range(2, 8)]
    undisturbed = ListStore(pulls)
    line.split(undisturbed)
    store = ListStore(pulls)
    store.breaks_at = 5
    with pytest.raises(KeyboardInterrupt):
        line.split(store)
    assert len(store.results) == 3
    line.split(store)
    assert store.results == undisturbed.results


def test_limit_and_repository(line: Line) -> None:
    pulls = [line.pull({"pkg/a.py": f"{n}\n"}, number=n) for n in range(2, 6)]
    store = ListStore(pulls)
    assert line.split(store, limit=3).rejected == 3
    assert line.split(store, repo="x/y").rejected == 0
    assert line.split(store, repo="o/r").rejected == 1


def test_without_a_mirror_the_pull_stays_due(line: Line, tmp_path: Path) -> None:
    store = ListStore(
        [line.pull(GOOD), line.pull({"pkg/a.py": "3\n"}, number=8, author=DEPENDABOT)]
    )
    line.mirrors = Mirrors(tmp_path / "empty")
    report = line.split(store)
    assert (report.done, report.rejected, report.retried) == (0, 1, 1)
    assert store.outcomes() == {8: Gate.BOT_AUTHOR}


def test_what_stays_due_does_not_hide_the_rest(line: Line, tmp_path: Path) -> None:
    good = line.pull(GOOD)
    stuck = [
        replace(
            good,
            number=n,
            raw_digest=f"s{n}",
            repo="no/mirror",
            links=(make_link(repo="no/mirror"),),
        )
        for n in range(100, 350)
    ]
    rest = [replace(good, number=n, raw_digest=f"r{n}") for n in range(3)]
    store = ListStore([*stuck, *rest])
    report = line.split(store)
    assert (report.done, report.retried) == (3, 250)


def test_a_diff_that_is_not_the_mirrors_is_a_rejection(line: Line) -> None:
    pull = line.pull(GOOD)
    for diff in (b"", pull.diff[:-5], pull.diff.replace(b"+2\n", b"+3\n")):
        store = ListStore([replace(pull, diff=diff)])
        line.split(store)
        found = _only(store)
        assert isinstance(found, Rejection)
        assert found.gate in (Gate.UNREADABLE, Gate.PATCHES_DO_NOT_ADD_UP)


def test_a_commit_that_is_not_in_the_mirror_is_a_rejection(line: Line) -> None:
    pull = line.pull(GOOD)
    store = ListStore([replace(pull, base=replace(pull.base, commit="1" * 40))])
    line.split(store)
    found = _only(store)
    assert isinstance(found, Rejection)
    assert found.gate == Gate.UNREADABLE
    assert found.made_at == NOW


def test_version_without_a_tag_is_the_projects_own(tmp_path: Path) -> None:
    line = Line(tmp_path)
    line.upstream.git("tag", "-d", "v1.4.2")
    line.upstream.commit({"pyproject.toml": '[project]\nversion = "3.2.1"\n'})
    store = ListStore([line.pull(GOOD)])
    line.split(store)
    found = _only(store)
    assert isinstance(found, Candidate)
    assert found.version == "3.2"


def test_the_licence_is_the_one_at_the_base_commit(line: Line) -> None:
    line.upstream.commit({"LICENSE": "GNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007\n"})
    old = line.pull(GOOD, number=1)
    line.upstream.commit({"LICENSE": None, "setup.cfg": "[metadata]\nlicense = MIT\n"})
    new = line.pull({"pkg/a.py": "3\n", "tests/test_a.py": "3\n"}, number=2, license="GPL-3.0")
    store = ListStore([old, new])
    line.split(store)
    assert store.outcomes() == {1: Gate.LICENSE_NOT_ALLOWED, 2: "candidate"}


def test_what_a_candidate_is_made_of_is_the_same_every_time(line: Line) -> None:
    pull = line.pull(GOOD)
    one, other = ListStore([pull]), ListStore([pull])
    line.split(one)
    line.split(other)
    assert one.results == other.results


def test_a_policy_for_an_unknown_language_is_refused(line: Line) -> None:
    with pytest.raises(ConfigError, match="wants cobol"):
        line.split(ListStore([]), policy=GatePolicy(languages=("python", "cobol")))


def test_a_damaged_mirror_is_no_rejection(line: Line) -> None:
    store = ListStore([line.pull(GOOD)])
    mirror = line.mirrors.open("o/r")
    for loose in mirror.path.glob("objects/??/*"):
        loose.chmod(0o600)
        loose.write_bytes(b"")
    report = line.split(store)
    assert (report.retried, store.results) == (1, {})


def test_a_database_that_is_away_ends_the_stage_and_is_no_pulls_fault(line: Line) -> None:
    class Away(ListStore):
        def reverted_by(self, pull: PullRequest) -> int | None:
            asked.append(pull.number)
            raise RetryableError("The database cannot be reached.")

    asked: list[int] = []
    pulls = [line.pull({"pkg/a.py": f"{number}\n"}, number=number) for number in (7, 8)]
    with pytest.raises(RetryableError):
        line.split(Away(pulls))
    assert asked == [7]
