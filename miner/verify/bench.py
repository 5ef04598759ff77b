"""What examines tasks, and the call that crosses to a worker."""

from collections.abc import Sequence
from typing import Protocol

from validators.model import Examination, Policy, Recipe, Task


class Bench(Protocol):
    """What examines a task, here or on a cluster: `validators.workshop.Workshop`. Picklable."""

    def examine(self, task: Task, *, policy: Policy, stored: Sequence[Recipe]) -> Examination:
        """Recipes tried in order → verdict. ValidatorError when the machinery failed."""
        ...

    def close(self) -> None:
        """Remove this process's containers; calls under way end at once."""
        ...


def examine(bench: Bench, task: Task, policy: Policy, stored: Sequence[Recipe]) -> Examination:
    """What crosses to a worker. Positional: Dask takes keywords for its own."""
    return bench.examine(task, policy=policy, stored=stored)
