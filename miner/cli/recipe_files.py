"""A recipe as a file of a person's: read, with one sentence about what is wrong, or written."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from miner.errors import ConfigError
from miner.given import read_text
from miner.jsontext import parsed
from miner.publish.row import GivenRecipe
from validators.errors import UnknownRecipeError
from validators.model import Recipe
from validators.recognition import complaints, recognise

RECIPE: TypeAdapter[Recipe] = TypeAdapter(GivenRecipe)

_LISTS = frozenset({"apt", "pre_install", "requirements", "build_requirements", "source_paths"})
_PAIRS: Mapping[str, str] = {
    "env_vars": 'variables with their values as texts, as {"NAME": "value"}',
    "cutoff_exempt": 'packages with their dates, as {"wheel": "2024-05-01T00:00:00Z"}',
}
_MADE_ANEW = frozenset({"origin", "lock", "cutoff_at"})
"""What each candidate gets of its own, unless a person says otherwise."""


def document(recipe: Recipe) -> dict[str, object]:
    """All fields, JSON-able, as `read_recipe` reads them."""
    found: dict[str, object] = RECIPE.dump_python(recipe, mode="json")
    return found


def beginning(recipe: Recipe, *, beside: Sequence[Recipe]) -> dict[str, object]:
    """The same without what each candidate gets of its own: a person goes on from there.

    `beside`: what the tree proposes; packages exempt from the date there are so by themselves.
    """
    usual = recipe.cutoff_exempt in {each.cutoff_exempt for each in beside}
    without = _MADE_ANEW | ({"cutoff_exempt"} if usual else set())
    return {name: value for name, value in document(recipe).items() if name not in without}


def read_recipe(file: Path) -> Recipe:
    """A recipe from JSON. ConfigError with file, field and reason.

    UnknownRecipeError when this version could do nothing with it.
    """
    recipe = _recipe(file, _object(file))
    try:
        recognise(recipe)
    except UnknownRecipeError as error:
        raise UnknownRecipeError(f"{file}: {error}") from error
    return recipe


def _object(file: Path) -> dict[str, object]:
    try:
        found = parsed(read_text(file))
    except ValueError as error:
        raise ConfigError(f"{file} is not JSON ({error}).") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{file}: a JSON object is expected.")
    return found


def _recipe(file: Path, given: Mapping[str, object]) -> Recipe:
    unknown = sorted(set(given) - {field.name for field in fields(Recipe)})
    if unknown:
        raise ConfigError(f"{file}: {unknown[0]} is no field of a recipe.")
    spelt = {name: _spelt(name, value) for name, value in given.items()}
    try:
        recipe = RECIPE.validate_python({"language": "python", "origin": "maintainer", **spelt})
    except ValidationError as error:
        raise ConfigError(f"{file}: {_wrong(error)}.") from error
    if (complaint := next(complaints(recipe), None)) is not None:
        raise ConfigError(f"{file}: {complaint}")
    return recipe


def _wrong(error: ValidationError) -> str:
    """The first thing that is: which field, and what is wanted there."""
    first = error.errors()[0]
    field = str(first["loc"][0]) if first["loc"] else ""
    if field in _LISTS:
        return f"{field}: give a list of texts, or one text"
    if field in _PAIRS:
        return f"{field}: give {_PAIRS[field]}"
    reason = first["msg"].removeprefix("Value error, ")
    return f"{field}: {reason}" if field else reason


def _spelt(name: str, value: object) -> object:
    """One word stands for a list of it, an object for its pairs."""
    if name in _LISTS and isinstance(value, str):
        return [value]
    if name in _PAIRS and isinstance(value, dict):
        return list(value.items())
    return value
