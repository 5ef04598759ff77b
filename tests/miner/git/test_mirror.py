"""Reading a mirror: what real repositories hold comes out byte for byte."""

import io
import os
import tarfile
from datetime import UTC, datetime

import pytest

from miner.errors import BadItemError
from miner.git import Mirror, Mirrors
from tests.miner.git.oracle import applied, tree_id
from tests.miner.git.repository import Repository

LATIN1 = os.fsdecode(b"caf\xe9.txt")


def _mirror(mirrors: Mirrors, upstream: Repository) -> Mirror:
    return mirrors.update("o/r", str(upstream.path))


def _members(tar: bytes) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(tar), errors="surrogateescape") as opened:
        return {member.name: member for member in opened.getmembers()}


def _content(tar: bytes, name: str) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(tar), errors="surrogateescape") as opened:
        found = opened.extractfile(name)
        assert found is not None
        return found.read()


def test_commit_facts(mirrors: Mirrors, upstream: Repository) -> None:
    first = upstream.commit({"a": "1\n"})
    second = upstream.commit({"a": "2\n"})
    mirror = _mirror(mirrors, upstream)
    assert mirror.has(first)
    assert not mirror.has("0" * 40)
    assert not mirror.has("main")
    assert mirror.committed_at(second) == datetime(2024, 1, 1, 2, tzinfo=UTC)
    assert mirror.merge_base(first, second) == first


def test_unrelated_histories_have_no_merge_base(mirrors: Mirrors, upstream: Repository) -> None:
    first = upstream.commit({"a": "1\n"})
    upstream.git("checkout", "--quiet", "--orphan", "other")
    other = upstream.commit({"b": "1\n"})
    assert _mirror(mirrors, upstream).merge_base(first, other) is None


@pytest.mark.parametrize("commit", ["main", "--output=x", "", "0" * 40, "abc1234"])
def test_what_is_no_known_commit_is_a_bad_item(
    mirrors: Mirrors, upstream: Repository, commit: str
) -> None:
    upstream.commit({"a": "1\n"})
    with pytest.raises(BadItemError):
        _mirror(mirrors, upstream).committed_at(commit)


def test_changes_of_every_kind(mirrors: Mirrors, upstream: Repository) -> None:
    base = upstream.commit(
        {
            "mod": "1\n",
            "gone": "1\n",
            "old name": "x\n" * 30,
            "kind": "file\n",
            "bin": b"\0\1",
            "mode": "#!/bin/sh\n",
        }
    )
    upstream.git("mv", "old name", "dir b")
    upstream.git("update-index", "--chmod=+x", "mode")
    (upstream.path / "mode").chmod(0o755)
    merge = upstream.commit(
        {
            "mod": "2\n3\n",
            "gone": None,
            "kind": None,
            "bin": b"\0\2",
            "new": "",
        }
    )
    upstream.write({"kind": "-> mod"})
    merge = upstream.commit()
    changes = _mirror(mirrors, upstream).changes(base, merge)
    seen = {
        each.path: (each.status, each.old_path, each.additions, each.deletions) for each in changes
    }
    assert seen == {
        "mod": ("M", "mod", 2, 1),
        "gone": ("D", "gone", 0, 1),
        "dir b": ("R", "old name", 0, 0),
        "kind": ("T", "kind", 1, 1),
        "bin": ("M", "bin", None, None),
        "mode": ("M", "mode", 0, 0),
        "new": ("A", "new", 0, 0),
    }
    assert {each.path: each.sections for each in changes}["kind"] == 2


def test_changes_and_diff_of_one_run_equal_those_of_two(
    mirrors: Mirrors, upstream: Repository
) -> None:
    base = upstream.commit({"a": "1\n" * 20, "b": b"\0"})
    upstream.git("mv", "a", "c")
    merge = upstream.commit({"b": b"\0\0", "d": "new\n"})
    mirror = _mirror(mirrors, upstream)
    both = mirror.compare(base, merge)
    assert both.changes == mirror.changes(base, merge)
    assert both.diff == mirror.diff(base, merge)
    assert b"rename from a" in both.diff
    assert b"GIT binary patch" in both.diff
    assert b"rename from a" not in mirror.diff(base, merge, renames=False)
    assert mirror.compare(base, base).diff == b""


def test_the_projects_own_attributes_and_settings_change_no_byte(
    mirrors: Mirrors, upstream: Repository
) -> None:
    base = upstream.commit({".gitattributes": "*.py -diff eol=crlf\n*.txt ident\n", "a.py": "1\n"})
    merge = upstream.commit({"a.py": "2\n", "i.txt": "$Id$\n"})
    mirror = _mirror(mirrors, upstream)
    assert b"\n-1\n+2\n" in mirror.diff(base, merge)
    assert _content(mirror.tree(merge).tar, "a.py") == b"2\n"
    assert _content(mirror.tree(merge).tar, "i.txt") == b"$Id$\n"


def test_tree_keeps_everything(mirrors: Mirrors, upstream: Repository) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    upstream.write(
        {
            ".gitattributes": "tests export-ignore\n*.bin filter=lfs diff=lfs\n",
            "tests/test_a.py": "def test(): pass\n",
            "big.bin": pointer,
            "run.sh": "#!/bin/sh\n",
            "link": "-> tests/test_a.py",
            "d" * 150 + "/" + "f" * 150: "long\n",
            LATIN1: "x\n",
        }
    )
    (upstream.path / "run.sh").chmod(0o755)
    upstream.git("add", "--all")
    upstream.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor/sub")
    upstream.git("commit", "--quiet", "--message=All")
    tree = _mirror(mirrors, upstream).tree(upstream.head())
    members = _members(tree.tar)
    assert members["tests"].isdir()
    assert "tests/test_a.py" in members
    assert _content(tree.tar, "big.bin") == pointer.encode()
    assert members["run.sh"].mode == 0o755
    assert members["big.bin"].mode == 0o644
    assert members["link"].issym()
    assert members["link"].linkname == "tests/test_a.py"
    assert members["vendor/sub"].isdir()
    assert "d" * 150 + "/" + "f" * 150 in members
    assert LATIN1 in members
    assert {member.mtime for member in members.values()} == {int(tree.committed_at.timestamp())}
    assert {(member.uid, member.gid) for member in members.values()} == {(0, 0)}


def test_tree_is_the_same_bytes_every_time(mirrors: Mirrors, upstream: Repository) -> None:
    commit = upstream.commit({"b/c": "1\n", "b-c": "2\n"})
    mirror = _mirror(mirrors, upstream)
    assert mirror.tree(commit) == mirror.tree(commit)
    assert mirror.paths(commit) == ("b-c", "b/c")


def test_tree_refuses_paths_that_leave_their_folder(mirrors: Mirrors, upstream: Repository) -> None:
    blob = upstream.git("hash-object", "-w", "--stdin", stdin=b"evil")
    inner = upstream.git("mktree", stdin=f"100644 blob {blob}\tx\n".encode())
    tree = upstream.git("mktree", "--missing", stdin=f"040000 tree {inner}\t..\n".encode())
    commit = upstream.git("commit-tree", tree, "-m", "evil")
    upstream.git("update-ref", "refs/heads/main", commit)
    mirror = _mirror(mirrors, upstream)
    with pytest.raises(BadItemError, match="unsafe path"):
        mirror.tree(commit)


def test_nearest_tag_is_a_version_behind_the_commit(mirrors: Mirrors, upstream: Repository) -> None:
    first = upstream.commit({"a": "1\n"})
    upstream.git("tag", "v1.2.0")
    second = upstream.commit({"a": "2\n"})
    upstream.git("tag", "stable")
    third = upstream.commit({"a": "3\n"})
    upstream.git("tag", "v1.3.0")
    mirror = _mirror(mirrors, upstream)
    assert mirror.nearest_tag(second) == "v1.2.0"
    assert mirror.nearest_tag(third) == "v1.3.0"
    assert mirror.tree(first).nearest_tag == "v1.2.0"


def test_no_tag_is_none(mirrors: Mirrors, upstream: Repository) -> None:
    commit = upstream.commit({"a": "1\n"})
    assert _mirror(mirrors, upstream).nearest_tag(commit) is None


def test_patches_that_add_up_give_the_merge_tree(mirrors: Mirrors, upstream: Repository) -> None:
    base = upstream.commit({"a": "1\n", "b": "1\n"})
    middle = upstream.commit({"a": "2\n"})
    merge = upstream.commit({"b": "2\n"})
    mirror = _mirror(mirrors, upstream)
    one, two = mirror.diff(base, middle), mirror.diff(middle, merge)
    before = sorted(mirror.path.rglob("*"))
    assert applied(mirror, base, [one, b"", two]) == tree_id(mirror, merge)
    assert applied(mirror, base, [one]) == tree_id(mirror, middle)
    assert applied(mirror, base, [one, one]) is None
    assert applied(mirror, base, [b"no patch"]) is None
    assert sorted(mirror.path.rglob("*")) == before


def test_read_many_files_at_once(mirrors: Mirrors, upstream: Repository) -> None:
    commit = upstream.commit(
        {"d/a": b"\xff\n\n", "b": "", LATIN1: "x", "n\nl": "x", "s p": "y", "l": "-> d"}
    )
    upstream.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    upstream.git("commit", "--quiet", "--message=Sub")
    mirror = _mirror(mirrors, upstream)
    asked = ["none", "../none", "s p", "b", "d", "d/a", LATIN1, "n\nl", "b", "sub", "l"]
    found = mirror.read_all(upstream.head(), asked)
    assert found == {"s p": b"y", "b": b"", "d/a": b"\xff\n\n", LATIN1: b"x", "l": b"d"}
    assert list(found) == ["s p", "b", "d/a", LATIN1, "l"]
    assert mirror.read_all(commit, []) == {}
    with pytest.raises(BadItemError):
        mirror.read_all("main", ["b"])


def test_a_tag_with_two_numbers_is_preferred(mirrors: Mirrors, upstream: Repository) -> None:
    upstream.commit({"a": "1\n"})
    upstream.git("tag", "6.7")
    commit = upstream.commit({"a": "2\n"})
    upstream.git("tag", "6.x")
    assert _mirror(mirrors, upstream).nearest_tag(commit) == "6.7"
    upstream.git("tag", "-d", "6.7")
    lone = Mirrors(upstream.path.parent / "lone").update("o/r", str(upstream.path))
    assert lone.nearest_tag(commit) == "6.x"


def test_commit_and_parents_in_one_look(mirrors: Mirrors, upstream: Repository) -> None:
    first = upstream.commit({"a": "1\n"}, "First\n\nbody\n")
    upstream.git("checkout", "--quiet", "-b", "side")
    side = upstream.commit({"b": "1\n"}, "Side")
    upstream.git("checkout", "--quiet", "main")
    main = upstream.commit({"c": "1\n"}, "Main")
    upstream.git("merge", "--quiet", "--no-ff", "side", "-m", "Merge")
    merge = upstream.head()
    mirror = _mirror(mirrors, upstream)
    found = mirror.find(merge)
    assert [header.oid for header in found] == [merge, main, side]
    assert found[0].parents == (main, side)
    assert found[0].message.strip() == "Merge"
    (root,) = mirror.find(first)
    assert (root.parents, root.message) == ((), "First\n\nbody\n")
    assert root.committed_at == mirror.committed_at(first)
    assert mirror.find("1" * 40) == ()
    assert mirror.find("main") == ()
    assert mirror.find(tree_id(mirror, merge)) == ()
    assert [header.oid for header in mirror.first_parents(merge, limit=5)] == [merge, main, first]


def test_patches_that_add_up_are_told_by_the_changed_files(
    mirrors: Mirrors, upstream: Repository
) -> None:
    base = upstream.commit({"a": "1\n", "b": "1\n", "c": "1\n"})
    middle = upstream.commit({"a": "2\n"})
    merge = upstream.commit({"b": None, "d": "x"})
    mirror = _mirror(mirrors, upstream)
    one, two = mirror.diff(base, middle), mirror.diff(middle, merge)
    changes = mirror.changes(base, merge)
    before = sorted(mirror.path.rglob("*"))
    assert mirror.adds_up(changes, [one, two])
    assert mirror.adds_up(changes, [two, b"", one])
    assert not mirror.adds_up(changes, [one])
    assert not mirror.adds_up(changes, [one, one])
    assert not mirror.adds_up(changes, [one, two, mirror.diff(base, middle).replace(b"a", b"z")])
    assert not mirror.adds_up(changes, [one, two.replace(b"+x", b"+y")])
    assert not mirror.adds_up(changes, [one, two.replace(b"100644", b"100755")])
    assert sorted(mirror.path.rglob("*")) == before
