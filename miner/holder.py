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

from miner.errors import MinerError
from validators.processes import HIDDEN, boot, namespace, started

END_S = 5
"""So long the end waits for a beat that is under way: on a database that is silent it is not."""


def new_holder() -> str:
    """A name for one piece of work of this process, unlike any other."""
    pid = os.getpid()
    return f"{_machine()}/{pid}/{started(pid) or 0}/{secrets.token_hex(4)}"


def is_dead(holder: str) -> bool:
    """Surely dead: a process of this machine that is no more. False when that cannot be known."""
    machine, _, rest = holder.partition("/")
    pid, _, rest = rest.partition("/")
    began, _, _ = rest.partition("/")
    if machine != _machine() or not pid.isdecimal() or began in {"", "0", HIDDEN}:
        return False
    return started(int(pid)) not in {began, HIDDEN}


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
    booted, space = boot(), namespace()
    if not booted or not space:
        return socket.gethostname()
    return f"{socket.gethostname()}-{booted[:8]}-{space}"
