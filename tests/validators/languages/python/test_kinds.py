"""Kinds of projects that a source distribution lacks: three made repositories each.

What is known only to a noxfile, an environment.yml, a Pipfile, CI (with Dockerfile and Makefile) or
a .gitmodules must be in the first recipe that is tried.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from validators.languages.python.proposals import manifest_paths, propose_recipes
from validators.model import Recipe

DATE = datetime(2024, 5, 6, tzinfo=UTC)
SETUP = "from setuptools import setup\nsetup(name='a', py_modules=['a'])\n"
EXTRAS = (
    "from setuptools import setup\nsetup(name='a', extras_require={'all': ['b'], 'd': ['c']})\n"
)
TEST = "def test_a(): pass\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Files beside `a.py` and `tests/test_a.py`, and what the first recipe must say."""

    files: Mapping[str, str]
    requirements: tuple[str, ...] = (".", "pytest")
    python: str = "3.12"
    apt: tuple[str, ...] = ()
    env_vars: tuple[tuple[str, str], ...] = ()
    runner: str = "pytest"
    test_cmd: str = "python -m pytest"


KINDS: Mapping[str, Kind] = {
    "noxfile: words": Kind(
        files={
            "setup.py": SETUP,
            "noxfile.py": "import nox\n@nox.session\ndef tests(s):\n    s.install('b>=1', '.')\n"
            "@nox.session\ndef lint(s):\n    s.install('flake8', 'z')\n",
        },
        requirements=(".", "b>=1", "pytest"),
    ),
    "noxfile: a file": Kind(
        files={
            "setup.py": SETUP,
            "noxfile.py": "@nox.session\ndef unit_tests(s):\n    s.install('-r', 'need/ci.txt')\n",
            "need/ci.txt": "b\n",
            "need/docs.txt": "c\n",
        },
        requirements=(".", "b", "pytest"),
    ),
    "noxfile: an extra": Kind(
        files={"setup.py": EXTRAS, "noxfile.py": "def tests(s):\n    s.install('-e', '.[all]')\n"},
        requirements=(".[all]", "pytest"),
    ),
    "environment.yml: beside a setup.py": Kind(
        files={
            "setup.py": SETUP,
            "environment.yml": "dependencies:\n- python=3.10\n- conda-forge::b>=1\n- pip:\n  - c\n",
        },
        requirements=(".", "b", "c", "pytest"),
        python="3.10",
    ),
    "environment.yml: alone": Kind(
        files={"environment.yml": "dependencies: [pytables, libgdal, b=1.2]\n"},
        requirements=("tables", "b", "pytest"),
    ),
    "environment.yml: for CI": Kind(
        files={"setup.py": SETUP, "ci/environment.yml": "dependencies: [b, pytest, flake8]\n"},
        requirements=(".", "b", "pytest"),
    ),
    "Pipfile: beside a setup.py": Kind(
        files={"setup.py": SETUP, "Pipfile": '[dev-packages]\nb = ">=1"\nblack = "*"\n'},
        requirements=(".", "b>=1", "pytest"),
    ),
    "Pipfile: alone": Kind(
        files={"Pipfile": '[packages]\nb = "*"\n[dev-packages]\npytest = "<8"\n'},
        requirements=("b", "pytest<8"),
    ),
    "Pipfile: extras and markers": Kind(
        files={
            "setup.py": SETUP,
            "Pipfile": '[dev-packages]\nb = {extras = ["x"], version = "*"}\n',
        },
        requirements=(".", "b[x]", "pytest"),
    ),
    "CI: pip and apt": Kind(
        files={
            "setup.py": SETUP,
            ".github/workflows/t.yml": "jobs:\n  t:\n    steps:\n    - run: |\n"
            "        sudo apt-get install -y libcairo2 git\n        pip install b flake8\n",
        },
        requirements=(".", "b", "pytest"),
        apt=("libcairo2",),
    ),
    "CI: a Dockerfile": Kind(
        files={
            "setup.py": SETUP,
            "Dockerfile": "FROM python:3.9-slim\nRUN apt-get update && apt-get install -y \\\n"
            "    graphviz curl\nRUN pip install -r deps.txt\n",
            "deps.txt": "b\n",
        },
        requirements=(".", "b", "pytest"),
        python="3.9",
        apt=("graphviz",),
    ),
    "CI: a Makefile and Django's runner": Kind(
        files={
            "setup.py": EXTRAS,
            "Makefile": "test:\n\tpip install -e '.[all]'\n\tpython manage.py test\n",
            "manage.py": "",
            "tox.ini": "[testenv]\nsetenv = DJANGO_SETTINGS_MODULE = a.settings\n",
        },
        requirements=(".[all]", "pytest"),
        env_vars=(("DJANGO_SETTINGS_MODULE", "a.settings"),),
        runner="django",
        test_cmd="python manage.py test",
    ),
    "CI: headers only for what is compiled": Kind(
        files={"setup.py": SETUP, "Makefile": "t:\n\tapt-get install libxml2-dev graphviz\n"},
        apt=("graphviz",),
    ),
    "CI: headers for what is compiled": Kind(
        files={
            "setup.py": "setup(name='a', ext_modules=[x])\n",
            "Makefile": "t:\n\tapt-get install libxml2-dev graphviz\n",
        },
        apt=("gcc", "g++", "libc6-dev", "libxml2-dev", "graphviz"),
    ),
    "submodule: of data": Kind(
        files={"setup.py": SETUP, ".gitmodules": '[submodule "d"]\n\tpath = tests/data\n'},
    ),
    "submodule: a module that tests import": Kind(
        files={
            "setup.py": SETUP,
            ".gitmodules": '[submodule "support"]\n\tpath = tests/support\n\turl = ../support\n',
            "tests/test_b.py": "import support\nimport yaml\n",
        },
        requirements=(".", "pyyaml", "pytest"),
    ),
    "submodule: two, and no distribution": Kind(
        files={
            "requirements.txt": "b\n",
            ".gitmodules": '[submodule "x"]\npath = lib/x\n[submodule "y"]\n  path=y\n',
            "tests/test_b.py": "import x, y, zz\n",
        },
        requirements=("b", "zz", "pytest"),
    ),
}


def _first(files: Mapping[str, str]) -> Recipe:
    every = {"a.py": "", "tests/test_a.py": TEST, **files}
    wanted = manifest_paths(list(every))
    return propose_recipes({path: every[path] for path in wanted}, list(every), DATE)[0]


@pytest.mark.parametrize("name", KINDS)
def test_the_first_recipe_knows_it(name: str) -> None:
    kind = KINDS[name]
    first = _first(kind.files)
    assert first.requirements == kind.requirements
    assert (first.python, first.apt, first.env_vars) == (kind.python, kind.apt, kind.env_vars)
    assert (first.runner, first.test_cmd) == (kind.runner, kind.test_cmd)


@pytest.mark.parametrize(
    "line",
    [
        "subprocess.check_call([sys.executable, '-m', 'pip', 'install', '.'])",
        'os.system("python -m pip install x")',
        'run(["pip", "install", "x"])',
    ],
)
def test_tests_that_call_pip_find_it(line: str) -> None:
    files = {"setup.py": SETUP, "tests/test_b.py": f"def test_b():\n    {line}\n"}
    assert _first(files).requirements == (".", "pip", "setuptools", "wheel", "pytest")


def test_a_pytest_configuration_outweighs_djangos_runner() -> None:
    files = {"setup.py": SETUP, "Makefile": "t:\n\tpython manage.py test\n", "manage.py": ""}
    assert _first(files).runner == "django"
    assert _first({**files, "pytest.ini": "[pytest]\naddopts = -q\n"}).runner == "pytest"
