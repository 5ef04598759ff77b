"""What went wrong with a recipe → the recipes worth trying next."""

from collections.abc import Mapping, Sequence

from validators.model import BuildFailure, Recipe, Verdict


def repair(
    recipe: Recipe, problem: BuildFailure | Verdict, files: Mapping[str, str]
) -> Sequence[Recipe]:
    """Nothing yet."""
    del recipe, problem, files
    return ()
