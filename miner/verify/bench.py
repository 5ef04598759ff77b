"""What examines tasks, and the call that crosses to a worker."""

from collections.abc import Sequence
from typing import Protocol

from miner.model import Candidate
from validators.model import Examination, Policy, Recipe, Task, Tree


class Bench(Protocol):
    """What examines a task, here or on a cluster: `validators.workshop.Workshop`. Picklable."""

    def examine(self, task: Task, *, policy: Policy, stored: Sequence[Recipe]) -> Examination:
        """Recipes tried in order → verdict. ValidatorError when the machinery failed."""
        ...

    def close(self) -> None:
        """Remove this process's containers; calls under way end at once."""
        ...


def task_of(candidate: Candidate, tree: Tree) -> Task:
    """What is examined of a candidate; `tree` is that of its base commit."""
    return Task(
        instance_id=candidate.instance_id,
        repo=candidate.repo,
        tree=tree,
        patch=candidate.patch,
        test_patch=candidate.test_patch,
        merged_at=candidate.merged_at,
        language=candidate.language,
    )


def examine(bench: Bench, task: Task, policy: Policy, stored: Sequence[Recipe]) -> Examination:
    """What crosses to a worker. Positional: Dask takes keywords for its own."""
    return bench.examine(task, policy=policy, stored=stored)
