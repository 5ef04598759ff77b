"""A mirror made again from refs and packs."""

from pathlib import Path

import pytest

from miner.errors import ConfigError
from miner.git import Mirrors, copies
from tests.miner.git.repository import Repository


def test_a_mirror_is_made_again_from_its_packs(tmp_path: Path) -> None:
    upstream = Repository(tmp_path / "up")
    upstream.commit({"a.py": "1\n"})
    upstream.git("checkout", "--quiet", "-b", "gone")
    lost = upstream.commit({"b.py": "1\n"})
    upstream.git("tag", "-a", "v1", "-m", "one")
    upstream.git("checkout", "--quiet", "main")
    mirrors, packs = Mirrors(tmp_path / "mirrors"), tmp_path / "packs"
    mirrors.update("o/r", str(upstream.path))
    upstream.git("branch", "-D", "gone")
    upstream.git("tag", "-d", "v1")
    mirror = mirrors.update("o/r", str(upstream.path))
    first = copies.pack(mirror, packs, known=())
    before = copies.refs(mirror)
    newer = upstream.commit({"a.py": "2\n"})
    mirror = mirrors.update("o/r", str(upstream.path))
    second = copies.pack(mirror, packs, known=before.values())
    assert copies.pack(mirror, packs, known=copies.refs(mirror).values()) is None
    assert first
    assert second
    again = Mirrors(tmp_path / "again")
    named = [packs / first, packs / second]
    for _ in range(2):  # what is there already stays
        made = again.restore("o/r", refs=copies.refs(mirror), packs=named)
        assert copies.refs(made) == copies.refs(mirror)
        assert made.has(lost)  # on no branch any more, and perhaps a pull's base
        assert made.read_all(newer, ["a.py"]) == {"a.py": b"2\n"}
    assert (packs / second).stat().st_size < (packs / first).stat().st_size


def test_packs_that_are_not_whole_make_no_mirror(tmp_path: Path) -> None:
    mirrors = Mirrors(tmp_path / "mirrors")
    with pytest.raises(ConfigError, match="do not hold what its refs name"):
        mirrors.restore("o/r", refs={"refs/heads/main": "1" * 40}, packs=[])
    with pytest.raises(ConfigError, match=r"pack-1\.pack is missing"):
        mirrors.restore("o/r", refs={}, packs=[tmp_path / "pack-1.pack"])
    with pytest.raises(ConfigError, match="no mirror of o/r"):
        mirrors.open("o/r")
