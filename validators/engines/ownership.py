"""Whose container is it? A label names the process that started it, so orphans can be told.

A pid alone is not enough: pids are reused, and a miner may itself run in a container. So the label
has the boot's id, the pid namespace, the pid and that process's start time. Of owners that this
process cannot see (another host, another pid namespace) nothing is said.
"""

import os
import uuid
from dataclasses import dataclass

from validators.processes import HIDDEN, boot, namespace, started

OWNER_LABEL = "miner.owner"
SESSION_LABEL = "miner.session"


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
    return Owner(boot(), namespace(), os.getpid(), started(os.getpid()))


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
    if owner.boot != boot() or owner.namespace != namespace():
        return False
    return started(owner.pid) not in {owner.started, HIDDEN}
