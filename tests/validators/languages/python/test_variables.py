"""Variables that tox and CI give a project's tests."""

from collections.abc import Mapping

import pytest

from validators.languages.python.variables import variables

WORKFLOW = """
env:
  SETTINGS: tests.settings
  RAN_BY: ${{ github.actor }}
jobs:
  lint:
    env: {STYLE: black}
    steps: [{run: ruff check}]
  a:
    env: {DEBUG: true, DB: sqlite, LEVEL: 3}
    steps:
      - {run: pip install -e ., env: {BUILD_ONLY: 1}}
      - {run: pytest, env: {SLOW_TOO: 1}}
      - uses: actions/checkout@v4
  b:
    env: {DB: mysql}
    steps: [{run: make test}]
"""


def _from(text: str, path: str = ".github/workflows/ci.yml") -> Mapping[str, str]:
    return dict(variables({path: text}, ""))


def test_jobs_that_test_tell_what_they_agree_on() -> None:
    expected = {"SETTINGS": "tests.settings", "DEBUG": "true", "LEVEL": "3", "SLOW_TOO": "1"}
    assert _from(WORKFLOW) == expected


def test_travis_tells_what_is_for_all_its_jobs() -> None:
    text = "env:\n  global:\n  - A=1 B='x'\n  - C: d\n  - secure: abc=\n  matrix: [D=1, D=2]\n"
    assert _from(text, ".travis.yml") == {"A": "1", "B": "'x'", "C": "d"}
    assert _from("env: [A=1, A=2]", ".travis.yml") == {}


@pytest.mark.parametrize(
    "line",
    [
        "API_TOKEN: x",
        "PYTEST_ADDOPTS: -x",
        "PIP_CACHE_DIR: x",
        "FORCE_COLOR: 1",
        "DATABASE_URL: x",
        "BROKER: amqp://x",
        "WHERE: /home/runner/x",
        "WHERE: ~/x",
        "DB: localhost",
        "lower: x",
        "EMPTY: ''",
        "PYTHONPATHS: x",
        "DEFAULT_PYTHON: 3",
    ],
)
def test_what_is_the_runners_the_machines_or_a_services_is_left_out(line: str) -> None:
    assert _from(f"env: {{{line}}}\njobs: {{a: {{steps: [{{run: pytest}}]}}}}\n") == {}


def test_toxs_word_is_the_last() -> None:
    tox = (
        "[testenv]\nsetenv =\n  DJANGO_SETTINGS_MODULE = tests.settings\n  A = {toxinidir}\n"
        "  PYTHONPATH = src\n  PYTHONWARNINGS = error\n  API_TOKEN = x\n  DEBUG = 0\n"
    )
    found = dict(variables({".github/workflows/ci.yml": WORKFLOW}, tox))
    assert found["DEBUG"] == "0"
    assert found["DJANGO_SETTINGS_MODULE"] == "tests.settings"
    assert found["PYTHONPATH"] == "src"
    assert not {"A", "PYTHONWARNINGS", "API_TOKEN"} & set(found)


@pytest.mark.parametrize("text", ["[", "- a", "jobs: [a]", "jobs: {a: {steps: {run: pytest}}}"])
def test_what_is_no_workflow_sets_nothing(text: str) -> None:
    assert _from(text) == {}
    assert variables({}, "[testenv") == ()
