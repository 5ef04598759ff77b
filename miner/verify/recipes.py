"""Which stored recipes are worth trying before those that the tree itself proposes."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from miner.model import StoredRecipe
from validators.environment import KeyedTree, environment_key
from validators.model import Maker, Recipe, Task

LEARNED = 2
"""Learned recipes tried at the most: older ones belong to older times."""


def stored_recipes(rows: Sequence[StoredRecipe], task: Task) -> tuple[Recipe, ...]:
    """A person's newest recipe, then distinct learned ones, fit for this task.

    Of the learned ones, those first whose environment this commit would share if it had been merged
    on the same day; then the newest. `rows`: newest first. A person's recipe is taken as it is; the
    examination gives it the task's date when it names neither date nor lock. A learned one gives
    its steps; what it had locked was of another date.
    """
    people = [replace(row.recipe, origin="maintainer") for row in rows if row.author is not None]
    learned = [row for row in rows if row.author is None]
    tree = KeyedTree.of(task.tree) if learned else None
    near = [row for row in learned if tree is not None and _would_share(row, tree)]
    fit = dict.fromkeys(_learned(row, task.merged_at) for row in (*near, *learned))
    return tuple(people[:1] + list(fit)[:LEARNED])


def _would_share(row: StoredRecipe, tree: KeyedTree) -> bool:
    """Whether the tree's environment of this recipe, its lock included, has the row's key.

    An environment that is one commit's own has that commit in its key: but for that, here.
    """
    if row.base_image is None or row.base_commit is None:
        return False
    there = replace(tree, commit=row.base_commit)
    keys = {
        environment_key(
            there,
            row.recipe,
            base=row.base_image,
            repository=row.repo,
            maker=Maker.MINER,
            own=own,
        )
        for own in (False, True)
    }
    return row.environment_key in keys


def _learned(row: StoredRecipe, merged_at: datetime) -> Recipe:
    return replace(row.recipe, origin="stored", lock=None, cutoff_at=merged_at)
