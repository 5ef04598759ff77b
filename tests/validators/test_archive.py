"""Files for a container: what is in the tar is what was given."""

import io
import tarfile

import pytest

from validators.archive import guests_members, pack


def test_files_and_folders_are_as_given() -> None:
    files = {"a/b.py": b"x\n", "caf\udce9": b"", "é" * 200: b"y"}
    with tarfile.open(fileobj=io.BytesIO(pack(files, mode=0o755, folders=["a"]))) as tar:
        found = {
            member.name: content.read()
            for member in tar
            if (content := tar.extractfile(member)) is not None
        }
        modes = {member.name: (member.isdir(), member.mode) for member in tar.getmembers()}
    assert found == files
    assert modes == {"a": (True, 0o755), **dict.fromkeys(files, (False, 0o755))}


def test_the_same_files_are_the_same_bytes() -> None:
    assert pack({"a": b"x"}) == pack({"a": b"x"})


def raw(*members: tarfile.TarInfo, content: bytes = b"", mode: str = "w") -> bytes:
    """A tar of headers as they are given, the last one followed by content."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode, format=tarfile.PAX_FORMAT) as tar:  # type: ignore[call-overload]  # a mode is a literal there
        for member in members:
            tar.addfile(member, io.BytesIO(content) if member.size else None)
    return packed.getvalue()


def named(name: str, **headers: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.pax_headers = headers
    return member


def test_a_guests_files_are_told_from_what_is_no_plain_file() -> None:
    link = tarfile.TarInfo("link")
    link.type, link.linkname = tarfile.SYMTYPE, "a"
    full = tarfile.TarInfo("a")
    full.size = 3
    members = list(guests_members(raw(link, full, content=b"abc")))
    assert members == [("link", None), ("a", b"abc")]


def test_a_file_that_only_claims_its_length_is_not_made_in_memory() -> None:
    """A terabyte of holes in a kilobyte."""
    holes = {"GNU.sparse.map": "0,0", "GNU.sparse.size": str(1 << 40), "GNU.sparse.name": "a"}
    assert list(guests_members(raw(named("a", **holes)))) == [("a", None)]


def test_what_is_compressed_is_not_unpacked() -> None:
    zeros = tarfile.TarInfo("a")
    zeros.size = 1 << 20
    bomb = raw(zeros, content=bytes(1 << 20), mode="w:xz")
    with pytest.raises(tarfile.TarError):
        list(guests_members(bomb))


def test_names_of_names_of_names_are_no_crash() -> None:
    link = tarfile.TarInfo("././@LongLink")
    link.type, link.size = tarfile.GNUTYPE_LONGNAME, 5
    one = link.tobuf(tarfile.GNU_FORMAT) + b"aaaa\0".ljust(512, b"\0")
    with pytest.raises(tarfile.TarError):
        list(guests_members(one * 3000 + bytes(1024)))


@pytest.mark.parametrize("time", ["inf", "nan", "-1e308"])
def test_times_that_are_none_are_not_looked_at(time: str) -> None:
    assert list(guests_members(raw(named("a", mtime=time)))) == [("a", b"")]
