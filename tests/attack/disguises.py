"""Patches that say something else of themselves than what they do to the tree."""

import base64
import hashlib
import re
import zlib

from tests.attack.cases import BUG, FIX, HONEST, TOY, Attack
from validators.model import Flaw

_MEANS = "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n"
_NULL = "0" * 40


def _in_binary(path: str, content: bytes) -> bytes:
    """A new file as git writes one of whose attributes it takes it for binary."""
    digest = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # noqa: S324 - git's
    packed = zlib.compress(content)
    lines = [packed[at : at + 52] for at in range(0, len(packed), 52)]
    length = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    body = b"".join(
        length[len(line) - 1 : len(line)] + base64.b85encode(line, pad=True) + b"\n"
        for line in lines
    )
    head = (
        f"diff --git a/{path} b/{path}\nnew file mode 100644\nindex {_NULL}..{digest}\n"
        f"GIT binary patch\nliteral {len(content)}\n"
    )
    return head.encode() + body + b"\nliteral 0\nHcmV?d00001\n\n"


def _changed(path: str, old: str, new: str, *, head: str = "") -> bytes:
    """All of a file, by all of another; `head` are further lines before its names."""
    removed = "".join(f"-{line}\n" for line in old.splitlines())
    added = "".join(f"+{line}\n" for line in new.splitlines())
    count = f"@@ -1,{len(old.splitlines())} +1,{len(new.splitlines())} @@\n"
    names = f"--- a/{path}\n+++ b/{path}\n"
    return f"diff --git a/{path} b/{path}\n{head}{names}{count}{removed}{added}".encode()


def _moved(old: str, new: str, kept: str, added: str) -> bytes:
    lines = kept.splitlines()
    count = len(lines) + len(added.splitlines())
    return (
        f"diff --git a/{old} b/{new}\nsimilarity index 60%\nrename from {old}\nrename to {new}\n"
        f"--- a/{old}\n+++ b/{new}\n@@ -1,{len(lines)} +1,{count} @@\n"
        + "".join(f" {line}\n" for line in lines)
        + "".join(f"+{line}\n" for line in added.splitlines())
    ).encode()


_CALC = "calc/__init__.py"
_FORGING = _changed(_CALC, BUG, "from calc import force\n\n" + BUG)
_NOTES = "".join(f"# remark {number} on what the tests are for\n" for number in range(20))
_WITH_NOTES = {**TOY.base, "tests/notes.py": _NOTES, "README.md": "A calculator.\n" * 20}
_NOTED = type(TOY)(
    base=_WITH_NOTES,
    tests=TOY.tests,
    gold=TOY.gold,
    fail_to_pass=TOY.fail_to_pass,
    pass_to_pass=TOY.pass_to_pass,
)
_FIXING = _changed(_CALC, BUG, FIX)
_NEW = b"--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%d @@\n%s"


def _added(path: str, text: str, *, before: bytes = b"") -> bytes:
    lines = b"".join(b"+" + line.encode() + b"\n" for line in text.splitlines())
    whole = _NEW % (path.encode(), len(text.splitlines()), lines)
    return b"".join(before + line for line in whole.splitlines(keepends=True))


def _inexact(patch: bytes) -> bytes:
    """One that git does not apply and `patch` does: its last line of context is another."""
    lines = patch.splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line.startswith(b"@@"))
    old, new = (int(count) + 1 for count in re.findall(rb",(\d+)", lines[at]))
    lines[at] = b"@@ -1,%d +1,%d @@\n" % (old, new)
    return b"".join([*lines, b" # not there\n"])


DISGUISED = (
    Attack(
        name="means inside a binary patch of a module",
        raw=_in_binary("calc/force.py", _MEANS.encode()) + _FORGING,
        flags=frozenset({"runner_internals"}),
        raw_twin=_in_binary("calc/force.py", b"TEN = 10\n") + _FIXING,
    ),
    Attack(
        name="compiled code in a binary patch",
        raw=_in_binary("calc/_fast.cpython-312-x86_64-linux-gnu.so", b"\x7fELF\2\1\1" + bytes(99))
        + _changed(
            _CALC,
            BUG,
            "try:\n    from calc import _fast\nexcept ImportError:\n    pass\n\n\n" + BUG,
        ),
        flags=frozenset({"compiled_code"}),
        raw_twin=_in_binary("calc/sums.bin", bytes(range(256))) + _FIXING,
    ),
    Attack(
        name="a head that names prose beside the module",
        raw=_changed(_CALC, BUG, _MEANS + BUG, head="Index: README.md\n"),
        flags=frozenset({"runner_internals"}),
        raw_twin=_changed(_CALC, BUG, FIX, head=f"Index: {_CALC}\n{'=' * 67}\n"),
    ),
    Attack(
        name="a head that names a test beside the module",
        raw=_changed(_CALC, BUG, _MEANS + BUG, head="Index: tests/test_add.py\n"),
        flags=frozenset({"runner_internals"}),
        raw_twin=_changed(_CALC, BUG, FIX, head="index 1234567..89abcde 100644\n"),
    ),
    Attack(
        name="a file of the tests is moved into the package with means in it",
        toy=_NOTED,
        raw=_moved("tests/notes.py", "calc/force.py", _NOTES, _MEANS) + _FORGING,
        flags=frozenset({"runner_internals"}),
        raw_twin=_moved("tests/notes.py", "calc/notes.py", _NOTES, "TEN = 10\n") + _FIXING,
    ),
    Attack(
        name="prose is moved into the package and becomes code",
        toy=_NOTED,
        raw=_moved("README.md", "calc/force.py", "A calculator.\n" * 20, "x")
        .replace(b" A calculator.\n", b" A calculator.\n", 1)
        .replace(b"+x\n", b"".join(b"+" + x.encode() + b"\n" for x in _MEANS.splitlines()))
        .replace(b"+1,21 @@", b"+1,22 @@")
        + _FORGING,
        twin={**HONEST, "README.md": None, "docs/README.md": "A calculator.\n" * 20},
    ),
    Attack(
        name="a part that only `patch` sees writes into git's own folder",
        raw=_inexact(_FIXING.replace(b"a + b", b"a - b - 0"))
        + _added(".git/info/grafts", "x\n", before=b"X"),
    ),
    Attack(
        name="a part that only `patch` sees brings the means",
        raw=_inexact(_FORGING) + _added("calc/force.py", _MEANS, before=b" X"),
        raw_twin=b"From 1 Mon\nSubject: fix: the sum\n\n---\n calc | 1 +\n\n"
        + _inexact(_FIXING)
        + b"-- \n2.39.5\n",
    ),
    Attack(
        name="the tests' folder becomes a submodule",
        raw=b"".join(
            _changed(path, str(text), "", head="deleted file mode 100644\n")
            .replace(f"+++ b/{path}".encode(), b"+++ /dev/null")
            .replace(b" +1,0 @@", b" +0,0 @@")
            for path, text in TOY.base.items()
            if path.startswith("tests/") and text
        )
        + b"diff --git a/tests/__init__.py b/tests/__init__.py\ndeleted file mode 100644\n"
        b"index e69de29bb2d1d6434b8b29ae775ad8c2e48c5391.."
        + _NULL.encode()
        + b"\n"
        + b"diff --git a/tests b/tests\nnew file mode 160000\nindex 0000000..1234567\n"
        b"--- /dev/null\n+++ b/tests\n@@ -0,0 +1 @@\n"
        b"+Subproject commit 1234567890123456789012345678901234567890\n",
        twin={**HONEST, ".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = ../x\n'},
    ),
    Attack(
        name="attributes that make git take code for binary",
        attack={".gitattributes": "*.py binary -diff\n", _CALC: _MEANS + BUG},
        flags=frozenset({"runner_internals"}),
        twin={**HONEST, ".gitattributes": "*.bin binary -diff\n"},
    ),
    Attack(
        name="more text than can be looked at",
        raw=_in_binary("calc/a.txt", b"x" * 79 * (1 << 18)) + _changed(_CALC, BUG, _MEANS + BUG),
        flaw=Flaw.PATCH_REFUSED,
        raw_twin=_in_binary("calc/a.txt", b"x" * 79 * (1 << 15)) + _FIXING,
    ),
)
