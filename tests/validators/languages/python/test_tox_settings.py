"""tox's configuration from all the places it is kept in."""

from collections.abc import Mapping

import pytest

from validators.languages.python.interpreters import tox_versions
from validators.languages.python.requirement_files import tox_extras, tox_lines
from validators.languages.python.tox_settings import tox_text
from validators.languages.python.variables import variables

INI = "[tox]\nenvlist = py38,py39\n[testenv]\ndeps =\n  b>=1\nextras = all\nsetenv =\n  A_B = c\n"
TOML = """
env_list = ["3.8", "3.9"]
[env_run_base]
deps = ["b>=1"]
extras = ["all"]
set_env = { A_B = "c", D = { replace = "env", name = "E" } }
commands = [["pytest", "-k", "a b"]]
"""
PLACES: Mapping[str, Mapping[str, str]] = {
    "tox.ini": {"tox.ini": INI},
    "setup.cfg": {"setup.cfg": INI.replace("[tox]", "[tox:tox]")},
    "pyproject.toml, as an ini": {
        "pyproject.toml": f'[tool.tox]\nlegacy_tox_ini = """\n{INI}"""\n',
        "tox.ini": "[flake8]\nmax-line-length = 100\n",
    },
    "pyproject.toml": {
        "pyproject.toml": "[tool.tox]\n" + TOML.replace("[env_run_base]", "[tool.tox.env_run_base]")
    },
    "tox.toml": {"tox.toml": TOML},
}


@pytest.mark.parametrize("place", PLACES)
def test_what_tox_is_told_is_the_same_wherever_it_is_kept(place: str) -> None:
    text = tox_text(PLACES[place])
    assert tox_lines(text) == ("b>=1",)
    assert tox_extras(text) == ("all",)
    assert tox_versions(text) == ("3.8", "3.9")
    assert variables({}, text) == (("A_B", "c"),)


def test_an_environment_called_test_adds_to_the_base() -> None:
    text = tox_text({"tox.toml": TOML + '[env.test]\ndeps = ["c"]\n[env.docs]\ndeps = ["d"]\n'})
    assert tox_lines(text) == ("b>=1", "c")


def test_a_command_is_one_line() -> None:
    assert '  pytest -k "a b"\n' in tox_text({"tox.toml": TOML})


@pytest.mark.parametrize(
    "files",
    [{}, {"tox.toml": "["}, {"pyproject.toml": "[tool]\ntox = 1\n"}, {"setup.cfg": "[a\n"}],
)
def test_no_tox_is_no_text(files: Mapping[str, str]) -> None:
    assert tox_text(files) == ""
