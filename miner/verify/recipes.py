"""Which stored recipes are worth trying before those that the tree itself proposes."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from miner.model import StoredRecipe
from validators.model import Recipe

LEARNED = 2
"""Learned recipes tried at the most: older ones belong to older times."""


def stored_recipes(rows: Sequence[StoredRecipe], *, merged_at: datetime) -> tuple[Recipe, ...]:
    """A person's newest recipe, then the newest distinct learned ones, fit for this task.

    `rows`: newest first. A person's recipe is taken as it is; the examination gives it the task's
    date when it names neither date nor lock. A learned one gives its steps; what it had locked was
    of another date.
    """
    people = [replace(row.recipe, origin="maintainer") for row in rows if row.author is not None]
    learned: list[Recipe] = []
    for row in rows:
        recipe = _learned(row, merged_at)
        if row.author is None and recipe not in learned:
            learned.append(recipe)
    return tuple(people[:1] + learned[:LEARNED])


def _learned(row: StoredRecipe, merged_at: datetime) -> Recipe:
    return replace(row.recipe, origin="stored", lock=None, cutoff_at=merged_at)
