"""What another user of this machine sees, to whom /proc shows no processes but his own."""

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest

NOBODY = 65534

_BEFORE = f"""
import ctypes, encodings.ascii, json, os, sys
def become():
    os.setgroups([])
    os.setgid({NOBODY})
    os.setuid({NOBODY})
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: else its own /proc is not its own
"""
_AFTER = """
json.dump(told, sys.stdout)
"""
_MOUNT = 'mount -t proc -o hidepid=2 proc /proc && exec "$0" "$@"'


def said_by_another_user(code: str, *arguments: str) -> Sequence[object]:
    """`told`, a list that the code leaves: its imports are root's, the rest is the other user's.

    Skips where this process may not become another user or not mount.
    """
    if os.geteuid() != 0:
        pytest.skip("only root can look as another user does")
    lines = textwrap.dedent(code).strip().splitlines()
    imports = [line for line in lines if line.startswith(("from ", "import "))]
    rest = lines[len(imports) :]
    script = "\n".join([_BEFORE, *imports, "become()", *rest, _AFTER])
    ended = subprocess.run(
        ["unshare", "--mount", "sh", "-c", _MOUNT, sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[1],
    )
    if "mount" in ended.stderr or "unshare" in ended.stderr:
        pytest.skip("this machine lets nobody mount")
    assert ended.returncode == 0, ended.stderr
    found: list[object] = json.loads(ended.stdout)
    return found
