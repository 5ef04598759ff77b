"""Does this version know what a recipe names? Asked at the door, before anything is built."""

from validators.errors import UnknownRecipeError
from validators.invocation import invocation
from validators.languages import LANGUAGES
from validators.model import Recipe


def recognise(recipe: Recipe) -> None:
    """UnknownRecipeError for a language, interpreter or runner that this version does not know.

    So is a test command that nothing can report from inside.
    """
    language = LANGUAGES.get(recipe.language)
    if language is None:
        raise UnknownRecipeError(
            f"The recipe names the language {recipe.language!r}; known are {', '.join(LANGUAGES)}."
        )
    if recipe.python not in language.versions:
        raise UnknownRecipeError(
            f"The recipe asks for {language.name.capitalize()} {recipe.python}; known are "
            f"{', '.join(language.versions)}."
        )
    if recipe.runner not in language.read_report:
        raise UnknownRecipeError(
            f"The recipe names the test runner {recipe.runner!r}; known are "
            f"{', '.join(language.read_report)}."
        )
    invocation(recipe, selection=())
