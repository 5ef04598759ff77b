"""The index file we write is one that git reads, and the reverse."""

import os

import pytest

from miner.git.index import read, write
from tests.miner.git.repository import Repository

LATIN1 = os.fsdecode(b"caf\xe9")


def test_git_reads_what_is_written(upstream: Repository) -> None:
    upstream.write({"a": "1\n", "d/" + "n" * 200: "2\n", LATIN1: "3\n", "l": "-> a", "x.sh": "4\n"})
    (upstream.path / "x.sh").chmod(0o755)
    upstream.git("add", "--all")
    entries = read((upstream.path / ".git" / "index").read_bytes())
    assert len(entries) == 5
    assert entries[b"x.sh"][0] == "100755"
    assert entries[b"l"][0] == "120000"
    listed = upstream.git("ls-files", "--stage")
    (upstream.path / ".git" / "index").write_bytes(write(entries))
    assert upstream.git("ls-files", "--stage") == listed
    assert upstream.git("status", "--short").splitlines() == [
        f"A  {line.split(chr(9))[1]}" for line in listed.splitlines()
    ]


def test_round_trip() -> None:
    entries = {b"n" * length: ("100644", f"{length:040x}") for length in range(1, 40)}
    assert read(write(entries)) == entries
    assert read(write({})) == {}


def test_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="version 4"):
        read(b"DIRC" + bytes([0, 0, 0, 4]) + bytes(4))
