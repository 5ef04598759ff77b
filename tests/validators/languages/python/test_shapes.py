"""Every place that proposals read, in the shape that projects give it: what the first recipe says.

The files are made, as long as real ones, with what real ones have beside what matters.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from validators.languages.python import proposals
from validators.languages.python.proposals import manifest_paths, propose_recipes
from validators.model import ProjectInstall, Recipe

DATE = datetime(2024, 5, 6, tzinfo=UTC)
CALL = "python -m pytest"
SETUP = "from setuptools import setup\n\nsetup(name='sample', packages=['sample'])\n"
BACKEND = '[build-system]\nrequires = ["setuptools>=64"]\nbuild-backend = "setuptools.build_meta"\n'

SETUP_CFG = """\
[metadata]
name = sample
version = attr: sample.__version__
classifiers =
    Development Status :: 5 - Production/Stable
    Programming Language :: Python :: 3.10
[options]
packages = find:
package_dir =
    = src
python_requires = >=3.7
install_requires =
    attrs>=20
    importlib-metadata; python_version < "3.8"
[options.packages.find]
where = src
[options.extras_require]
testing =
    pytest
    freezegun; python_version >= "3.8"
docs = sphinx
[tool:pytest]
testpaths = tests
addopts = -ra --cov=sample
required_plugins = pytest-mock>=3.6
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Files beside the package and its tests, and what must be in the first recipe.

    `package` is where the package lies. `build`: requirements of a build without isolation.
    """

    files: Mapping[str, str]
    package: str = "sample/__init__.py"
    requirements: tuple[str, ...] = (".", "pytest")
    python: str = "3.12"
    apt: tuple[str, ...] = ()
    env_vars: tuple[tuple[str, str], ...] = ()
    test_cmd: str = CALL
    build: tuple[str, ...] = ()
    build_cmd: str | None = None
    install: ProjectInstall = ProjectInstall.EDITABLE
    source_paths: tuple[str, ...] = ()


SHAPES: Mapping[str, Shape] = {
    "pyproject: PEP 621": Shape(
        files={
            "pyproject.toml": BACKEND
            + """
[project]
name = "sample"
dynamic = ["version"]
requires-python = ">=3.8"
classifiers = [
  "License :: OSI Approved :: MIT License",
  "Programming Language :: Python :: 3.8",
  "Programming Language :: Python :: 3.11",
]
dependencies = ["attrs>=21", "tomli; python_version < '3.11'"]
[project.optional-dependencies]
docs = ["sphinx"]
tests = ["pytest>=7", "hypothesis"]
[project.urls]
Home = "https://sample.example"
"""
        },
        requirements=(".[tests]", "pytest"),
        python="3.11",
    ),
    "pyproject: setuptools' dynamic lists": Shape(
        files={
            "pyproject.toml": BACKEND
            + """
[project]
name = "sample"
dynamic = ["version", "dependencies", "optional-dependencies"]
[tool.setuptools.dynamic]
version = {attr = "sample.__version__"}
dependencies = {file = ["requirements.txt"]}
optional-dependencies.test = {file = ["needs/test.txt"]}
[tool.setuptools.packages.find]
where = ["lib"]
""",
            "requirements.txt": "attrs\n",
            "needs/test.txt": "pytest\n",
        },
        package="lib/sample/__init__.py",
        requirements=(".[test]", "pytest"),
    ),
    "pyproject: PEP 735": Shape(
        files={
            "pyproject.toml": BACKEND
            + """
[project]
name = "sample"
requires-python = ">=3.10"
[dependency-groups]
dev = [{include-group = "test"}, {include-group = "lint"}]
lint = ["ruff", "mypy"]
test = [{include-group = "plugins"}, "pytest>=8"]
plugins = ["pytest-mock"]
"""
        },
        requirements=(".", "pytest-mock", "pytest>=8"),
    ),
    "pyproject: poetry": Shape(
        files={
            "pyproject.toml": """\
[tool.poetry]
name = "sample"
version = "0.4.0"
packages = [{include = "sample", from = "lib"}]
[tool.poetry.dependencies]
python = "^3.9,<3.12"
attrs = ">=21"
boto3 = {version = "*", optional = true}
[tool.poetry.extras]
aws = ["boto3"]
[tool.poetry.group.test.dependencies]
pytest = "^7.2"
pytest-mock = "*"
[tool.poetry.group.lint.dependencies]
black = "*"
[build-system]
requires = ["poetry-core>=1.0.0"]
build-backend = "poetry.core.masonry.api"
"""
        },
        package="lib/sample/__init__.py",
        requirements=(".", "pytest>=7.2,<8", "pytest-mock"),
        python="3.11",
    ),
    "pyproject: hatch": Shape(
        files={
            "pyproject.toml": """\
[build-system]
requires = ["hatchling", "hatch-vcs"]
build-backend = "hatchling.build"
[project]
name = "sample"
dynamic = ["version"]
[tool.hatch.version]
source = "vcs"
[tool.hatch.envs.default]
dependencies = ["pytest", "pytest-randomly"]
[tool.hatch.envs.default.scripts]
test = "pytest -p sample.plugin {args:tests}"
[tool.hatch.envs.lint]
detached = true
dependencies = ["black", "mypy"]
""",
            "sample/plugin.py": "",
        },
        requirements=(".", "pytest", "pytest-randomly"),
        test_cmd=f"{CALL} -p sample.plugin",
    ),
    "pyproject: flit": Shape(
        files={
            "pyproject.toml": """\
[build-system]
requires = ["flit_core >=2,<4"]
build-backend = "flit_core.buildapi"
[tool.flit.metadata]
module = "sample"
author = "Ann"
requires = ["attrs"]
requires-python = ">=3.6"
classifiers = ["Programming Language :: Python :: 3.9"]
[tool.flit.metadata.requires-extra]
test = ["pytest >=2.7.3", "responses"]
doc = ["sphinx"]
"""
        },
        requirements=(".[test]", "pytest"),
        python="3.9",
    ),
    "pyproject: pdm": Shape(
        files={
            "pyproject.toml": """\
[project]
name = "sample"
version = "1"
[tool.pdm.dev-dependencies]
test = ["pytest>=7", "pytest-asyncio"]
lint = ["ruff"]
[tool.pdm.scripts]
test = "pytest -o asyncio_mode=auto tests"
[build-system]
requires = ["pdm-backend"]
build-backend = "pdm.backend"
"""
        },
        requirements=(".", "pytest>=7", "pytest-asyncio"),
        test_cmd=f"{CALL} -o asyncio_mode=auto",
    ),
    "pyproject: scikit-build-core": Shape(
        files={
            "pyproject.toml": """\
[build-system]
requires = ["scikit-build-core>=0.8", "pybind11"]
build-backend = "scikit_build_core.build"
[project]
name = "sample"
version = "0.3.1"
requires-python = ">=3.8"
classifiers = ["Programming Language :: Python :: 3.11"]
dependencies = ["attrs"]
[project.optional-dependencies]
test = ["pytest >=6"]
[tool.scikit-build]
wheel.packages = ["python/sample"]
cmake.build-type = "Release"
[tool.pytest.ini_options]
addopts = ["-ra", "--showlocals"]
testpaths = ["tests"]
""",
            "CMakeLists.txt": "project(sample)\n",
            "src/main.cpp": "",
        },
        package="python/sample/__init__.py",
        requirements=(".[test]", "pytest"),
        python="3.11",
        apt=("gcc", "g++", "libc6-dev"),
        build=(
            *("scikit-build-core>=0.8", "pybind11", "cmake", "ninja"),
            *("pyproject-metadata", "pathspec"),
        ),
        build_cmd=" --directory=python",
        install=ProjectInstall.PLAIN,
        source_paths=("python",),
    ),
    "setup.py: scikit-build": Shape(
        files={
            "pyproject.toml": """\
[build-system]
requires = ["setuptools>=42", "scikit-build>=0.13", "cmake>=3.18", "ninja"]
build-backend = "setuptools.build_meta"
""",
            "setup.py": """\
import sys
try:
    from skbuild import setup
except ImportError:
    print("scikit-build is needed", file=sys.stderr)
    raise
from setuptools import find_packages
setup(
    name="sample",
    packages=find_packages(where="src"),
    package_dir={"": "src"},
    cmake_install_dir="src/sample",
    extras_require={"test": ["pytest"]},
    python_requires=">=3.7",
)
""",
            "CMakeLists.txt": "project(sample)\n",
        },
        package="src/sample/__init__.py",
        requirements=(".[test]", "pytest"),
        apt=("gcc", "g++", "libc6-dev"),
        build=("setuptools>=42", "scikit-build>=0.13", "cmake>=3.18", "ninja", "wheel"),
        build_cmd="python setup.py build_ext --inplace && cp -R _skbuild/*/cmake-install/. .",
    ),
    "setup.cfg: with setup.py": Shape(
        files={"setup.cfg": SETUP_CFG, "setup.py": "from setuptools import setup\nsetup()\n"},
        package="src/sample/__init__.py",
        requirements=(".[testing]", "pytest-cov", "pytest-mock>=3.6", "pytest"),
        python="3.10",
    ),
    "setup.cfg: with pyproject.toml": Shape(
        files={"setup.cfg": SETUP_CFG, "pyproject.toml": BACKEND},
        package="src/sample/__init__.py",
        requirements=(".[testing]", "pytest-cov", "pytest-mock>=3.6", "pytest"),
        python="3.10",
    ),
    "setup.cfg: alone, which no installer takes": Shape(
        files={"setup.cfg": SETUP_CFG},
        package="src/sample/__init__.py",
        requirements=(
            "attrs>=20",
            'importlib-metadata; python_version < "3.8"',
            "pytest",
            'freezegun; python_version >= "3.8"',
            "pytest-cov",
            "pytest-mock>=3.6",
        ),
        python="3.10",
        install=ProjectInstall.NONE,
        source_paths=("src",),
    ),
    "setup.py": Shape(
        files={
            "setup.py": """\
import os, sys
from setuptools import find_packages, setup

if sys.argv[-1] == "publish":
    os.system("twine upload dist/*")
    sys.exit()
tests_require = ["pytest>=6", "pytest-django"]
setup(
    name="sample",
    version=open("sample/version.txt").read(),
    packages=find_packages(exclude=["tests"]),
    python_requires=">=3.6, <3.11",
    install_requires=["attrs"],
    tests_require=tests_require,
    extras_require={"docs": ["sphinx"], "test": tests_require + ["mock"]},
)
"""
        },
        requirements=(".[test]", "pytest>=6", "pytest-django"),
        python="3.10",
    ),
    "requirements and constraints": Shape(
        files={
            "setup.py": SETUP,
            "requirements/base.txt": "attrs==20.1\n",
            "requirements/test.txt": "-r base.txt\n--no-binary :all:\npytest==6.2  # a pin\nsix\n",
            "requirements/docs.txt": "sphinx\n",
            "constraints.txt": "six==1.15\n",
            "tox.ini": "[testenv]\ndeps = -c constraints.txt\n",
        },
        requirements=(".", "attrs==20.1", "pytest==6.2", "six", "-c constraints.txt"),
    ),
    "tox.ini": Shape(
        files={
            "setup.py": SETUP,
            "tox.ini": """\
[tox]
envlist = py{38,39,310}-{lib1,lib2}, lint
[testenv]
deps =
    pytest
    lib1: attrs<22
    -r{toxinidir}/needs.txt
setenv =
    SAMPLE_SETTINGS = tests.settings
    PYTHONHASHSEED = 1
commands =
    pytest -p sample.plugin --cov=sample {posargs:tests}
[testenv:lint]
deps = flake8
commands = flake8
""",
            "needs.txt": "responses\n",
            "sample/plugin.py": "",
        },
        requirements=(".", "pytest", "attrs<22", "responses"),
        python="3.10",
        env_vars=(("SAMPLE_SETTINGS", "tests.settings"),),
        test_cmd=f"{CALL} -p sample.plugin",
    ),
    "tox.toml": Shape(
        files={
            "setup.py": SETUP,
            "tox.toml": """\
env_list = ["3.10", "3.11", "lint"]
[env_run_base]
deps = ["pytest>=8", "pytest-timeout"]
set_env = { SAMPLE_SETTINGS = "tests.settings" }
commands = [["pytest", "-p", "sample.plugin", "tests"]]
[env.lint]
deps = ["ruff"]
""",
            "sample/plugin.py": "",
        },
        requirements=(".", "pytest>=8", "pytest-timeout"),
        python="3.11",
        env_vars=(("SAMPLE_SETTINGS", "tests.settings"),),
        test_cmd=f"{CALL} -p sample.plugin",
    ),
    "noxfile": Shape(
        files={
            "setup.py": SETUP,
            "noxfile.py": """\
import nox

nox.options.sessions = ["lint", "tests"]


@nox.session(python=["3.9", "3.10"])
@nox.parametrize("django", ["3.2", "4.0"])
def tests(session, django):
    session.install("-e", ".", f"django=={django}")
    session.install("-r", "needs/ci.txt", "coverage", "mock>=4")
    session.run("pytest", "-c", "ci/pytest.ini", *session.posargs)


@nox.session
def lint(session):
    session.install("pre-commit")
""",
            "needs/ci.txt": "responses\n",
            "ci/pytest.ini": "[pytest]\n",
        },
        requirements=(".", "responses", "coverage", "mock>=4", "pytest"),
        python="3.10",
        test_cmd=f"{CALL} -c ci/pytest.ini --rootdir=.",
    ),
    "Pipfile": Shape(
        files={
            "setup.py": SETUP,
            "Pipfile": """\
[[source]]
url = "https://packages.example/simple"
name = "private"
[packages]
sample = {path = ".", editable = true}
[dev-packages]
pytest = "~=7.0"
responses = {version = "*", markers = "python_version >= '3.8'"}
black = "*"
[requires]
python_version = "3.9"
""",
        },
        requirements=(".", "pytest~=7.0", 'responses; python_version >= "3.8"'),
        python="3.9",
    ),
    "environment.yml": Shape(
        files={
            "setup.py": SETUP,
            "environment.yml": """\
name: sample
channels: [conda-forge]
dependencies:
  - python=3.9
  - numpy>=1.20
  - conda-forge::pytables
  - black
  - pip
  - pip:
      - responses==0.20
      - -e .
""",
        },
        requirements=(".", "numpy", "tables", "responses==0.20", "pytest"),
        python="3.9",
    ),
    "CI: GitHub's workflows": Shape(
        files={
            "setup.py": SETUP,
            ".github/workflows/ci.yml": """\
name: CI
on: [push, pull_request]
env:
  FORCE_COLOR: "1"
jobs:
  tests:
    runs-on: ${{ matrix.os }}
    strategy:
      matrix:
        os: [ubuntu-latest, windows-latest]
        python-version: ["3.9", "3.10"]
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: ${{ matrix.python-version }}
      - run: |
          sudo apt-get update
          sudo apt-get install -y libmagic1 ffmpeg
      - run: pip install -e . responses hypothesis
      - env:
          SAMPLE_SETTINGS: tests.settings
          SAMPLE_TOKEN: ${{ secrets.TOKEN }}
        run: python -m pytest -o python_files="check_*.py" -n auto tests
""",
        },
        requirements=(".", "responses", "hypothesis", "pytest"),
        python="3.10",
        apt=("libmagic1", "ffmpeg"),
        env_vars=(("SAMPLE_SETTINGS", "tests.settings"),),
        test_cmd=f"{CALL} -o 'python_files=check_*.py'",
    ),
    "CI: Travis": Shape(
        files={
            "setup.py": SETUP,
            ".travis.yml": """\
language: python
python: ["3.5", "3.6", "3.7", "pypy3"]
addons:
  apt:
    packages: [libmagic1]
env:
  global:
    - SAMPLE_SETTINGS=tests.settings
before_install:
  - sudo apt-get install -qq graphviz
install: pip install responses mock
script: py.test --ds=tests.settings
""",
        },
        requirements=(".", "responses", "mock", "pytest"),
        python="3.7",
        apt=("graphviz", "libmagic1"),
        env_vars=(("SAMPLE_SETTINGS", "tests.settings"),),
        test_cmd=f"{CALL} --ds=tests.settings",
    ),
    "Dockerfile": Shape(
        files={
            "setup.py": SETUP,
            "Dockerfile": """\
FROM python:3.10-slim-bookworm AS build
RUN apt-get update \\
 && apt-get install -y --no-install-recommends graphviz git \\
 && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN pip install --no-cache-dir responses==0.20 && pip install .
CMD ["pytest", "-p", "sample.plugin"]
""",
        },
        requirements=(".", "responses==0.20", "pytest"),
        python="3.10",
        apt=("graphviz",),
    ),
    "Makefile": Shape(
        files={
            "setup.py": SETUP,
            "Makefile": """\
PY ?= python3
.PHONY: test
deps:
\tsudo apt-get install -y graphviz
\t$(PY) -m pip install -U responses
test: deps
\t$(PY) -m pytest -o pythonpath=lib tests/
""",
        },
        requirements=(".", "responses", "pytest"),
        apt=("graphviz",),
        test_cmd=f"{CALL} -o pythonpath=lib",
    ),
    "pytest: required plug-ins, options, paths": Shape(
        files={
            "pyproject.toml": BACKEND
            + """
[project]
name = "sample"
[tool.pytest.ini_options]
minversion = "6.0"
testpaths = ["tests", "docs"]
addopts = ["-ra", "--strict-config", "--timeout=60", "--doctest-modules"]
required_plugins = ["pytest-mock>=3.6", "pytest-asyncio"]
"""
        },
        requirements=(
            *(".", "pytest-timeout", "pytest-mock>=3.6", "pytest-asyncio", "pytest"),
        ),
    ),
    "pytest: a file of its own": Shape(
        files={
            "setup.py": SETUP,
            "pytest.toml": '[pytest]\naddopts = ["--timeout=60"]\ntestpaths = ["tests"]\n',
            "tox.ini": "[pytest]\naddopts = --cov\n",
        },
        requirements=(".", "pytest-timeout", "pytest"),
    ),
}  # fmt: skip


def _first(shape: Shape) -> Recipe:
    tests = {"tests/__init__.py": "", "tests/test_a.py": "from sample import b\n"}
    every = {shape.package: "", **tests, **shape.files}
    known = {path: every[path] for path in manifest_paths(list(every))}
    return propose_recipes(known, list(every), DATE)[0]


@pytest.mark.parametrize("name", SHAPES)
def test_the_first_recipe_says_what_the_project_does(name: str) -> None:
    shape = SHAPES[name]
    first = _first(shape)
    assert first.requirements == shape.requirements
    assert (first.python, first.apt, first.env_vars) == (shape.python, shape.apt, shape.env_vars)
    assert first.test_cmd == shape.test_cmd
    assert first.build_requirements == shape.build
    assert (first.build_cmd is None) == (shape.build_cmd is None)
    assert (first.build_cmd or "").endswith(shape.build_cmd or "")
    assert (first.project_install, first.source_paths) == (shape.install, shape.source_paths)


@pytest.mark.parametrize("path", sorted({*proposals._NAMES, *proposals._CONDA_FILES[:1]}))
def test_every_file_that_is_read_by_its_name_has_a_shape(path: str) -> None:
    elsewhere = {".gitmodules", ".pytest.ini", ".pytest.toml", "pytest.ini"}
    assert path in elsewhere or any(path in shape.files for shape in SHAPES.values())
