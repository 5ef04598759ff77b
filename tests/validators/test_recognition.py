"""What a recipe names is known, or said to be unknown before anything is built."""

from dataclasses import replace

import pytest

from validators.errors import UnknownRecipeError
from validators.model import Recipe
from validators.recognition import recognise

KNOWN = Recipe(language="python", python="3.12")


@pytest.mark.parametrize("runner", ["pytest", "unittest", "django"])
@pytest.mark.parametrize("python", ["3.6", "3.13"])
def test_what_is_known_passes(python: str, runner: str) -> None:
    recognise(replace(KNOWN, python=python, runner=runner))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"language": "cobol"}, "the language 'cobol'; known are python"),
        ({"python": "3.99"}, r"Python 3\.99; known are 3\.6"),
        ({"python": "2.7"}, r"Python 2\.7"),
        ({"runner": "nose"}, "the test runner 'nose'; known are pytest"),
        ({"runner": "unittest", "test_cmd": "make test"}, "does not start Python visibly"),
    ],
)
def test_what_is_unknown_is_named(change: dict[str, str], sentence: str) -> None:
    with pytest.raises(UnknownRecipeError, match=sentence):
        recognise(replace(KNOWN, **change))  # type: ignore[arg-type]  # fields of a recipe
