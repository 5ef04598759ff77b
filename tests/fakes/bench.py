"""A picklable workshop for workers in other processes: it leaves marks in a folder."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.miner.store.samples import accepted, candidate
from validators.model import Examination, Policy, Recipe, Task


@dataclass(frozen=True)
class MarkingBench:
    """Accepts everything. `stuck` times it hangs instead, for whoever kills its process."""

    folder: Path
    stuck: int = 0

    def examine(self, task: Task, *, policy: Policy, stored: Sequence[Recipe]) -> Examination:  # noqa: ARG002
        """Leave `<pid>-<nth>-<instance id>`; hang the first `stuck` times."""
        nth = len(list(self.folder.iterdir()))
        (self.folder / f"{os.getpid()}-{nth}-{task.instance_id}").touch()
        if nth < self.stuck:
            time.sleep(120)  # until it is killed
        number = int(task.instance_id.rpartition("-")[2])
        return accepted(candidate(number)).examination

    def close(self) -> None:
        """There is nothing to close."""
