"""Who holds a lease, whether that process is still alive, and how it shows that it is.

A holder is `machine/pid/start/nonce`. A killed process cannot end its leases; on the same machine
(same boot, same pid namespace) its successor sees at once that it is gone and need not wait until
they run out. Of other machines nothing is concluded.
"""

import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from miner.errors import MinerError

END_S = 5
"""So long the end waits for a beat that is under way: on a database that is silent it is not."""

_PROC = Path("/proc")

_HIDDEN = "hidden"
"""Instead of a start: there is such a process, of a user whose processes are not shown to us."""


def new_holder() -> str:
    """A name for one piece of work of this process, unlike any other."""
    pid = os.getpid()
    return f"{_machine()}/{pid}/{_started(pid) or 0}/{secrets.token_hex(4)}"


def is_dead(holder: str) -> bool:
    """Surely dead: a process of this machine that is no more. False when that cannot be known."""
    machine, _, rest = holder.partition("/")
    pid, _, rest = rest.partition("/")
    started, _, _ = rest.partition("/")
    if machine != _machine() or not pid.isdecimal() or started in {"", "0", _HIDDEN}:
        return False
    return _started(int(pid)) not in {started, _HIDDEN}


class Heartbeat:
    """Beats for every name that is alive. A beat that fails is tried again at the next one."""

    def __init__(self, beat: Callable[[str], object], *, every_s: float) -> None:
        self._beat = beat
        self._every_s = every_s
        self._alive: set[str] = set()
        self._lock = threading.Lock()
        self._stop = threading.Event()

    def add(self, name: str) -> None:
        """Beat for it from now on."""
        with self._lock:
            self._alive.add(name)

    def remove(self, name: str) -> None:
        """Beat for it no longer."""
        with self._lock:
            self._alive.discard(name)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Beat while the block lasts."""
        thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join(END_S)

    def _run(self) -> None:
        while not self._stop.wait(self._every_s):
            with self._lock:
                names = sorted(self._alive)
            for name in names:
                # the database may be away for a moment; a lease holds for ten beats
                with suppress(MinerError):
                    self._beat(name)


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
        return _HIDDEN if _is_there(pid) else None
    # the command's name is in parentheses and may hold spaces: proc(5)
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in {"Z", "X"} else fields[19]


def _is_there(pid: int) -> bool:
    """Whether a signal would find it, also where /proc is mounted with `hidepid`."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True
