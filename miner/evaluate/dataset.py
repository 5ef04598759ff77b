"""An instance as evaluation needs it, whether it came from a snapshot or from a file."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime

from validators.model import GradingTask, Recipe, Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRow:
    """One instance. `row_hash` is the sha256 of all that decides a grade."""

    instance_id: str
    repo: str
    base_commit: str
    patch: bytes = field(repr=False)
    test_patch: bytes = field(repr=False)
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    recipe: Recipe
    merged_at: datetime
    row_hash: str
    whole_suite: bool = False  # PASS_TO_PASS is of more than the changed test files

    def task(self, tree: Tree) -> GradingTask:
        """With the tree of its base commit, what the grader is given."""
        return GradingTask(
            instance_id=self.instance_id,
            repo=self.repo,
            tree=tree,
            patch=self.patch,
            test_patch=self.test_patch,
            fail_to_pass=self.fail_to_pass,
            pass_to_pass=self.pass_to_pass,
            recipe=self.recipe,
            whole_suite=self.whole_suite,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A snapshot (`name` is its name) or a file (`name` is its content hash). Rows sorted by id.

    A whole export is its snapshot. `also` are names under which the same content may be graded.
    `rows` may be some only of what it holds: then `others` are the ids of the rest.
    """

    name: str
    rows: tuple[DatasetRow, ...]
    also: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def patch_hash(model_patch: bytes) -> str:
    """How a model's patch is known."""
    return hashlib.sha256(model_patch).hexdigest()
