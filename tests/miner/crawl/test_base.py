"""Every way of merging, on real histories whose base branch moved meanwhile."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from miner.crawl.base import based
from miner.git import Mirror, Mirrors
from miner.model import Base, ChangedFile, ChangeType, Commit, MergeMethod
from tests.miner.git.repository import Repository
from tests.miner.store.samples import pull as a_pull

WHEN = datetime(2024, 1, 1, tzinfo=UTC)


class Pull:
    """A repository with a topic branch of `commits`, whose base branch moved after the fork."""

    def __init__(self, path: Path, *, commits: int = 2) -> None:
        self.repo = Repository(path / "upstream")
        self._mirrors = Mirrors(path / "mirrors")
        self.fork = self.repo.commit({"a.py": "1\n" * 9, "b.py": "1\n", "d.py": "1\n"}, "Start")
        self.repo.git("checkout", "--quiet", "-b", "topic")
        for number in range(1, commits + 1):
            self.repo.commit(
                {f"c{number}.py": "new\n" * number, "b.py": "2\n" * (number + 1)}, f"Part {number}"
            )
        self.head = self.repo.head()
        self.repo.git("update-ref", "refs/pull/7/head", self.head)
        self.repo.git("checkout", "--quiet", "main")
        self.tip = self.repo.commit({"a.py": "1\n" * 9 + "theirs\n", "other.py": "x\n"}, "Theirs")

    def mirror(self) -> Mirror:
        return self._mirrors.update("o/r", str(self.repo.path), refs=["refs/pull/7/head"])

    def commits(self, *revisions: str) -> tuple[Commit, ...]:
        """The pull's commits, oldest first, as the source lists them."""
        lines = self.repo.git("rev-list", "--reverse", "--parents", *revisions).splitlines()
        return tuple(
            Commit(
                oid=line.split()[0],
                message=self.repo.git("log", "-1", "--format=%B", line.split()[0]),
                authored_at=WHEN,
                committed_at=WHEN,
                parents=tuple(line.split()[1:]),
            )
            for line in lines
        )

    def listed(self, base: str, head: str) -> tuple[ChangedFile, ...]:
        """What the source shows of the pull: the three-dot view."""
        lines = self.repo.git("diff", "--numstat", f"{base}...{head}").splitlines()
        return tuple(_file(*line.split("\t")) for line in lines)

    def resolve(
        self,
        merge_commit: str,
        *,
        files: Sequence[ChangedFile] | None = None,
        commits: Sequence[Commit] | None = None,
        head: str | None = None,
    ) -> Base:
        head = head or self.head
        listed = self.listed(self.fork, head) if files is None else tuple(files)
        own = self.commits(f"{self.fork}..{head}") if commits is None else tuple(commits)
        told = a_pull(merge_commit=merge_commit, head_commit=head, commits=own, files=listed)
        return based(told, self.mirror()).base


def _file(additions: str, deletions: str, path: str) -> ChangedFile:
    return ChangedFile(
        path=path,
        additions=0 if additions == "-" else int(additions),
        deletions=0 if deletions == "-" else int(deletions),
        change=ChangeType.MODIFIED,
    )


@pytest.fixture
def pull(tmp_path: Path) -> Pull:
    return Pull(tmp_path)


def test_merge_commit(pull: Pull) -> None:
    pull.repo.git("merge", "--quiet", "--no-ff", "topic", "-m", "Merge pull request #7")
    merge = pull.repo.head()
    later = pull.repo.commit({"later.py": "x\n"}, "Later")
    base = pull.resolve(merge)
    assert (base.commit, base.merge_tree) == (pull.tip, merge)
    assert (base.method, base.rule) == (MergeMethod.MERGE, "first_parent")
    assert base.committed_at == pull.mirror().committed_at(pull.tip)
    assert later != merge


def test_squash(pull: Pull) -> None:
    pull.repo.git("merge", "--quiet", "--squash", "topic")
    merge = pull.repo.commit(message="Fix it (#7)")
    base = pull.resolve(merge)
    assert (base.commit, base.merge_tree) == (pull.tip, merge)
    assert (base.method, base.rule) == (MergeMethod.SQUASH, "parent")


@pytest.mark.parametrize("commits", [2, 3, 5])
def test_rebase(tmp_path: Path, commits: int) -> None:
    pull = Pull(tmp_path, commits=commits)
    pull.repo.git("cherry-pick", f"{pull.fork}..topic")
    base = pull.resolve(pull.repo.head())
    assert base.commit == pull.tip
    assert (base.method, base.rule) == (MergeMethod.REBASE, f"rebased_{commits}")


def test_rebase_of_one_commit_is_told_from_a_squash_by_its_message(tmp_path: Path) -> None:
    pull = Pull(tmp_path, commits=1)
    pull.repo.git("cherry-pick", "topic")
    base = pull.resolve(pull.repo.head())
    assert (base.commit, base.method, base.rule) == (pull.tip, MergeMethod.REBASE, "parent")


def test_rebase_drops_commits_that_became_empty(pull: Pull) -> None:
    pull.repo.git("checkout", "--quiet", "topic")
    pull.repo.commit({"d.py": "same on both\n"}, "Part that main has too")
    head = pull.repo.head()
    pull.repo.git("checkout", "--quiet", "main")
    tip = pull.repo.commit({"d.py": "same on both\n"}, "Main got it first")
    pull.repo.git("cherry-pick", f"{pull.fork}..{pull.head}")
    files = tuple(file for file in pull.listed(pull.fork, head) if file.path != "d.py")
    base = pull.resolve(pull.repo.head(), head=head, files=files)
    assert (base.commit, base.rule) == (tip, "rebased_2")


def test_rebase_of_a_branch_with_a_merge_in_it(pull: Pull) -> None:
    pull.repo.git("checkout", "--quiet", "topic")
    pull.repo.git("merge", "--quiet", "--no-ff", "main", "-m", "Merge main into topic")
    pull.repo.commit({"c9.py": "9\n"}, "Part 9")
    head = pull.repo.head()
    commits = pull.commits(head, f"^{pull.tip}")
    assert len(commits) == 4
    pull.repo.git("checkout", "--quiet", "main")
    pull.repo.git("cherry-pick", f"{pull.fork}..{pull.head}")
    pull.repo.git("cherry-pick", head)
    base = pull.resolve(
        pull.repo.head(), head=head, commits=commits, files=pull.listed(pull.tip, head)
    )
    assert (base.commit, base.rule) == (pull.tip, "rebased_3")


def test_merge_queue_builds_on_what_it_merged_before(pull: Pull) -> None:
    queued = pull.repo.commit({"queued.py": "x\n"}, "Merge pull request #6")
    pull.repo.git("merge", "--quiet", "--no-ff", "topic", "-m", "Merge pull request #7")
    pull.repo.git("checkout", "--quiet", "-b", "gone", "HEAD")
    base = pull.resolve(pull.repo.head())
    assert (base.commit, base.rule) == (queued, "first_parent")


def test_foxtrot_merge(pull: Pull) -> None:
    pull.repo.git("checkout", "--quiet", "topic")
    pull.repo.git("merge", "--quiet", "--no-ff", "main", "-m", "Merge main into topic")
    merge = pull.repo.head()
    base = pull.resolve(merge, files=pull.listed(pull.tip, merge))
    assert (base.commit, base.rule) == (pull.tip, "second_parent")


def test_fast_forward_push(pull: Pull) -> None:
    base = pull.resolve(pull.head)
    assert (base.commit, base.merge_tree) == (pull.fork, pull.head)


def test_merged_with_another_pull_that_holds_it(pull: Pull) -> None:
    pull.repo.git("checkout", "--quiet", "-b", "more", "topic")
    pull.repo.commit({"more.py": "x\n" * 5}, "Another pull's")
    pull.repo.git("checkout", "--quiet", "main")
    pull.repo.git("merge", "--quiet", "--no-ff", "more", "-m", "Merge pull request #8")
    base = pull.resolve(pull.repo.head())
    assert (base.commit, base.merge_tree, base.rule) == (pull.fork, pull.head, "merge_base")


def test_stacked_pull_merged_into_its_parents_branch(pull: Pull) -> None:
    pull.repo.git("checkout", "--quiet", "-b", "stacked", "topic")
    head = pull.repo.commit({"stacked.py": "x\n" * 5}, "On top")
    pull.repo.git("update-ref", "refs/pull/7/head", head)
    pull.repo.git("checkout", "--quiet", "main")
    pull.repo.git("merge", "--quiet", "--no-ff", "stacked", "-m", "Merge pull request #6")
    base = pull.resolve(
        pull.repo.head(),
        head=head,
        commits=pull.commits(f"{pull.head}..{head}"),
        files=pull.listed(pull.head, head),
    )
    assert (base.commit, base.merge_tree) == (pull.head, head)
    assert base.rule == "first_commit_parent"


def test_merge_with_resolved_conflicts_falls_back_to_the_pulls_own_range(pull: Pull) -> None:
    pull.repo.commit({"b.py": "1\ntheirs\n"}, "Conflicting")
    pull.repo.git("merge", "--quiet", "--no-ff", "-s", "ours", "topic", "-m", "Merge #7")
    pull.repo.write({"c1.py": "new\n", "c2.py": "new\nnew\n", "b.py": "mixed\n" * 7})
    pull.repo.git("add", "--all")
    pull.repo.git("commit", "--quiet", "--amend", "--no-edit")
    base = pull.resolve(pull.repo.head())
    assert (base.commit, base.merge_tree) == (pull.fork, pull.head)
    assert base.rule == "merge_base"


def test_renames_and_binary_files_count_as_the_source_counts(pull: Pull) -> None:
    pull.repo.git("checkout", "--quiet", "topic")
    pull.repo.git("mv", "a.py", "renamed.py")
    head = pull.repo.commit({"data.bin": b"\0\1\2"}, "Rename")
    pull.repo.git("update-ref", "refs/pull/7/head", head)
    files = tuple(
        _file(*line.split("\t"))
        for line in pull.repo.git("diff", "--numstat", "--no-renames", pull.fork, head).splitlines()
    )
    apart = pull.resolve(head, head=head, files=files)
    with_rename = [file for file in files if file.path not in ("a.py", "renamed.py")]
    with_rename.append(_file("0", "0", "renamed.py"))
    together = pull.resolve(head, head=head, files=with_rename)
    assert apart.commit == together.commit == pull.fork


@pytest.mark.parametrize("wrong", ["missing", "extra", "count"])
def test_a_file_list_that_does_not_agree_is_never_guessed_over(pull: Pull, wrong: str) -> None:
    pull.repo.git("merge", "--quiet", "--no-ff", "topic", "-m", "Merge pull request #7")
    files = list(pull.listed(pull.fork, pull.head))
    match wrong:
        case "missing":
            files.pop()
        case "extra":
            files.append(_file("1", "0", "extra.py"))
        case _:
            files[0] = _file("99", "0", files[0].path)
    base = pull.resolve(pull.repo.head(), files=files)
    assert base.commit is None
    assert base.rule == "unresolved"
    assert "first_parent" in base.detail
    assert "merge_base" in base.detail


def test_an_incomplete_file_list_is_said_so(pull: Pull) -> None:
    many = [_file("1", "0", f"{number}.py") for number in range(3000)]
    assert "may not be all" in pull.resolve(pull.head, files=many).detail
    assert "no changed files" in pull.resolve(pull.head, files=[]).detail


def test_a_merge_commit_that_is_not_in_the_mirror(pull: Pull) -> None:
    base = pull.resolve("1" * 40)
    assert base.commit is None
    assert "not in the mirror" in base.detail


def test_a_lost_head_is_said_so(pull: Pull) -> None:
    pull.repo.git("merge", "--quiet", "--no-ff", "topic", "-m", "Merge pull request #7")
    base = pull.resolve(
        pull.repo.head(), head="1" * 40, commits=(), files=[_file("1", "0", "nothing.py")]
    )
    assert base.commit is None
    assert "head commit 111111111111 is not in the mirror" in base.detail


def test_a_root_commit_has_no_base(tmp_path: Path) -> None:
    pull = Pull(tmp_path)
    base = pull.resolve(pull.fork, head=pull.fork, commits=(), files=[_file("1", "0", "b.py")])
    assert base.commit is None
    assert base.detail == "The merge commit has no parent."


def test_a_file_that_the_source_shows_without_lines(pull: Pull) -> None:
    pull.repo.git("merge", "--quiet", "--squash", "topic")
    merge = pull.repo.commit(message="Fix it (#7)")
    files = list(pull.listed(pull.fork, pull.head))
    hidden = [replace(file, additions=0, deletions=0) for file in files]
    assert pull.resolve(merge, files=[hidden[0], *files[1:]]).commit == pull.tip
    assert pull.resolve(merge, files=hidden).commit is None
    elsewhere = replace(hidden[0], path="elsewhere.py")
    assert pull.resolve(merge, files=[elsewhere, *files[1:]]).commit is None
