"""Which test files are run: pure. The same in every state, and when a model's patch is graded."""

from collections.abc import Sequence

from validators.errors import UnknownRecipeError
from validators.languages import LANGUAGES
from validators.model import Recipe
from validators.patching import file_patches


def runnable(test_files: Sequence[str], test_patch: bytes) -> tuple[str, ...]:
    """Of `test_files`, those the test patch does not delete; none: the whole suite is run."""
    deleted = {path for each in file_patches(test_patch) if each.is_deletion for path in each.paths}
    return tuple(path for path in test_files if path not in deleted)


def selected(test_patch: bytes, recipe: Recipe) -> tuple[str, ...]:
    """What to run for an instance of this test patch: the same files in every state."""
    language = LANGUAGES.get(recipe.language)
    if language is None:
        raise UnknownRecipeError(f"The recipe names the language {recipe.language!r}.")
    paths = [path for each in file_patches(test_patch) for path in each.paths[-1:]]
    return runnable(language.test_files(paths, recipe), test_patch)
