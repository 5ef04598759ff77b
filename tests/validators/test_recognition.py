"""What a recipe names is known, or said to be unknown before anything is built."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from validators.errors import UnknownRecipeError
from validators.model import Recipe
from validators.recognition import complaints, dangers, recognise

KNOWN = Recipe(language="python", python="3.12")


@pytest.mark.parametrize("runner", ["pytest", "unittest", "django"])
@pytest.mark.parametrize("python", ["3.6", "3.13", "3.14"])
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


WORDS = replace(
    KNOWN,
    requirements=(".", ".[a, b]", "-r need/ci.txt", "-c limits.txt", "b>=1; python_version>'3'"),
    apt=("libcairo2", "g++", "libstdc++6"),
    env_vars=(("A_B", "$(c)"),),
    cutoff_exempt=(("ruamel.yaml", datetime(2024, 1, 1, tzinfo=UTC)),),
    lock=f"# by hand\na-b[c]==1.0 \\\n    --hash=sha256:{64 * 'a'} \\\n"
    f"    --hash=sha256:{64 * 'b'}\n"
    f"    # via x\nc==2!1.0+local ; python_version > '3' --hash=sha512:{128 * 'c'}\n"
    f"#: wheel==1 --hash=sha256:{64 * 'd'}\n",
)


def test_an_honest_recipe_is_told_nothing() -> None:
    assert list(complaints(WORDS)) == []


@pytest.mark.parametrize(
    ("recipe", "word"),
    [
        (replace(WORDS, apt=("x; rm -rf /",)), "apt: 'x; rm -rf /'"),
        (replace(WORDS, requirements=("$(id)",)), "requirements: '$(id)'"),
        (replace(WORDS, build_requirements=("a && b",)), "requirements: 'a && b'"),
        (replace(WORDS, requirements=("--index-url x",)), "requirements: '--index-url x'"),
        (replace(WORDS, env_vars=(("A=1;B", "x"),)), "env_vars: 'A=1;B'"),
        (replace(WORDS, cutoff_exempt=(("`id`", datetime(2024, 1, 1, tzinfo=UTC)),)), "`id`"),
        (replace(WORDS, timeout_s=0), "timeout_s"),
        (replace(WORDS, memory_mb=-1), "memory_mb"),
        (replace(WORDS, memory_mb=10**12), "memory_mb"),
        (replace(WORDS, timeout_s=10**12), "timeout_s"),
        (replace(WORDS, test_cmd="pytest \0"), "test_cmd"),
        (replace(WORDS, test_cmd=" "), "test_cmd: it is empty"),
        (replace(WORDS, build_cmd=""), "build_cmd: it is empty"),
        (replace(WORDS, cutoff_at=datetime(1970, 1, 1, tzinfo=UTC)), "cutoff_at: in 1970 there"),
        (replace(WORDS, lock="a==1"), "lock: 'a==1' is no pin with its hash"),
        (replace(WORDS, lock="[[package]]\nname = 'a'\n"), "lock: '[[package]]'"),
        (replace(WORDS, lock=f"a>=1 --hash=sha256:{64 * 'a'}"), "lock: 'a>=1 --hash"),
        (replace(WORDS, lock=f"a==1.* --hash=sha256:{64 * 'a'}"), "lock: 'a==1.* --hash"),
        (replace(WORDS, lock="a==1 --hash=sha256:0"), "lock: 'a==1 --hash=sha256:0'"),
        (replace(WORDS, lock=f"-r x\n{WORDS.lock}"), "lock: '-r x'"),
        (replace(WORDS, pre_install=("echo \ud800",)), "pre_install"),
    ],
)
def test_words_that_mean_something_to_a_shell_alone_are_named(recipe: Recipe, word: str) -> None:
    (complaint,) = complaints(recipe)
    assert word in complaint


@pytest.mark.parametrize(
    ("change", "is_dangerous"),
    [
        ({"memory_mb": 0}, True),
        ({"timeout_s": 1e18}, True),
        ({"apt": ("--evil",)}, True),
        ({"env_vars": (("A=B", "c"),)}, True),
        ({"env_vars": (("A", "b\0"),)}, True),
        ({"lock": "a==1"}, False),
        ({"requirements": ("--odd x",)}, False),
    ],
)
def test_what_would_lift_a_limit_is_told_from_what_only_fails(
    change: dict[str, object], is_dangerous: bool
) -> None:
    recipe = replace(WORDS, **change)  # type: ignore[arg-type]  # fields of a recipe
    assert bool(list(dangers(recipe))) is is_dangerous
    assert list(complaints(recipe))
