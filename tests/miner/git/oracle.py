"""What git itself makes of patches on a whole tree: the slow and sure way, to compare with."""

import tempfile
from collections.abc import Sequence

from miner.git import Mirror


def tree_id(mirror: Mirror, commit: str) -> str:
    """The object id of a commit's tree."""
    return mirror._said(mirror._run("rev-parse", f"{commit}^{{tree}}")).decode().strip()


def applied(mirror: Mirror, commit: str, patches: Sequence[bytes]) -> str | None:
    """The tree id of `commit` with `patches` applied in order; None when one does not apply.

    Happens in a throw-away index and object folder: the mirror is not touched.
    """
    with tempfile.TemporaryDirectory(prefix="miner-oracle-") as scratch:
        env = mirror._scratch_env(scratch)
        mirror._said(mirror._run("read-tree", commit, env=env))
        if not mirror._applied(patches, env):
            return None
        return mirror._said(mirror._run("write-tree", env=env)).decode().strip()
