"""Is a process of this machine still the one it was? A pid alone is not enough: pids are reused,
and a miner may itself run in a container."""

import os
from pathlib import Path

HIDDEN = "hidden"
"""Instead of a start: there is such a process, of a user whose processes are not shown to us."""

_PROC = Path("/proc")


def started(pid: int) -> str:
    """Clock ticks after boot at which the process began (field 22 of /proc/PID/stat); "" when it is
    gone or a zombie, or there is no /proc."""
    stat = _read(_PROC / str(pid) / "stat")
    if not stat and _is_there(pid):
        return HIDDEN
    # the command's name is in parentheses and may hold spaces: proc(5)
    fields = stat.rpartition(")")[2].split()
    if len(fields) < 20 or fields[0] in {"Z", "X"}:
        return ""
    return fields[19]


def boot() -> str:
    """The id of this boot; "" where /proc does not say."""
    return _read(_PROC / "sys/kernel/random/boot_id").strip()


def namespace() -> str:
    """The number of this process's pid namespace; "" where /proc does not say."""
    try:
        return (_PROC / "self/ns/pid").readlink().name.strip("pid:[]")
    except OSError:
        return ""


def _is_there(pid: int) -> bool:
    """Whether a signal would find it, also where /proc is mounted with `hidepid`."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
