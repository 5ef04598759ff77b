"""Files for a container: what is in the tar is what was given."""

import io
import tarfile

from validators.archive import pack


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
