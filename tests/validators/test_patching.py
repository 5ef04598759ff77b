"""Kinds of patches with the right answers: the very script of a run, with real git and patch."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from validators.patching import (
    completed,
    file_patches,
    is_empty,
    methods,
    refusal,
    touched_paths,
    without_prose,
)
from validators.worktree import prelude

TEXT = b"one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"
CHANGED = TEXT.replace(b"five", b"FIVE")
PLAIN = b"""diff --git a/f.txt b/f.txt
--- a/f.txt
+++ b/f.txt
@@ -2,7 +2,7 @@
 two
 three
 four
-five
+FIVE
 six
 seven
 eight
"""
NEW = b"--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+x\n"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A patch onto a tree. `method` None: it does not apply and the tree stays as it was."""

    name: str
    patch: bytes
    method: str | None
    tree: dict[str, bytes] = field(default_factory=lambda: {"f.txt": TEXT})
    result: dict[str, bytes | None] = field(default_factory=lambda: {"f.txt": CHANGED})


def git_diff(folder: Path, before: dict[str, bytes], after: dict[str, bytes], *how: str) -> bytes:
    """What git says of two states; `how` are options of its diff."""
    folder.mkdir(parents=True)
    git = ("git", "-c", "core.autocrlf=false", "-C", str(folder))
    subprocess.run([*git, "init", "-q"], check=True)
    for state in (before, after):
        for old in folder.iterdir():
            if old.name != ".git":
                old.unlink()
        for name, content in state.items():
            (folder / name).write_bytes(content)
        subprocess.run([*git, "add", "-A", "-f"], check=True)
        if state is before:
            who = ("-c", "user.name=x", "-c", "user.email=x")
            subprocess.run([*git, *who, "commit", "-q", "-m", "x"], check=True)
    return subprocess.run([*git, "diff", "--cached", *how], check=True, capture_output=True).stdout


CRLF = TEXT.replace(b"\n", b"\r\n")
LATIN = TEXT.replace(b"four", b"caf\xe9")
BINARY, OTHER_BINARY = bytes(range(256)), bytes(range(255, -1, -1))


def kinds(tmp: Path) -> list[Kind]:
    def diff(name: str, before: dict[str, bytes], after: dict[str, bytes], *how: str) -> bytes:
        return git_diff(tmp / name, before, after, *how)

    crlf_changed = CRLF.replace(b"five", b"FIVE")
    latin_changed = LATIN.replace(b"five", b"FIVE")
    long = b"".join(b"line %d\n" % n for n in range(40))
    no_newline = TEXT + b"nine"
    return [
        Kind(name="plain", patch=PLAIN, method="plain"),
        Kind(name="last newline missing", patch=PLAIN[:-1], method="plain"),
        Kind(
            name="stripped of its last blank context line",
            tree={"f.txt": TEXT.replace(b"eight", b"")},
            patch=PLAIN.replace(b" eight\n", b" \n").strip(),
            method="fuzz",
            result={"f.txt": CHANGED.replace(b"eight", b"")},
        ),
        Kind(name="cut off in a hunk", patch=PLAIN[: PLAIN.index(b" six")], method="fuzz"),
        Kind(
            name="trailing spaces of context stripped",
            tree={"f.txt": TEXT.replace(b"three", b"")},
            patch=PLAIN.replace(b" three", b""),
            method="plain",
            result={"f.txt": CHANGED.replace(b"three", b"")},
        ),
        Kind(
            name="CRLF file, CRLF patch",
            tree={"f.txt": CRLF},
            patch=diff("crlf", {"f.txt": CRLF}, {"f.txt": crlf_changed}),
            method="plain",
            result={"f.txt": crlf_changed},
        ),
        Kind(name="CRLF file, LF patch", tree={"f.txt": CRLF}, patch=PLAIN, method=None),
        Kind(
            name="binary, full",
            tree={"f.bin": BINARY},
            patch=diff("binary", {"f.bin": BINARY}, {"f.bin": OTHER_BINARY}, "--binary"),
            method="plain",
            result={"f.bin": OTHER_BINARY},
        ),
        Kind(
            name="binary without its data",
            tree={"f.bin": BINARY},
            patch=diff("binary-plain", {"f.bin": BINARY}, {"f.bin": OTHER_BINARY}),
            method="fuzz",  # as in the official chain, `patch` leaves such a file as it is
            result={"f.bin": BINARY},
        ),
        Kind(
            name="rename",
            patch=diff("rename", {"f.txt": TEXT}, {"g.txt": CHANGED}, "-M"),
            method="plain",
            result={"f.txt": None, "g.txt": CHANGED},
        ),
        Kind(
            name="Latin-1 kept as bytes",
            tree={"f.txt": LATIN},
            patch=diff("latin", {"f.txt": LATIN}, {"f.txt": latin_changed}),
            method="plain",
            result={"f.txt": latin_changed},
        ),
        Kind(
            name="Latin-1 context replaced",
            tree={"f.txt": LATIN},
            patch=PLAIN.replace(b"four", "caf\ufffd".encode()),
            method="fuzz",
            result={"f.txt": latin_changed},
        ),
        Kind(
            name="no newline at the end of the file",
            tree={"f.txt": TEXT},
            patch=diff("eof", {"f.txt": TEXT}, {"f.txt": no_newline}),
            method="plain",
            result={"f.txt": no_newline},
        ),
        Kind(
            name="path with spaces and quotes",
            tree={'a "b" c.txt': TEXT},
            patch=diff("odd", {'a "b" c.txt': TEXT}, {'a "b" c.txt': CHANGED}),
            method="plain",
            result={'a "b" c.txt': CHANGED},
        ),
        Kind(
            name="new file",
            patch=diff("new", {"f.txt": TEXT}, {"f.txt": TEXT, "n.txt": b"n\n"}),
            method="plain",
            result={"f.txt": TEXT, "n.txt": b"n\n"},
        ),
        Kind(
            name="deleted file",
            patch=diff("deleted", {"f.txt": TEXT, "k": b"k\n"}, {"k": b"k\n"}),
            method="plain",
            result={"f.txt": None},
        ),
        Kind(
            name="lines have moved",
            tree={"f.txt": long + TEXT},
            patch=PLAIN,
            method="plain",
            result={"f.txt": long + CHANGED},
        ),
        Kind(
            name="context differs a little",
            tree={"f.txt": TEXT.replace(b"two", b"2")},
            patch=PLAIN,
            method="fuzz",
            result={"f.txt": CHANGED.replace(b"two", b"2")},
        ),
        Kind(
            name="white space alone",
            patch=diff("white", {"f.txt": TEXT}, {"f.txt": TEXT.replace(b"five", b"five  ")}),
            method="plain",
            result={"f.txt": TEXT.replace(b"five", b"five  ")},
        ),
        Kind(
            name="white space of the context differs",
            tree={"f.txt": TEXT.replace(b"three", b"three  ")},
            patch=PLAIN,
            method="fuzz",
            result={"f.txt": CHANGED.replace(b"three", b"three  ")},
        ),
        Kind(name="already applied", tree={"f.txt": CHANGED}, patch=PLAIN, method="already"),
        Kind(
            name="other text altogether",
            tree={"f.txt": b"nothing\nof the kind\n"},
            patch=PLAIN,
            method=None,
        ),
        Kind(
            name="second hunk fails",
            patch=PLAIN + PLAIN.replace(b"f.txt", b"absent.txt"),
            method=None,
        ),
        Kind(
            name="no git header",
            patch=PLAIN.partition(b"\n")[2],
            method="plain",
        ),
        Kind(name="no patch at all", patch=b"I fixed it.\n", method=None),
    ]


def apply(folder: Path, tree: dict[str, bytes], *patches: bytes) -> tuple[int, bytes]:
    """Run the script of a run on the host, in `folder` instead of the container's tree."""
    folder.mkdir()
    for name, content in tree.items():
        (folder / name).write_bytes(content)
    names = []
    for number, patch in enumerate(patches):
        path = folder.parent / f"{folder.name}-{number}.patch"
        path.write_bytes(completed(patch))
        names.append(str(path))
    (folder / "ignored.o").write_bytes(b"built")
    (folder / ".gitignore").write_bytes(b"*.o\n")
    script = prelude().replace("/testbed", str(folder)) + (
        "git init -q; git add -A; git -c user.name=x -c user.email=x commit -q -m base\n"
        'status=0; apply_all "$@" || status=$?; exit $status\n'
    )
    done = subprocess.run(
        ["/bin/bash", "-c", script, "apply", *names], capture_output=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_every_kind_of_patch_has_its_right_answer(tmp_path: Path) -> None:
    table = kinds(tmp_path / "made")
    assert len(table) >= 20
    wrong = {}
    shortened = [replace(kind, patch=without_prose(kind.patch)) for kind in table]
    both = [*table, *(kind for kind in shortened if kind not in table)]
    for number, kind in enumerate(both):
        folder = tmp_path / str(number)
        status, output = apply(folder, kind.tree, kind.patch)
        wanted = kind.tree if kind.method is None else kind.result
        found = {
            name: (folder / name).read_bytes() if (folder / name).exists() else None
            for name in wanted
        }
        leftovers = [*folder.glob("*.rej"), *folder.glob("*.orig")]
        answer = methods(output)[0] if status == 0 else None
        if (
            answer != kind.method
            or (status == 0 and found != wanted)
            or (status == 0 and leftovers)
        ):
            wrong[kind.name] = (status, answer, output.decode("utf-8", "replace"), found)
        assert (folder / "ignored.o").exists()
    assert wrong == {}


def test_attempts_do_not_leave_anything_to_the_next(tmp_path: Path) -> None:
    """After a 3-way conflict the official chain goes on with conflict markers in the tree."""
    base = TEXT
    index = git_diff(tmp_path / "made", {"f.txt": base}, {"f.txt": CHANGED}, "--full-index")
    both = index + PLAIN.replace(b"f.txt", b"g.txt")
    tree = {"f.txt": base.replace(b"five", b"other"), "g.txt": TEXT}
    status, output = apply(tmp_path / "t", tree, both)
    assert status == 1
    assert b"<<<<<<<" not in (tmp_path / "t" / "f.txt").read_bytes(), output


def test_second_patch_falls_back_onto_the_first(tmp_path: Path) -> None:
    tree = {"f.txt": TEXT, "g.txt": TEXT.replace(b"two", b"2")}
    status, output = apply(tmp_path / "t", tree, PLAIN, PLAIN.replace(b"f.txt", b"g.txt"))
    assert status == 0, output
    assert methods(output) == ("plain", "fuzz")
    assert (tmp_path / "t" / "f.txt").read_bytes() == CHANGED
    assert b"FIVE" in (tmp_path / "t" / "g.txt").read_bytes()
    status, _ = apply(tmp_path / "u", {"f.txt": TEXT}, PLAIN, b"nonsense\n")
    assert status == 2


def test_a_patch_that_names_what_it_was_made_from_is_merged(tmp_path: Path) -> None:
    """Its context is another by now, but git has both sides: better than to guess by fuzz."""
    first = PLAIN.replace(b"-five\n+FIVE", b" five").replace(b" two", b"-two\n+2")
    second = git_diff(tmp_path / "made", {"f.txt": TEXT}, {"f.txt": CHANGED}, "--full-index")
    status, output = apply(tmp_path / "t", {"f.txt": TEXT}, first, second)
    assert (status, methods(output)) == (0, ("plain", "3way")), output
    assert (tmp_path / "t" / "f.txt").read_bytes() == CHANGED.replace(b"two", b"2")


@pytest.mark.parametrize("patch", [b"", b"\n \n", b"just words\n", b"diff --git a/x b/x\n"])
def test_empty_patches(patch: bytes) -> None:
    assert is_empty(patch)


def test_patches_that_change_something_are_not_empty() -> None:
    for header in (b"old mode 100644\nnew mode 100755\n", b"rename from a\nrename to b\n"):
        assert not is_empty(b"diff --git a/x b/x\n" + header)
    assert not is_empty(PLAIN)


def renamed(path: bytes) -> bytes:
    return PLAIN.replace(b"f.txt", path)


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        (renamed(b".git/hooks/post-checkout"), "git's own folder"),
        (renamed(b"sub/.GIT/config"), "git's own folder"),
        (renamed(b"../outside.txt"), "leads out"),
        (PLAIN + bytes(9 << 20), "more than"),
        (renamed(b"a/../../outside.txt"), "leads out"),
        (PLAIN.replace(b"a/f.txt", b"/etc/passwd").replace(b"b/f.txt", b"/etc/passwd"), "absolute"),
        (b"--- /dev/null\n+++ /etc/passwd\n@@ -0,0 +1 @@\n+x\n", "absolute"),
        (b"diff --git a/f b/.git/x\nrename from f\nrename to .git/x\n", "git's own folder"),
        (b'--- "a/\\056git/x"\n+++ "b/\\056git/x"\n@@ -1 +1 @@\n-a\n+b\n', "git's own folder"),
        (b"   --- a/.git/x\n   +++ b/.git/x\n   @@ -1 +1 @@\n   -a\n   +b\n", "git's own folder"),
        (
            b"diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n"
            b"@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n",
            "link out of the tree",
        ),
        (
            b"diff --git a/s/l b/s/l\nnew file mode 120000\n--- /dev/null\n+++ b/s/l\n"
            b"@@ -0,0 +1 @@\n+../../x\n\\ No newline at end of file\n",
            "link out of the tree",
        ),
        (
            b"diff --git a/c b/c\nnew file mode 120000\n--- /dev/null\n+++ b/c\n"
            b"@@ -0,0 +1 @@\n+a/b/../../etc\n\\ No newline at end of file\n",  # a/b is a link to ..
            "link out of the tree",
        ),
        (
            b"diff --git a/l b/l\nnew file mode 120000\nindex 0000000..3594e94\n"
            b"GIT binary patch\nliteral 11\nScmd0\n\nliteral 0\nHcmV?d00001\n\n",
            "does not show its target",
        ),
    ],
)
def test_patches_that_leave_the_tree_are_refused_by_name(patch: bytes, reason: str) -> None:
    assert reason in (refusal(patch) or "")


@pytest.mark.parametrize(
    "patch",
    [
        PLAIN,
        renamed(b".gitignore"),
        renamed(b".github/workflows/ci.yml"),
        renamed(b"a..b/c"),
        PLAIN.replace(b"-five\n+FIVE", b"--- a/.git/x\n++++ b/.git/x"),  # content, not names
        b"diff --git a/s/l b/s/l\nnew file mode 120000\n--- /dev/null\n+++ b/s/l\n"
        b"@@ -0,0 +1 @@\n+../x\n\\ No newline at end of file\n",
    ],
)
def test_honest_patches_are_not_refused(patch: bytes) -> None:
    assert refusal(patch) is None


def test_names_are_read_from_every_header() -> None:
    patch = (
        b'diff --git "a/caf\\303\\251.txt" "b/caf\\303\\251.txt"\nold mode 100644\n'
        b"new mode 100755\n" + renamed(b"with space.txt").replace(b".txt\n@", b".txt\t\n@")
    )
    assert touched_paths(patch) == ("café.txt", "with space.txt")
    assert [each.paths for each in file_patches(patch)] == [("café.txt",), ("with space.txt",)]


def test_names_that_never_end_take_no_time() -> None:
    assert refusal(b'diff --git "' + b'\\"' * 1_000_000 + b"\n") is None


@pytest.mark.parametrize(
    "change",
    [
        lambda line: b"  " + line,
        lambda line: b"X" + line,
        lambda line: b" X\t" + line,
        lambda line: b"- " + line,
    ],
    ids=["blanks", "X", "both", "dashes"],
)
def test_patch_finds_nothing_that_is_not_seen_here(
    tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    """`patch` would read such lines as a diff of their own, into .git too."""
    hidden = b"".join(change(line) for line in NEW.splitlines(keepends=True))
    given = PLAIN.replace(b"two", b"other") + hidden
    assert b"n.txt" not in without_prose(given)
    status, output = apply(tmp_path / "t", {"f.txt": TEXT}, without_prose(given))
    assert (status, methods(output)) == (0, ("fuzz",)), output
    assert not (tmp_path / "t" / "n.txt").exists()


def test_a_letter_round_a_patch_is_cut() -> None:
    letter = b"From 1 Mon\nSubject: x: y\n\n---\n 1 file\n\n" + PLAIN + b"-- \n2.39.5\n"
    assert PLAIN in without_prose(letter)
    assert b"Subject" not in without_prose(letter)
