"""Cutting diffs of every awkward kind, made by the real git, byte for byte."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.errors import BadItemError
from miner.git import Comparison, Mirror, Mirrors, RawChange
from miner.git.command import run
from miner.split.patch import (
    crosses_border,
    cut,
    gold_patch,
    line_counts,
    patch_hash,
    test_patch,
)
from tests.miner.git.oracle import applied, tree_id
from tests.miner.git.repository import Repository
from validators.languages import LANGUAGES, FileClass

Files = Mapping[str, bytes | str | None]

CLASSIFY = LANGUAGES["python"].classify
LATIN1 = os.fsdecode(b"caf\xe9.py")
LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 1\n"
TEST = "tests/test_a.py"
TEXT = "".join(f"line {number}\n" for number in range(40))


@dataclass(frozen=True, kw_only=True)
class Case:
    """A change and what must come out: paths of the gold patch and of the test patch."""

    name: str
    base: Files
    merge: Files
    gold: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    holds: bytes = b""  # in the diff, as git writes it
    executable: str | None = None  # made so by the change
    submodule: str | None = None  # added by the change


CASES = [
    Case(
        name="nothing awkward",
        base={"a.py": "1\n", TEST: "1\n"},
        merge={"a.py": "2\n", TEST: "2\n"},
        gold=("a.py",),
        test=(TEST,),
    ),
    Case(
        name="added and deleted",
        base={"a.py": "1\n", TEST: "1\n"},
        merge={"a.py": None, "b.py": "1x\n", TEST: None, "tests/test_b.py": "y\n"},
        gold=("a.py", "b.py"),
        test=(TEST, "tests/test_b.py"),
    ),
    Case(
        name="empty file added",
        base={"a.py": "1\n"},
        merge={"pkg/__init__.py": "", "tests/__init__.py": ""},
        gold=("pkg/__init__.py",),
        test=("tests/__init__.py",),
    ),
    Case(
        name="empty file deleted",
        base={"a.py": "", "tests/__init__.py": "", "b": "1"},
        merge={"a.py": None, "tests/__init__.py": None},
        gold=("a.py",),
        test=("tests/__init__.py",),
    ),
    Case(
        name="file emptied and filled",
        base={"a.py": "1\n", "b.py": ""},
        merge={"a.py": "", "b.py": "1\n"},
        gold=("a.py", "b.py"),
    ),
    Case(
        name="binary added",
        base={"a.py": "1\n"},
        merge={"logo.png": b"\x89PNG\0\1\2" * 40, "tests/data/x.bin": bytes(range(256)) * 9},
        gold=("logo.png",),
        test=("tests/data/x.bin",),
        holds=b"GIT binary patch",
    ),
    Case(
        name="binary changed by delta",
        base={"tests/x.xlsx": bytes(range(256)) * 40},
        merge={"tests/x.xlsx": bytes(range(256)) * 40 + b"more"},
        test=("tests/x.xlsx",),
        holds=b"\ndelta ",
    ),
    Case(
        name="binary deleted",
        base={"x.bin": b"\0\1", "a": "1"},
        merge={"x.bin": None},
        gold=("x.bin",),
    ),
    Case(name="binary to text", base={"x": b"\0\1"}, merge={"x": "text\n"}, gold=("x",)),
    Case(
        name="pure rename",
        base={"a.py": TEXT},
        merge={"a.py": None, "b.py": TEXT},
        gold=("b.py",),
        holds=b"similarity index 100%",
    ),
    Case(
        name="rename with an edit",
        base={"a.py": TEXT},
        merge={"a.py": None, "b.py": TEXT + "more\n"},
        gold=("b.py",),
        holds=b"rename to b.py",
    ),
    Case(
        name="rename among tests",
        base={"tests/test_a.py": TEXT},
        merge={"tests/test_a.py": None, "tests/test_b.py": TEXT},
        test=("tests/test_b.py",),
    ),
    Case(
        name="rename from source to test",
        base={"pkg/helper.py": TEXT, "a.py": "1\n"},
        merge={"pkg/helper.py": None, "tests/helper.py": TEXT + "more\n", "a.py": "2\n"},
        gold=("a.py", "pkg/helper.py"),
        test=("tests/helper.py",),
    ),
    Case(
        name="rename from test to source",
        base={"tests/helper.py": TEXT},
        merge={"tests/helper.py": None, "pkg/helper.py": TEXT},
        gold=("pkg/helper.py",),
        test=("tests/helper.py",),
    ),
    Case(
        name="two files swap names",
        base={"a.py": TEXT, "b.py": TEXT[::-1] + "\n"},
        merge={"a.py": TEXT[::-1] + "\n", "b.py": TEXT},
        gold=("a.py", "b.py"),
    ),
    Case(
        name="mode only",
        base={"run.sh": "1\n"},
        merge={},
        gold=("run.sh",),
        executable="run.sh",
        holds=b"old mode 100644\nnew mode 100755",
    ),
    Case(
        name="mode and content",
        base={"tests/run.sh": "1\n"},
        merge={"tests/run.sh": "2\n"},
        test=("tests/run.sh",),
        executable="tests/run.sh",
    ),
    Case(
        name="symlink added",
        base={"a.py": "1\n"},
        merge={"l": "-> a.py", "tests/l": "-> ../a.py"},
        gold=("l",),
        test=("tests/l",),
        holds=b"new file mode 120000",
    ),
    Case(name="symlink retargeted", base={"l": "-> a"}, merge={"l": "-> b"}, gold=("l",)),
    Case(
        name="file becomes symlink",
        base={"k.py": "1\n2\n", "z.py": "1\n"},
        merge={"k.py": "-> z.py", "z.py": "2\n"},
        gold=("k.py", "z.py"),
        holds=b"deleted file mode 100644",
    ),
    Case(
        name="symlink becomes file",
        base={"k.py": "-> z.py", "z.py": "1\n"},
        merge={"k.py": "1\n", TEST: "1\n"},
        gold=("k.py",),
        test=(TEST,),
    ),
    Case(
        name="file becomes folder",
        base={"pkg": "1\n"},
        merge={"pkg": None, "pkg/a.py": "2\n"},
        gold=("pkg", "pkg/a.py"),
    ),
    Case(
        name="submodule added",
        base={"a.py": "1\n"},
        merge={"a.py": "2\n"},
        submodule="vendor/x",
        gold=("a.py", "vendor/x"),
        holds=b"Subproject commit",
    ),
    Case(
        name="LFS pointer changed",
        base={"big.bin": LFS.format("0")},
        merge={"big.bin": LFS.format("1")},
        gold=("big.bin",),
    ),
    Case(
        name="CRLF throughout",
        base={"a.py": "1\r\n2\r\n3\r\n"},
        merge={"a.py": "1\r\n2x\r\n3\r\n"},
        gold=("a.py",),
        holds=b"-2\r\n+2x\r\n",
    ),
    Case(
        name="CRLF becomes LF",
        base={"a.py": "1\r\n2\r\n"},
        merge={"a.py": "1\n2\n"},
        gold=("a.py",),
    ),
    Case(
        name="lone carriage returns",
        base={"a.py": "1\r2\r3\n"},
        merge={"a.py": "1\r2x\r3\n"},
        gold=("a.py",),
    ),
    Case(
        name="no newline at the end before",
        base={"a.py": "1"},
        merge={"a.py": "1\n"},
        gold=("a.py",),
        holds=b"\\ No newline at end of file",
    ),
    Case(
        name="no newline at the end after",
        base={"a.py": "1\n"},
        merge={"a.py": "2"},
        gold=("a.py",),
    ),
    Case(
        name="no newline at both ends",
        base={"a.py": "1\n2", TEST: "1"},
        merge={"a.py": "1\n3", TEST: "2"},
        gold=("a.py",),
        test=(TEST,),
    ),
    Case(
        name="not UTF-8",
        base={"a.py": b"# caf\xe9\n1\n"},
        merge={"a.py": b"# caf\xe9\n2\xff\n"},
        gold=("a.py",),
        holds=b"+2\xff\n",
    ),
    Case(name="path not UTF-8", base={LATIN1: "1\n"}, merge={LATIN1: "2\n"}, gold=(LATIN1,)),
    Case(
        name="path not ASCII",
        base={"größe.py": "1\n"},
        merge={"größe.py": "2\n"},
        gold=("größe.py",),
    ),
    Case(
        name="spaces in paths",
        base={"a b/c d.py": "1\n"},
        merge={"a b/c d.py": "2\n"},
        gold=("a b/c d.py",),
    ),
    Case(
        name="quotes, tabs and newlines in paths",
        base={'a"b\t.py': "1\n", "n\nl.py": "1\n"},
        merge={'a"b\t.py': "2\n", "n\nl.py": "2\n"},
        gold=('a"b\t.py', "n\nl.py"),
        holds=b'"a/a\\"b',
    ),
    Case(
        name="a folder that ends in ' b'",
        base={"x b/y.py": "1\n"},
        merge={"x b/y.py": "2\n", "x b/empty.py": "", "x b/tests/test_a.py": "1\n"},
        gold=("x b/empty.py", "x b/y.py"),
        test=("x b/tests/test_a.py",),
    ),
    Case(
        name="rename into a folder that ends in ' b'",
        base={"y.py": TEXT},
        merge={"y.py": None, "x b/y.py": TEXT},
        gold=("x b/y.py",),
    ),
    Case(
        name="a folder named a",
        base={"a/b/a.py": "1\n"},
        merge={"a/b/a.py": "2\n"},
        gold=("a/b/a.py",),
    ),
    Case(
        name="a diff as content",
        base={"a.py": "1\n", "tests/x.diff": "diff --git a/q b/q\n--- a/q\n+++ b/q\n@@ -1 +1 @@\n"},
        merge={
            "a.py": "diff --git a/z b/z\n",
            "tests/x.diff": "diff --git a/tests/q b/q\n--- a/q\n+++ b/q\n@@ -1,2 +1 @@\n",
        },
        gold=("a.py",),
        test=("tests/x.diff",),
    ),
    Case(
        name="lines that look like file headers",
        base={"a.sql": "-- a/x\n1\n"},
        merge={"a.sql": "++ b/x\n1\n"},
        gold=("a.sql",),
        holds=b"--- a/x\n+++ b/x\n",
    ),
    Case(
        name="form feed and odd line ends",
        base={"a.py": "1\f2\v3\u20284\x855\n6\n"},
        merge={"a.py": "1\f2\v3\u20284\x855x\n6\n"},
        gold=("a.py",),
    ),
    Case(
        name="one very long line",
        base={"a.js": "x" * 300_000 + "\n"},
        merge={"a.js": "x" * 300_000 + "y\n"},
        gold=("a.js",),
    ),
    Case(
        name="names that only sound like tests",
        base={"latest.py": "1\n", "contest/a.py": "1\n", "click/testing.py": "1\n", TEST: "1\n"},
        merge={"latest.py": "2\n", "contest/a.py": "2\n", "click/testing.py": "2\n", TEST: "2\n"},
        gold=("click/testing.py", "contest/a.py", "latest.py"),
        test=(TEST,),
    ),
    Case(
        name="conftest and data go with the tests",
        base={"conftest.py": "1\n", "tests/data/in.json": "1\n"},
        merge={"conftest.py": "2\n", "tests/data/in.json": "2\n", "tests/data/README.md": "x\n"},
        test=("conftest.py", "tests/data/README.md", "tests/data/in.json"),
    ),
    Case(
        name="documentation, lock and CI go with the fix",
        base={"a.py": "1\n"},
        merge={
            "a.py": "2\n",
            "README.md": "x\n",
            "uv.lock": "x\n",
            ".github/workflows/t.yml": "x\n",
        },
        gold=(".github/workflows/t.yml", "README.md", "a.py", "uv.lock"),
    ),
    Case(
        name="git's own file names",
        base={"a.py": "1\n"},
        merge={".gitattributes": "*.py -diff binary\n", "a.py": "2\n", ".gitmodules": "[x]\n"},
        gold=(".gitattributes", ".gitmodules", "a.py"),
        holds=b"-1\n+2\n",
    ),
    Case(name="nothing at all", base={"a.py": "1\n"}, merge={}),
]


def _make(
    path: Path, base: Files, merge: Files, case: Case | None = None
) -> tuple[Mirror, str, str]:
    upstream = Repository(path / "upstream")
    first = upstream.commit(base)
    upstream.write({name: content for name, content in merge.items() if content is None})
    upstream.write({name: content for name, content in merge.items() if content is not None})
    if case is not None and case.executable:
        (upstream.path / case.executable).chmod(0o755)
    upstream.git("add", "--all")
    if case is not None and case.submodule:
        upstream.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},{case.submodule}")
    upstream.git("commit", "--quiet", "--allow-empty", "--message=Merge")
    mirror = Mirrors(path / "mirrors").update("o/r", str(upstream.path))
    return mirror, first, upstream.head()


def _compare(mirror: Mirror, base: str, merge: str) -> Comparison:
    """As the stage does it."""
    found = mirror.compare(base, merge)
    if crosses_border(found.changes, CLASSIFY):
        found = mirror.compare(base, merge, renames=False)
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_awkward(case: Case, tmp_path: Path) -> None:
    mirror, base, merge = _make(tmp_path, case.base, case.merge, case)
    found = _compare(mirror, base, merge)
    sections = cut(found.diff, found.changes, CLASSIFY)
    assert b"".join(section.text for section in sections) == found.diff
    assert case.holds in found.diff
    assert sorted(each.change.path for each in sections if not each.is_test) == sorted(case.gold)
    assert sorted(each.change.path for each in sections if each.is_test) == sorted(case.test)
    patches = [test_patch(sections), gold_patch(sections)]
    assert applied(mirror, base, patches) == tree_id(mirror, merge)
    assert applied(mirror, base, patches[::-1]) == tree_id(mirror, merge)
    assert mirror.adds_up(found.changes, patches)
    if found.changes:
        assert not mirror.adds_up(found.changes, patches[1:] if patches[0] else patches[:1])


def test_the_table_is_long_enough() -> None:
    assert len(CASES) >= 30
    assert len({case.name for case in CASES}) == len(CASES)


_NAMES = st.sampled_from(
    ["a.py", "b/c.py", "x b/y.py", "tests/test_a.py", "tests/data b/d", "conftest.py", 'q"t.py',
     "größe.py", LATIN1, "doc.md", "t\tb.py"]
)  # fmt: skip
_LINES = st.lists(
    st.sampled_from(
        [b"", b"x", b"y", b" z", b"diff --git a/x b/x", b"--- a/x", b"+++ b/x", b"@@ -1 +1 @@",
         b"\\ No newline at end of file", b"caf\xe9", b"\f", b"\r", b"-", b"+", b"GIT binary patch"]
    ),
    max_size=12,
)  # fmt: skip
_CONTENT = st.one_of(
    st.builds(b"\n".join, _LINES),
    st.builds(lambda lines: b"\r\n".join(lines) + b"\r\n", _LINES),
    st.binary(max_size=40),
    st.just(TEXT.encode()),
    st.just((TEXT + "more\n").encode()),
)
_TREE = st.dictionaries(_NAMES, _CONTENT, max_size=6)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Mirror:
    """A mirror to throw generated commits into."""
    upstream = Repository(tmp_path_factory.mktemp("any") / "upstream")
    return Mirror(upstream.path / ".git", "o/r")


def _imported(mirror: Mirror, *trees: dict[str, bytes]) -> list[str]:
    """A commit for each tree, by one run of `git fast-import`."""
    stream = b""
    for number, tree in enumerate(trees, start=1):
        stream += b"commit refs/heads/any\nmark :%d\ncommitter A <a@b> 1700000000 +0000\n" % number
        stream += b"data 0\n" + (b"from :%d\n" % (number - 1) if number > 1 else b"")
        stream += b"deleteall\n"
        for path, content in tree.items():
            quoted = b"".join(b"\\%03o" % byte for byte in os.fsencode(path))
            stream += b'M 100644 inline "%s"\ndata %d\n%s\n' % (quoted, len(content), content)
    stream += b"".join(b"get-mark :%d\n" % number for number in range(1, len(trees) + 1))
    done = run(mirror.path, ["fast-import", "--quiet", "--force", "--cat-blob-fd=1"], stdin=stream)
    assert done.ok, done.error
    return done.output.decode().split()


@settings(max_examples=60)
@given(before=_TREE, after=_TREE)
def test_any_two_trees(bare: Mirror, before: dict[str, bytes], after: dict[str, bytes]) -> None:
    base, fixed = _imported(bare, before, after)
    found = _compare(bare, base, fixed)
    sections = cut(found.diff, found.changes, CLASSIFY)
    gold, tests = gold_patch(sections), test_patch(sections)
    assert len(gold) + len(tests) == len(found.diff)
    assert b"".join(section.text for section in sections) == found.diff
    assert applied(bare, base, [tests, gold]) == tree_id(bare, fixed)
    assert bare.adds_up(found.changes, [tests, gold])
    assert all(
        CLASSIFY(PurePosixPath(each.change.path)) is FileClass.TEST
        for each in sections
        if each.is_test
    )


def _change(path: str, additions: int | None = 1, deletions: int | None = 1) -> RawChange:
    return RawChange(
        status="M",
        path=path,
        old_path=path,
        old_mode="100644",
        new_mode="100644",
        old_blob="1" * 40,
        new_blob="2" * 40,
        additions=additions,
        deletions=deletions,
    )


_DIFF = (
    b"diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n"
    b"@@ -1,3 +1,3 @@ def f():\n one\n-two\n+zwei\n three\n"
)


@pytest.mark.parametrize(
    ("diff", "changes"),
    [
        (_DIFF, []),
        (_DIFF, [_change("a.py"), _change("b.py")]),
        (_DIFF, [_change("a.py", 2, 1)]),
        (_DIFF, [_change("a.py", None, None)]),
        (b"", [_change("a.py")]),
        (b"garbage\n" + _DIFF, [_change("a.py")]),
        (_DIFF[:-7], [_change("a.py")]),
        (_DIFF.replace(b"+zwei\n", b""), [_change("a.py")]),
        (_DIFF + _DIFF, [_change("a.py")]),
    ],
)
def test_a_diff_of_other_changes_is_refused(diff: bytes, changes: list[RawChange]) -> None:
    with pytest.raises(BadItemError):
        cut(diff, changes, CLASSIFY)


def test_lines_are_counted_by_unidiff() -> None:
    (section,) = cut(_DIFF, [_change("a.py")], CLASSIFY)
    assert line_counts(section) == (1, 1)


def _hash(diff: bytes, *paths: str) -> str:
    return patch_hash(cut(diff, [_change(path) for path in paths], CLASSIFY))


def test_backports_have_the_same_hash() -> None:
    moved = _DIFF.replace(b"@@ -1,3 +1,3 @@ def f():", b"@@ -90,3 +91,3 @@ class  G:")
    moved = moved.replace(b"index 1..2", b"index 8..9")
    context = moved.replace(b" one\n", b" eins\n")
    spaces = moved.replace(b"+zwei\n", b"+zwei  \n")
    news = b"diff --git a/NEWS.md b/NEWS.md\n--- a/NEWS.md\n+++ b/NEWS.md\n@@ -1 +1 @@\n-1\n+2\n"
    expected = _hash(_DIFF, "a.py")
    assert {_hash(diff, "a.py") for diff in (moved, context, spaces)} == {expected}
    assert _hash(news + _DIFF, "NEWS.md", "a.py") == expected
    assert _hash(news, "NEWS.md") != expected


def test_other_patches_have_another_hash() -> None:
    assert _hash(_DIFF, "a.py") != _hash(_DIFF.replace(b"zwei", b"drei"), "a.py")
    assert _hash(_DIFF, "a.py") != _hash(_DIFF.replace(b"a.py", b"b.py"), "b.py")
    assert _hash(_DIFF, "a.py") != _hash(_DIFF.replace(b"+zwei", b"+ zwei"), "a.py")


def test_binary_content_counts_in_the_hash(tmp_path: Path) -> None:
    hashes = set()
    for number, content in enumerate([b"\0one", b"\0two"]):
        mirror, base, merge = _make(tmp_path / str(number), {"a": "1"}, {"x.bin": content})
        found = mirror.compare(base, merge)
        hashes.add(patch_hash(cut(found.diff, found.changes, CLASSIFY)))
    assert len(hashes) == 2


def test_test_files_do_not_count_in_the_hash() -> None:
    tests = _DIFF.replace(b"a.py", b"tests/test_a.py")
    assert _hash(_DIFF + tests, "a.py", "tests/test_a.py") == _hash(_DIFF, "a.py")


def test_a_rename_across_the_border_is_seen() -> None:
    inside = replace(_change("b.py"), old_path="a.py")
    across = replace(_change("tests/test_b.py"), old_path="a.py")
    assert not crosses_border([inside, _change("a.py")], CLASSIFY)
    assert crosses_border([inside, across], CLASSIFY)
