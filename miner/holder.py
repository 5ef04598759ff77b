"""Who holds a lease, and whether that process is still alive.

A holder is `machine/pid/start/nonce`. A killed process cannot end its leases; on the same machine
(same boot, same pid namespace) its successor sees at once that it is gone and need not wait until
they run out. Of other machines nothing is concluded.
"""

import os
import secrets
import socket
from pathlib import Path

_PROC = Path("/proc")


def new_holder() -> str:
    """A name for one piece of work of this process, unlike any other."""
    pid = os.getpid()
    return f"{_machine()}/{pid}/{_started(pid) or 0}/{secrets.token_hex(4)}"


def is_dead(holder: str) -> bool:
    """Surely dead: a process of this machine that is no more. False when that cannot be known."""
    machine, _, rest = holder.partition("/")
    pid, _, rest = rest.partition("/")
    started, _, _ = rest.partition("/")
    if machine != _machine() or not pid.isdecimal() or started in {"", "0"}:
        return False
    return _started(int(pid)) != started


def _machine() -> str:
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()
        space = (_PROC / "self/ns/pid").readlink().name
    except OSError:
        return socket.gethostname()
    return f"{socket.gethostname()}-{boot[:8]}-{space.strip('pid:[]')}"


def _started(pid: int) -> str | None:
    """Clock ticks after boot at which the process began; None when it is gone or a zombie."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text("utf-8", errors="replace")
    except OSError:
        return None
    # the command's name is in parentheses and may hold spaces: proc(5)
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in {"Z", "X"} else fields[19]
