"""Text after a patch, told without git; git itself is asked for the right answer."""

import subprocess
from pathlib import Path

import pytest

from validators.patched_text import patched

CHANGES = {
    "changed": (
        {"a.txt": b"1\n2\n3\n4\n5\n6\n7\n8\n9\n"},
        {"a.txt": b"1\n2\nx\n4\n5\n6\n7\n8\ny\n9\n"},
    ),
    "two hunks": (
        {"a.txt": b"".join(b"%d\n" % n for n in range(40))},
        {"a.txt": b"0.5\n" + b"".join(b"%d\n" % n for n in range(40) if n != 30)},
    ),
    "added": ({"a.txt": b"1\n"}, {"a.txt": b"1\n", "d/b.txt": b"x\ny\n"}),
    "removed": ({"a.txt": b"1\n", "b.txt": b"2\n"}, {"b.txt": b"2\n"}),
    "no final newline": ({"a.txt": b"1\n2"}, {"a.txt": b"1\n3"}),
    "newline added at the end": ({"a.txt": b"1\n2"}, {"a.txt": b"1\n2\n"}),
    "carriage returns": ({"a.txt": b"1\r\n2\r\n"}, {"a.txt": b"1\r\nx\r\n"}),
    "renamed": ({"a.txt": b"1\n2\n3\n4\n5\n"}, {"b.txt": b"1\n2\n3\n4\n5\n"}),
    "renamed and changed": (
        {"a.txt": b"".join(b"%d\n" % n for n in range(20))},
        {"b.txt": b"".join(b"%d\n" % n for n in range(21))},
    ),
    "emptied": ({"a.txt": b"1\n"}, {"a.txt": b""}),
    "a line that looks like a header": ({"a.txt": b"-- x\n1\n"}, {"a.txt": b"++ x\n1\n"}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_text_is_what_git_makes_of_it(change: str, tmp_path: Path) -> None:
    before, after = CHANGES[change]
    patch = _diff(tmp_path, before, after)
    assert patched(before, [patch]) == after


def test_patches_follow_each_other(tmp_path: Path) -> None:
    states = [{"a.txt": b"1\n"}, {"a.txt": b"1\n2\n"}, {"a.txt": b"1\n2\n3\n", "b.txt": b"x\n"}]
    patches = [
        _diff(tmp_path / "one", states[0], states[1]),
        _diff(tmp_path / "two", states[1], states[2]),
    ]
    assert patched(states[0], patches) == states[2]


def test_a_patch_of_other_text_changes_nothing(tmp_path: Path) -> None:
    patch = _diff(tmp_path, {"a.txt": b"1\n2\n"}, {"a.txt": b"1\n3\n"})
    assert patched({"a.txt": b"other\n"}, [patch]) == {"a.txt": b"other\n"}


def test_an_empty_patch_changes_nothing() -> None:
    assert patched({"a.txt": b"1\n"}, [b""]) == {"a.txt": b"1\n"}


def _diff(folder: Path, before: dict[str, bytes], after: dict[str, bytes]) -> bytes:
    folder.mkdir(exist_ok=True)

    def git(*words: str) -> bytes:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "core.autocrlf=false")
        command = ("git", "-C", str(folder), *identity, *words)
        return subprocess.run(command, check=True, capture_output=True).stdout

    def write(files: dict[str, bytes]) -> None:
        for old in folder.glob("*.txt"):
            old.unlink()
        for name, content in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(content)
        git("add", "-A")

    git("init", "-q")
    write(before)
    git("commit", "-q", "-m", "a")
    write(after)
    return git("diff", "--cached", "--binary", "-M")
