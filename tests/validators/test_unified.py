"""Unified diffs: what is a header and what is content, and what a text is afterwards."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from validators.unified import applied, file_diffs

LINES = st.lists(
    st.sampled_from(
        [b"a", b"", b"--- a/x", b"+++ b/x", b"@@ -1 +1 @@", b"diff --git a/x b/x", b"\r"]
    ),
    max_size=12,
)
ENDS = st.sampled_from([b"", b"\n"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("texts")


def diff(folder: Path, *pairs: tuple[bytes, bytes]) -> bytes:
    """git's own diff of each pair of texts, one after the other."""
    said = b""
    for old, new in pairs:
        (folder / "old").write_bytes(old)
        (folder / "new").write_bytes(new)
        command = ["git", "diff", "--no-index", "--no-color", "old", "new"]
        said += subprocess.run(command, cwd=folder, capture_output=True, check=False).stdout
    return said


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(before=LINES, after=LINES, ends=st.tuples(ENDS, ENDS))
def test_content_is_never_a_header_and_the_text_is_gits(
    folder: Path, before: list[bytes], after: list[bytes], ends: tuple[bytes, bytes]
) -> None:
    old, new = b"\n".join(before) + ends[0], b"\n".join(after) + ends[1]
    patch = diff(folder, (old, new), (b"1\n", b"2\n"))
    *changed, last = file_diffs(patch)
    assert len(changed) == (old != new)
    for each in changed:
        assert applied(old, each.hunks) == new
    assert applied(b"1\n", last.hunks) == b"2\n"
    parts = [*changed, last]
    assert b"".join(b"".join([*p.head, *(h.text for h in p.hunks)]) for p in parts) == patch


TWO = (
    b"--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n-x\n+y\n\n"
    b"trailing words\n--- b.txt\n+++ b.txt\n@@ -1 +1 @@\n-x\n+y\n"
)


def test_files_of_a_patch_without_gits_lines_are_told_apart() -> None:
    first, second = file_diffs(TWO)
    assert first.hunks[0].lines == (b"-x\n", b"+y\n", b"\n")
    assert list(first.outside) == [b"--- a.txt\n", b"+++ a.txt\n", b"trailing words\n"]
    assert second.head == (b"--- b.txt\n", b"+++ b.txt\n")


@pytest.mark.parametrize(
    "hunk",
    [
        b"@@ -2 +1 @@\n-x\n+y\n",  # another line
        b"@@ -1,2 +1 @@\n-x\n+y\n",  # fewer lines than it says
        b"@@ -1 +1,2 @@\n-x\n+y\n",
        b"@@ -1 +1 @@\n-z\n+y\n",  # other text
        b"@@ -1 +1 @@\n-x\n+y\nmore\n",
        b"@@ -9,0 +10 @@\n+y\n",  # beyond the end
        b"@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n",
        b"@@ -1 +1 @@\n-x\n+y\n@@ -1 +1 @@\n-x\n+y\n",  # the same place twice
    ],
)
def test_a_hunk_that_does_not_fit_exactly_gives_no_text(hunk: bytes) -> None:
    (found,) = file_diffs(b"--- a\n+++ b\n" + hunk)
    assert applied(b"x\n", found.hunks) is None


def test_nothing_has_no_files() -> None:
    assert file_diffs(b"") == ()
    (bare,) = file_diffs(b"@@ -1 +1 @@\n-x\n+y")
    assert (bare.head, bare.hunks[0].text) == ((), b"@@ -1 +1 @@\n-x\n+y")
