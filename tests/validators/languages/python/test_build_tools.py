"""What isolated builds ask for, by a project's files."""

from collections.abc import Mapping

import pytest

from validators.languages.python.build_tools import build_tools

CASES: Mapping[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "nothing said": ({"setup.py": "setup(name='a')"}, ("setuptools>=40.8", "wheel")),
    "setup_requires": (
        {"setup.py": "setup(name='a', setup_requires=['pbr>=2'])"},
        ("setuptools>=40.8", "pbr>=2", "wheel"),
    ),
    "setuptools with wheel": (
        {"pyproject.toml": "[build-system]\nrequires = ['setuptools>=61', 'wheel<1']\n"},
        ("setuptools>=61", "wheel<1"),
    ),
    "hatchling": (
        {"pyproject.toml": "[build-system]\nrequires = ['hatchling', 'hatch-vcs']\n"},
        ("hatchling", "hatch-vcs", "editables"),
    ),
    "flit": ({"pyproject.toml": "[build-system]\nrequires = ['flit_core']\n"}, ("flit_core",)),
    "addresses and what is none": (
        {
            "pyproject.toml": "[build-system]\nrequires = ['flit_core', 'a @ git+https://x/a',"
            " '-r b', 'c @ file:///c']\n"
        },
        ("flit_core",),
    ),
    "broken": ({"pyproject.toml": "[build-system"}, ("setuptools>=40.8", "wheel")),
}


@pytest.mark.parametrize("name", CASES)
def test_a_build_asks_for(name: str) -> None:
    files, tools = CASES[name]
    assert build_tools({path: text.encode() for path, text in files.items()}) == tools
