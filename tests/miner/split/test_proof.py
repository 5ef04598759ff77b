"""What is told without git is what git says."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.git import Mirror
from miner.split.patch import Section, cut, gold_patch
from miner.split.patch import test_patch as tests_of
from miner.split.proof import is_plain, is_proven
from tests.miner.split.test_patch import CASES, CLASSIFY, Case, _compare, _imported, _make, bare

__all__ = ["bare"]  # a fixture

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"\r\n", b"\f\n", b"@@ -1 +1 @@\n", b"\\ x\n"]))
CONTENT = st.builds(lambda lines, end: b"".join(lines) + end, LINES, st.sampled_from([b"", b"z"]))


def _plain(mirror: Mirror, before: bytes, after: bytes) -> tuple[Section, bytes]:
    base, merge = _imported(mirror, {"a.py": before}, {"a.py": after})
    found = mirror.compare(base, merge)
    (section,) = cut(found.diff, found.changes, CLASSIFY)
    return section, before


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_awkward_kind(case: Case, tmp_path: Path) -> None:
    mirror, base, merge = _make(tmp_path, case.base, case.merge, case)
    found = _compare(mirror, base, merge)
    for section in cut(found.diff, found.changes, CLASSIFY):
        change = section.change
        if is_plain(change):
            old = b"" if change.status == "A" else mirror.blobs([change.old_blob])[change.old_blob]
            assert is_proven(section, old)
    sections = cut(found.diff, found.changes, CLASSIFY)
    assert mirror.adds_up(found.changes, [tests_of(sections), gold_patch(sections)])


def test_most_kinds_of_text_are_plain(bare: Mirror) -> None:
    section, _ = _plain(bare, b"1\n", b"2\n")
    assert is_plain(section.change)
    for odd in (
        replace(section.change, path="b.py"),
        replace(section.change, new_mode="100755"),
        replace(section.change, old_mode="120000", new_mode="120000"),
        replace(section.change, status="T"),
        replace(section.change, additions=None, deletions=None),
        replace(section.change, path="a b.py", old_path="a b.py"),
        replace(section.change, path='a".py', old_path='a".py'),
    ):
        assert not is_plain(odd)


@settings(max_examples=40)
@given(before=CONTENT, after=CONTENT)
def test_any_two_contents(bare: Mirror, before: bytes, after: bytes) -> None:
    if before == after:
        return
    section, old = _plain(bare, before, after)
    if is_plain(section.change):
        assert is_proven(section, old)
        assert not is_proven(section, old + b"x")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"+zwei\n", b"+drei\n"),
        (b"-two\n", b"-zwo\n"),
        (b" one\n", b" uno\n"),
        (b"@@ -1,4 +1,4 @@", b"@@ -2,4 +2,4 @@"),
        (b"@@ -1,4 +1,4 @@", b"@@ -1,5 +1,5 @@"),
        (b"a/a.py b/a.py", b"a/a.py b/b.py"),
        (b"+++ b/a.py", b"+++ b/b.py"),
        (b" 100644\n", b" 100755\n"),
        (b"+zwei\n", b""),
        (b"+zwei\n", b"+zwei\n\\ No newline at end of file\n"),
        (b" four\n", b" four\ngarbage\n@"),
    ],
)
def test_a_part_that_was_tampered_with_proves_nothing(bare: Mirror, old: bytes, new: bytes) -> None:
    section, content = _plain(bare, b"one\ntwo\nthree\nfour\n", b"one\nzwei\nthree\nfour\n")
    assert is_proven(section, content)
    assert old in section.text
    assert not is_proven(replace(section, text=section.text.replace(old, new)), content)
