"""The files of a tree, read from its tar."""

import io
import tarfile
from collections.abc import Mapping

from validators.model import Tree


def read_tree(tree: Tree) -> Mapping[str, bytes]:
    """Path → content of every regular file, in the tar's order."""
    with tarfile.open(fileobj=io.BytesIO(tree.tar)) as archive:
        return {
            member.name.removeprefix("./"): content.read()
            for member in archive
            if (content := archive.extractfile(member) if member.isfile() else None) is not None
        }
