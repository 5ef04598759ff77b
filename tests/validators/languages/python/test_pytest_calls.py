"""Options of pytest that a project's own calls give, inside of whatever wrapper."""

from collections.abc import Mapping

import pytest

from validators.languages.python.pytest_calls import pytest_options

PATHS = ("ci/pytest.ini", "src/a/plugin.py", "tests/helpers/__init__.py", "tests/test_a.py")

CALLS: Mapping[str, tuple[Mapping[str, str], tuple[str, ...]]] = {
    "make": (
        {"Makefile": "test:\n\tpython -m pytest -c ci/pytest.ini tests\n"},
        ("-c", "ci/pytest.ini", "--rootdir=."),
    ),
    "CI": (
        {".github/workflows/a.yml": "steps: [{run: 'coverage run -m pytest -p a.plugin -x'}]"},
        ("-p", "a.plugin"),
    ),
    "nox": (
        {"noxfile.py": "def t(s):\n    s.run('pytest', '--ds=tests.settings', *s.posargs)\n"},
        ("--ds=tests.settings",),
    ),
    "nox, as a module": (
        {"noxfile.py": "def t(s):\n    s.run('python', '-m', 'pytest', '--ds', 'a.b')\n"},
        ("--ds=a.b",),
    ),
    "hatch": (
        {"pyproject.toml": "[tool.hatch.envs.default.scripts]\n"
         'test = "pytest --import-mode=importlib {args:tests}"\n'},
        ("--import-mode=importlib",),
    ),
    "invoke": ({"tasks.py": "c.run('pytest --ds=a.b -v')"}, ("--ds=a.b",)),
}  # fmt: skip


@pytest.mark.parametrize("wrapper", CALLS)
def test_the_call_inside_of_the_wrapper_counts(wrapper: str) -> None:
    files, expected = CALLS[wrapper]
    assert pytest_options(files, PATHS, "") == expected


def test_tox_is_asked_first() -> None:
    files = {"Makefile": "test:\n\tpytest --ds=b tests\n"}
    tox = "[testenv]\ncommands =\n  {envpython} -m pytest --ds a {posargs}\n"
    assert pytest_options(files, PATHS, tox) == ("--ds=a",)


def test_a_call_without_any_leaves_the_word_to_the_next() -> None:
    files = {"Makefile": "test:\n\tpytest -v tests\nall:\n\tpytest -oasyncio_mode=auto tests\n"}
    assert pytest_options(files, PATHS, "") == ("-o", "asyncio_mode=auto")


@pytest.mark.parametrize(
    "call",
    [
        "pytest -x -n auto --cov=a --cov-report=term -k 'not slow' -m fast tests",
        "pytest -p no:cacheprovider tests",
        "pytest -p xdist tests",
        "pytest -c gone.ini tests",
        "pytest -c $CONFIG tests",
        "pytest --ds={envname} tests",
        "pytest -o addopts='' tests",
        "pip install pytest -c ci/pytest.ini",
        "pip install pytest-django --ds=a",
        "pytest -c",
    ],
)
def test_what_is_measured_chosen_or_not_there_is_left_out(call: str) -> None:
    assert pytest_options({"Makefile": f"test:\n\t{call}\n"}, PATHS, "") == ()
