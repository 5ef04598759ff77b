"""Whose container is it? A label names the process that started it, so orphans can be told.

A pid alone is not enough: pids are reused, and a miner may itself run in a container. So the label
has the boot's id, the pid namespace, the pid and that process's start time. Of owners that this
process cannot see (another host, another pid namespace) nothing is said.
"""

import os
import uuid
from dataclasses import dataclass
from pathlib import Path

OWNER_LABEL = "miner.owner"
SESSION_LABEL = "miner.session"

_PROC = Path("/proc")

_HIDDEN = "hidden"
"""Instead of a start: there is such a process, of a user whose processes are not shown to us."""


@dataclass(frozen=True, slots=True)
class Owner:
    """One process on one boot of one host, as seen from one pid namespace."""

    boot: str
    namespace: str
    pid: int
    started: str  # clock ticks after boot

    def __str__(self) -> str:
        return f"{self.boot}:{self.namespace}:{self.pid}:{self.started}"


def this_process() -> Owner:
    """The running process. Where /proc is missing, parts are empty and nobody is ever dead."""
    return Owner(_boot(), _namespace(), os.getpid(), _started(os.getpid()))


def new_session() -> str:
    """A name for one engine connection of this process."""
    return uuid.uuid4().hex


def parse(label: str) -> Owner | None:
    """The owner a label names; None when it is not one of ours."""
    parts = label.split(":")
    if len(parts) != 4 or not parts[2].isdigit():
        return None
    return Owner(parts[0], parts[1], int(parts[2]), parts[3])


def is_dead(owner: Owner) -> bool:
    """True only when this process can be sure: same boot, same pid namespace, process gone."""
    if not owner.boot or not owner.namespace:
        return False
    if owner.boot != _boot() or owner.namespace != _namespace():
        return False
    return _started(owner.pid) not in {owner.started, _HIDDEN}


def _boot() -> str:
    return _read(_PROC / "sys/kernel/random/boot_id").strip()


def _namespace() -> str:
    try:
        return (_PROC / "self/ns/pid").readlink().name.strip("pid:[]")
    except OSError:
        return ""


def _started(pid: int) -> str:
    """Field 22 of /proc/PID/stat; a zombie counts as gone. The name in field 2 may hold spaces."""
    stat = _read(_PROC / str(pid) / "stat")
    if not stat and _is_there(pid):
        return _HIDDEN
    fields = stat.rpartition(")")[2].split()
    if len(fields) < 20 or fields[0] in {"Z", "X"}:
        return ""
    return fields[19]


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
