"""Plug-ins that a project's configuration of pytest calls for."""

import pytest

from validators.languages.python.pytest_settings import plugins


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pytest.ini": "[pytest]\naddopts = --cov=a --cov-report term -q"}, ("pytest-cov",)),
        ({"setup.cfg": "[tool:pytest]\naddopts = -n auto"}, ("pytest-xdist",)),
        ({"tox.ini": "[pytest]\nasyncio_mode = auto"}, ("pytest-asyncio",)),
        ({"pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["--timeout=9"]'},
         ("pytest-timeout",)),
        ({"pyproject.toml": '[tool.pytest.ini_options]\n'
          'required_plugins = "pytest-mock>=3 nbval"'},
         ("pytest-mock>=3", "nbval")),
        ({"pytest.ini": "[pytest]\naddopts = -ra", "setup.cfg": "[tool:pytest]\naddopts = --cov"},
         ()),
        ({"pytest.ini": "[pytest]\naddopts = 'unbalanced --cov"}, ("pytest-cov",)),
        ({"pyproject.toml": "not toml ["}, ()),
    ],
)  # fmt: skip
def test_options_call_for_plugins(files: dict[str, str], expected: tuple[str, ...]) -> None:
    assert tuple(plugins(files)) == expected
