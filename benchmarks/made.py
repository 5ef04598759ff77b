"""Made repositories of the kinds that source distributions lack, three of each.

What the tests need stands in the kind's own file and nowhere else: they ask for modules by a text,
which no reader of imports sees.
"""

from collections.abc import Mapping

_SETUP = "from setuptools import setup\nsetup(name='sample', py_modules=['sample'])\n"
_EXTRAS = (
    "from setuptools import setup\n"
    "setup(name='sample', py_modules=['sample'], extras_require={'all': ['toolz']})\n"
)


def _test(*modules: str, more: str = "") -> str:
    """A test that all modules are there; `more` is appended to its body."""
    return (
        "import importlib, os, shutil, sys\n"
        f"def test_it():\n    for name in {modules!r}:\n        importlib.import_module(name)\n"
        f"    import sample\n{more}"
    )


def _workflow(*lines: str, env: str = "{}") -> str:
    run = "\n".join(f"          {line}" for line in lines)
    return f"jobs:\n  test:\n    env: {env}\n    steps:\n      - run: |\n{run}\n"


_KINDS: Mapping[str, Mapping[str, str]] = {
    "noxfile: words": {
        "setup.py": _SETUP,
        "noxfile.py": "@nox.session\ndef tests(s):\n    s.install('toolz>=0.11', '.')\n",
        "tests/test_it.py": _test("toolz"),
    },
    "noxfile: a file": {
        "setup.py": _SETUP,
        "noxfile.py": "@nox.session\ndef unit_tests(s):\n    s.install('-r', 'need/ci.txt')\n",
        "need/ci.txt": "toolz\n",
        "need/requirements.txt": "x-never-there-0471\n",
        "tests/test_it.py": _test("toolz"),
    },
    "noxfile: an extra": {
        "setup.py": _EXTRAS,
        "noxfile.py": "def tests(s):\n    s.install('-e', '.[all]')\n",
        "tests/test_it.py": _test("toolz"),
    },
    "environment.yml: beside a setup.py": {
        "setup.py": _SETUP,
        "environment.yml": "dependencies:\n- python=3.10\n- forge::toolz\n- pip:\n  - parse\n",
        "tests/test_it.py": _test(
            "toolz", "parse", more="    assert sys.version_info[:2] == (3, 10)\n"
        ),
    },
    "environment.yml: alone": {
        "environment.yml": "dependencies: [python=3.11, toolz, libgdal]\n",
        "tests/test_it.py": _test("toolz"),
    },
    "environment.yml: for CI": {
        "setup.py": _SETUP,
        "ci/environment.yml": "dependencies: [toolz, pytest, flake8]\n",
        "tests/test_it.py": _test("toolz"),
    },
    "Pipfile: beside a setup.py": {
        "setup.py": _SETUP,
        "Pipfile": '[dev-packages]\ntoolz = ">=0.11"\nblack = "*"\n',
        "tests/test_it.py": _test("toolz"),
    },
    "Pipfile: alone": {
        "Pipfile": '[packages]\ntoolz = "*"\n[dev-packages]\npytest = "<8"\n',
        "tests/test_it.py": _test("toolz"),
    },
    "Pipfile: extras and markers": {
        "setup.py": _SETUP,
        "Pipfile": '[dev-packages]\nrequests = {extras = ["socks"], version = "*"}\n'
        'x-never-there-0471 = {version = "*", markers = "sys_platform == \'win32\'"}\n',
        "tests/test_it.py": _test("requests", "socks"),
    },
    "CI: a workflow's pip, apt and variables": {
        "setup.py": _SETUP,
        ".github/workflows/t.yml": _workflow(
            "sudo apt-get install -y bc git",
            "pip install toolz flake8",
            "pytest",
            env="{SAMPLE_MODE: full}",
        ),
        "tests/test_it.py": _test(
            "toolz",
            more="    assert shutil.which('bc')\n    assert os.environ['SAMPLE_MODE'] == 'full'\n",
        ),
    },
    "CI: a Dockerfile": {
        "setup.py": _SETUP,
        "Dockerfile": "FROM python:3.9-slim\nRUN apt-get update && apt-get install -y \\\n"
        "    bc curl\nRUN pip install -r deps.txt\n",
        "deps.txt": "toolz\n",
        "tests/test_it.py": _test(
            "toolz",
            more="    assert shutil.which('bc')\n    assert sys.version_info[:2] == (3, 9)\n",
        ),
    },
    "CI: a Makefile that calls pytest with a configuration": {
        "setup.py": _EXTRAS,
        "Makefile": "test:\n\tpip install -e '.[all]'\n\tpytest -c ci/pytest.ini checks\n",
        "ci/pytest.ini": "[pytest]\npython_files = it_*.py\n",
        "checks/it_works.py": _test("toolz"),
        "tests/test_it.py": "def test_it(): pass\n",
    },
    "submodule: of data": {
        "setup.py": _SETUP,
        ".gitmodules": '[submodule "d"]\n\tpath = tests/data\n\turl = ../data\n',
        "tests/test_it.py": _test(more="    assert not os.path.exists('tests/data/a.json')\n"),
    },
    "submodule: a module that some tests import": {
        "setup.py": _SETUP,
        ".gitmodules": '[submodule "support"]\n\tpath = tests/toolz\n\turl = ../support\n',
        "tests/test_it.py": _test("parse") + "import parse\n",
        "tests/test_other.py": "import pytest\ntoolz = pytest.importorskip('toolz')\n",
    },
    "submodule: two, and no distribution": {
        "requirements.txt": "toolz\n",
        ".gitmodules": '[submodule "x"]\npath = lib/x\n[submodule "y"]\n  path=y\n',
        "tests/test_it.py": _test("toolz") + "import parse\n",
    },
}

MADE: Mapping[str, Mapping[str, bytes]] = {
    name: {path: text.encode() for path, text in {"sample.py": "", **files}.items()}
    for name, files in _KINDS.items()
}
"""Name (kind: which) → path → content."""
