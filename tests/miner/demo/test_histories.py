"""Made histories: the three merges, a base that moved, and the same ids every time."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from miner.demo.fast_import import git, write_repository
from miner.demo.histories import Branch, History, Method, Step
from miner.demo.sdists import SourceFile

DAY = datetime(2024, 5, 1, 12, 0, tzinfo=UTC)
BASE = {"a.py": SourceFile(b"a\n"), "b.py": SourceFile(b"b\n"), "gone.py": SourceFile(b"g\n")}
FIXED = {"a.py": SourceFile(b"A\n"), "b.py": SourceFile(b"b\n"), "test_a.py": SourceFile(b"t\n")}
STEPS = (
    Step(
        message="Fix\n",
        authored_at=DAY + timedelta(hours=1),
        changes={"a.py": FIXED["a.py"], "gone.py": None},
    ),
    Step(
        message="Test\n",
        authored_at=DAY + timedelta(hours=2),
        changes={"test_a.py": FIXED["test_a.py"]},
    ),
)


def history(method: Method, *, moved: bool = False, takes_base: bool = False) -> History:
    made = History()
    made.release("v1", BASE, at=DAY)
    made.merge(
        Branch(
            number=7,
            name="fix",
            title="Fix it",
            steps=STEPS,
            method=method,
            merged_at=DAY + timedelta(days=1),
            base_moved_at=DAY + timedelta(hours=5) if moved else None,
            takes_base=takes_base,
        )
    )
    made.release("2", FIXED, at=DAY + timedelta(days=1))
    return made


class Repository:
    """A written history, asked through git."""

    def __init__(self, path: Path, made: History) -> None:
        self.path = path
        write_repository(path, made)

    def git(self, *arguments: str) -> str:
        return git(["-C", str(self.path), *arguments]).decode().strip()

    def parents(self, name: str) -> list[str]:
        return self.git("log", "-1", "--format=%P", name).split()

    def files(self, name: str) -> dict[str, str]:
        listed = self.git("ls-tree", "-r", "--name-only", name).split("\n")
        return {path: self.git("show", f"{name}:{path}") for path in listed}


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("method", list(Method))
def test_the_merged_tree_is_the_later_release(tmp_path: Path, method: Method, moved: bool) -> None:
    repository = Repository(tmp_path / "r.git", history(method, moved=moved))
    files = repository.files("main")
    files.pop("SUPPORT.md", None)
    assert files == {"a.py": "A", "b.py": "b", "test_a.py": "t"}
    base = {Method.MERGE: "main^1", Method.SQUASH: "main^", Method.REBASE: "main~2"}[method]
    diff = repository.git("diff", "--name-status", base, "main").split("\n")
    assert diff == ["M\ta.py", "D\tgone.py", "A\ttest_a.py"]
    assert repository.git("rev-parse", f"{base}^{{tree}}") == repository.git(
        "rev-parse", "main^1^{tree}" if method is not Method.REBASE else "main~2^{tree}"
    )


@pytest.mark.parametrize(("method", "parents"), [("merge", 2), ("squash", 1), ("rebase", 1)])
def test_each_method_has_its_shape(tmp_path: Path, method: str, parents: int) -> None:
    repository = Repository(tmp_path / "r.git", history(Method(method), moved=True))
    assert len(repository.parents("main")) == parents
    head = repository.git("rev-parse", "refs/pull/7/head")
    assert (head in repository.parents("main")) == (method == "merge")
    fork = repository.git("merge-base", "main^1", head)
    assert fork == repository.git("rev-parse", "v1^{commit}")
    assert repository.git("rev-list", "--count", f"{fork}..{head}") == "2"
    assert (
        repository.git("log", "-1", "--format=%s", "main")
        == {
            "merge": "Merge pull request #7 from contributor/fix",
            "squash": "Fix it (#7)",
            "rebase": "Test",
        }[method]
    )


def test_a_branch_may_take_the_moved_base_in(tmp_path: Path) -> None:
    made = history(Method.MERGE, moved=True, takes_base=True)
    repository = Repository(tmp_path / "r.git", made)
    assert len(repository.parents("refs/pull/7/head")) == 2
    assert "SUPPORT.md" in repository.files("refs/pull/7/head")


def test_dates_people_and_tags(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r.git", history(Method.REBASE))
    line = repository.git("log", "-1", "--format=%an|%aI|%cn|%cI", "main")
    assert line == "Con Tributor|2024-05-01T14:00:00+00:00|GitHub|2024-05-02T12:00:00+00:00"
    assert repository.git("cat-file", "-t", "v1") == "tag"
    assert repository.git("cat-file", "-t", "2") == "commit"
    assert repository.git("describe", "main") == "v1-2-g" + repository.git(
        "rev-parse", "--short", "main"
    )
    assert repository.git("for-each-ref", "refs/forge") == ""


@pytest.mark.parametrize("method", list(Method))
def test_the_same_plan_has_the_same_ids(tmp_path: Path, method: Method) -> None:
    one = Repository(tmp_path / "one.git", history(method, moved=True))
    two = Repository(tmp_path / "two.git", history(method, moved=True))
    assert one.git("for-each-ref") == two.git("for-each-ref")


def test_awkward_names_and_bytes_come_through(tmp_path: Path) -> None:
    odd = {
        'quote".txt': SourceFile(b"\xff\r\n"),
        "a b/c.txt": SourceFile(b"no newline"),
        '"start': SourceFile(b""),
        "line\nbreak": SourceFile(b"1"),
        "run.sh": SourceFile(b"x", executable=True),
    }
    made = History()
    made.release("1", odd, at=DAY)
    repository = Repository(tmp_path / "r.git", made)
    listed = git(["-C", str(repository.path), "ls-tree", "-r", "-z", "main"]).decode()
    names = {entry.split("\t", 1)[1]: entry[:6] for entry in listed.split("\0") if entry}
    assert names.keys() == odd.keys()
    assert names["run.sh"] == "100755"
    shown = git(["-C", str(repository.path), "show", 'main:quote".txt'])
    assert shown == b"\xff\r\n"
