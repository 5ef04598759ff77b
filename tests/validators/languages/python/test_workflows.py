"""noxfile, Pipfile and environment.yml."""

from validators.languages.python.workflows import (
    conda_lines,
    conda_pythons,
    nox_lines,
    pipfile_groups,
)

NOXFILE = """
import nox

@nox.session(python=["3.8", "3.9"])
def tests(session):
    session.install("-e", ".[extra]")
    session.install("pytest", "mock>=3", "-r", "requirements/test.txt")
    session.run("pytest")

@nox.session
def docs(session):
    session.install("sphinx")
"""
CONDA = """
name: x
channels: [conda-forge]
dependencies:
  - python=3.8
  - numpy>=1.18
  - conda-forge::pytables
  - gcc_linux-64
  - pip:
    - responses==0.12
    - -e .
"""


def test_sessions_that_test_tell_what_they_install() -> None:
    assert nox_lines(NOXFILE) == (".[extra]", "pytest", "mock>=3", "-r requirements/test.txt")


def test_all_sessions_tell_when_none_is_for_tests() -> None:
    assert nox_lines("def ci(s):\n    s.install('pytest')\n") == ("pytest",)


def test_a_pipfile_tells_both_groups() -> None:
    text = '[packages]\nsix = "*"\n[dev-packages]\nmock = ">=3"\nx = {git = "https://x.invalid"}\n'
    assert pipfile_groups(text) == {"default": ("six",), "dev": ("mock>=3",)}


def test_an_environment_file_tells_distributions_and_pythons() -> None:
    assert conda_lines(CONDA) == ("numpy", "tables", "responses==0.12")
    assert conda_pythons(CONDA) == ("3.8",)


def test_broken_files_tell_nothing() -> None:
    assert nox_lines("print 'x'") == ()
    assert pipfile_groups("[") == {}
    assert conda_lines("a: [") == ()
