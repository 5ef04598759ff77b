"""What is built again in every run: what a patch changes is what the tests see."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.real_engine import HERE
from tests.toy import Repository, Toy, task_of
from tests.validators.samples import CA_BUNDLE
from validators.engines import DockerEngine, connect
from validators.evaluation import grade
from validators.examination import examine
from validators.model import QUICK, BuildSettings, GradingTask

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.timeout(300)]

C = """\
#include <Python.h>
static PyObject *f(PyObject *self, PyObject *none) { return PyLong_FromLong(1); }
static PyMethodDef methods[] = {{"f", f, METH_NOARGS, ""}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_core", 0, -1, methods};
PyMODINIT_FUNC PyInit__core(void) { return PyModule_Create(&module); }
"""
TESTS: Mapping[str, str | None] = {
    "tests/test_core.py": "import sample\n\ndef test_two():\n    assert sample.f() == 2\n\n"
    "def test_some():\n    assert sample.f() > 0\n"
}
PROJECT = '[project]\nname = "sample"\nversion = "1"\n[build-system]\n'
MESON = """\
project('sample', 'c', version: '1')
py = import('python').find_installation(pure: false)
py.extension_module('_core', 'sample/_core.c', subdir: 'sample', install: true,
    dependencies: py.dependency())
py.install_sources('sample/__init__.py', subdir: 'sample')
"""
CMAKE = """\
cmake_minimum_required(VERSION 3.18)
project(sample LANGUAGES C)
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
Python_add_library(_core MODULE lib/sample/_core.c WITH_SOABI)
install(TARGETS _core DESTINATION sample)
"""
KINDS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "setuptools": (
        "",
        {
            "setup.py": "from setuptools import Extension, setup\n"
            "core = Extension('sample._core', ['sample/_core.c'])\n"
            "setup(name='sample', packages=['sample'], ext_modules=[core])\n"
        },
    ),
    "meson-python": (
        "",
        {
            "pyproject.toml": f"{PROJECT}requires = ['meson-python']\nbuild-backend = 'mesonpy'\n",
            "meson.build": MESON,
        },
    ),
    "scikit-build-core": (
        "lib/",
        {
            "pyproject.toml": f"{PROJECT}requires = ['scikit-build-core']\n"
            "build-backend = 'scikit_build_core.build'\n"
            "[tool.scikit-build]\nwheel.packages = ['lib/sample']\n",
            "CMakeLists.txt": CMAKE,
        },
    ),
}


@pytest.fixture(scope="module")
def engine() -> Iterator[DockerEngine]:
    """One is enough."""
    connected = connect(HERE)
    yield connected
    connected.close()


ELSEWHERE = Toy(
    base={
        "setup.py": "from setuptools import setup\n"
        "setup(name='sample', packages=['sample'], package_dir={'sample': 'source'})\n",
        "source/__init__.py": "def f():\n    return 1\n",
    },
    tests=TESTS,
    gold={"source/__init__.py": "def f():\n    return 2\n"},
    fail_to_pass=("tests/test_core.py::test_two",),
    pass_to_pass=(),
)


def test_a_copy_of_packages_that_lie_elsewhere_is_made_again_after_patching(
    engine: DockerEngine, tmp_path: Path
) -> None:
    task = task_of(ELSEWHERE, Repository(tmp_path / "toy", ELSEWHERE.base))
    task = replace(task, merged_at=datetime(2018, 6, 1, tzinfo=UTC))  # on Python 3.6
    settings = BuildSettings(ca_bundle=CA_BUNDLE, attempts=1)
    found = examine(task, engine=engine, policy=QUICK, settings=settings, progress=print)
    assert found.environment is not None, found.attempts[-1]
    engine.remove_image(found.environment.image)
    assert found.verdict.fail_to_pass == ELSEWHERE.fail_to_pass, found.verdict.detail


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_compiled_is_compiled_again_after_patching(
    kind: str, engine: DockerEngine, tmp_path: Path
) -> None:
    folder, files = KINDS[kind]
    package = {f"{folder}sample/__init__.py": "from sample._core import f\n"}
    toy = Toy(
        base={**files, **package, f"{folder}sample/_core.c": C},
        tests=TESTS,
        gold={f"{folder}sample/_core.c": C.replace("(1)", "(2)")},
        fail_to_pass=("tests/test_core.py::test_two",),
        pass_to_pass=(),
    )
    task = task_of(toy, Repository(tmp_path / "toy", toy.base))
    settings = BuildSettings(ca_bundle=CA_BUNDLE, attempts=1)
    found = examine(task, engine=engine, policy=QUICK, settings=settings, progress=print)
    environment = found.environment
    assert environment is not None, found.attempts[-1]
    try:
        assert found.verdict.fail_to_pass == toy.fail_to_pass, found.verdict.detail
        graded = GradingTask(
            instance_id=task.instance_id,
            repo=task.repo,
            tree=task.tree,
            patch=task.patch,
            test_patch=task.test_patch,
            fail_to_pass=found.verdict.fail_to_pass,
            pass_to_pass=found.verdict.pass_to_pass,
            recipe=environment.recipe,
        )
        gold = grade(graded, environment, model_patch=task.patch, engine=engine, progress=print)
    finally:
        engine.remove_image(environment.image)
    assert (gold.resolved, gold.flaw) == (True, None), gold.detail
