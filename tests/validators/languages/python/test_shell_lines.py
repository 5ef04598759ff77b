"""What CI, Dockerfiles, Makefiles and tox bring and run beside the requirements."""

import pytest

from validators.languages.python.shell_lines import (
    apt_packages,
    django_command,
    docker_pythons,
    is_script,
    pip_lines,
    submodules,
)

WORKFLOW = """
jobs:
  test:
    steps:
      - run: |
          sudo apt-get update && sudo apt-get install -y --no-install-recommends libxml2-dev \\
            libxslt1-dev=1.1 python3-dev git postgresql-client
          pip install -U pip && pip install "b>=1; python_version > '3'" -r dev.txt -e .[all] c==1
"""
DOCKERFILE = "FROM docker.io/python:3.9-slim AS x\nRUN apt install graphviz && pip install d\n"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("Makefile", True),
        ("Dockerfile", True),
        ("docker/Dockerfile.test", True),
        ("a/b/Dockerfile", False),
        ("tests/Makefile", False),
        ("Dockerfile_parser.py", False),
    ],
)
def test_scripts_are_known_by_name(path: str, *, expected: bool) -> None:
    assert is_script(path) is expected


def test_system_packages_are_told_without_the_machines_own() -> None:
    files = {".github/workflows/ci.yml": WORKFLOW, "Dockerfile": DOCKERFILE}
    assert apt_packages(files) == ("libxml2-dev", "libxslt1-dev", "graphviz")


def test_system_packages_have_a_bound() -> None:
    names = " ".join(f"lib{number}-dev" for number in range(100))
    assert len(apt_packages({"Makefile": f"a:\n\tapt-get install -y {names}\n"})) == 20


def test_what_pip_installs_is_told() -> None:
    files = {".github/workflows/ci.yml": WORKFLOW, "Dockerfile": DOCKERFILE}
    assert pip_lines(files) == (
        *("pip", "b>=1; python_version > '3'", "-r dev.txt", ".[all]", "c==1", "d"),
    )


@pytest.mark.parametrize(
    "words",
    [
        "-r $REQUIREMENTS",
        "git+https://x.invalid/a.git",
        "https://x.invalid/a.zip",
        "$PACKAGES",
        "./wheels/a.whl a.whl",
        "--index-url private",
        "-c $CONSTRAINTS",
        "${{ matrix.deps }}",
    ],
)
def test_addresses_variables_and_options_are_no_requirements(words: str) -> None:
    assert pip_lines({"Makefile": f"a:\n\tpip install {words}\n"}) == ()


def test_a_dockerfile_tells_the_python() -> None:
    assert docker_pythons({"Dockerfile": DOCKERFILE, "Makefile": "FROM python:3.8"}) == ("3.9",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("test:\n\tpython src/manage.py test\n", "python src/manage.py test"),
        ("test:\n\tpython gone/manage.py test\n", None),
        ("test:\n\tpython -W error -m django test\n", "python -m django test"),
        ("test:\n\tdjango-admin test x\n", "python -m django test"),
        ("test:\n\tpython src/manage.py test\n\tpytest\n", None),
        ("test:\n\tpython -m unittest\n", None),
    ],
)
def test_djangos_own_runner_is_found(text: str, expected: str | None) -> None:
    assert django_command({"Makefile": text}, ["src/manage.py"], "") == expected


def test_submodules_are_told() -> None:
    text = '[submodule "x"]\n\tpath = tests/x\n\turl = https://x.invalid/x.git\n'
    assert submodules(text) == ("tests/x",)
