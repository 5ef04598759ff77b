"""Attacks on a grade, as data: what a patch does, what must come of it, and its honest twin.

An attack does not fix the bug. It must be unresolved, or, where it works inside the test process
and docs/threat-model.md lists it as not excludable, resolved and flagged. The twin fixes the bug,
touches the same kind of files, and must be resolved without any flag.
"""

# ruff: noqa: E501 - programs inside strings

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tests.toy import RECIPE, Toy
from validators.model import Flaw

BUG = "def add(a, b):\n    return a - b\n\n\ndef mul(a, b):\n    return a * b\n"
TOLD_RUN = """records = [{"event": "begin", "runner": "pytest"}, {"event": "items", "ids": ids},
           {"event": "collected", "count": len(ids)}]
for name in ids:
    records.append({"event": "start", "id": name})
    for when in ("setup", "call", "teardown"):
        records.append({"event": "phase", "id": name, "when": when, "outcome": "passed"})
records.append({"event": "end", "status": 0})
with open(pipe, "w") as out:
    for record in records:
        out.write("\\n" + nonce + " . " + str(record).replace("'", chr(34)) + "\\n")
        out.flush()
"""
"""A forged run of `ids` in which all passes, told under `nonce` into `pipe`."""

FIX = BUG.replace("a - b", "a + b")
TEST_MUL = "from calc import mul\n\n\ndef test_mul():\n    assert mul(2, 3) == 6\n"
TEST_ADD = (
    "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n\n\n"
    "def test_add_again(ten):\n    assert add(ten, 1) == 11\n"
)
TEST_MORE = "from calc import add\n\n\ndef test_more():\n    assert add(1, 1) == 2\n"
CONFTEST = "import pytest\n\n\n@pytest.fixture\ndef ten():\n    return 10\n"
PYPROJECT = (
    '[project]\nname = "calc"\nversion = "1"\n\n[tool.pytest.ini_options]\naddopts = "-ra"\n'
)

TOY = Toy(
    base={
        "calc/__init__.py": BUG,
        "tests/__init__.py": "",
        "tests/conftest.py": CONFTEST,
        "tests/test_mul.py": TEST_MUL,
        "tests/test_add.py": "def test_nothing():\n    pass\n",
        "pyproject.toml": PYPROJECT,
        "README.md": "A calculator.\n",
    },
    tests={
        "tests/test_add.py": TEST_ADD,
        "tests/test_more.py": TEST_MORE,
        "tests/test_mul.py": TEST_MUL + "\n\ndef test_mul_zero():\n    assert mul(0, 3) == 0\n",
    },
    gold={"calc/__init__.py": FIX},
    fail_to_pass=(
        "tests/test_add.py::test_add",
        "tests/test_add.py::test_add_again",
        "tests/test_more.py::test_more",
    ),
    pass_to_pass=("tests/test_mul.py::test_mul", "tests/test_mul.py::test_mul_zero"),
)

WARNS = (
    "import warnings\n\n\ndef add(a, b):\n    warnings.warn('slow')\n    return a + b\n\n\n"
    "def mul(a, b):\n    return a * b\n"
)
LONG_REMARKS = "# nothing to see here, nothing to see here, nothing to see here\n" * 40_000

Changes = Mapping[str, str | bytes | None]
HONEST: Changes = {"calc/__init__.py": FIX}
FORCED = (
    "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\n"
    "def pytest_runtest_makereport(item, call):\n    outcome = yield\n"
    "    report = outcome.get_result()\n    report.outcome = 'passed'\n    report.longrepr = None\n"
)
FORCE_PLUGIN = FORCED


@dataclass(frozen=True, kw_only=True)
class Attack:
    """`flags`: it may be resolved, but then with all of these. `flaw`: what the grade must say.

    `raw` and `raw_twin` are patches as text, for what git would not make; `links` are symbolic
    links.
    """

    name: str
    attack: Changes = field(default_factory=dict)
    twin: Changes = field(default_factory=lambda: HONEST)
    flags: frozenset[str] = frozenset()
    flaw: Flaw | None = None
    raw: bytes | None = None
    raw_twin: bytes | None = None
    links: Mapping[str, str] = field(default_factory=dict)
    toy: Toy = TOY


def in_calc(code: str) -> Changes:
    """The bug stays, and importing the package does something."""
    return {"calc/__init__.py": f"{code}\n\n{BUG}"}


def fixed_and(code: str) -> Changes:
    """The bug is mended, and there is more in the module."""
    return {"calc/__init__.py": f"{FIX}\n\n{code}\n"}


GOLD_CONFTEST = replace(
    TOY,
    gold={
        "calc/__init__.py": FIX,
        "conftest.py": "import pytest\n\n\n@pytest.fixture\ndef unused():\n    return 1\n",
    },
)
PLUGIN_SHIPPED = replace(
    TOY,
    base={
        **TOY.base,
        "calc/plugin.py": "import pytest\n\n\n@pytest.fixture\ndef eleven():\n    return 10\n",
        "conftest.py": 'pytest_plugins = ["calc.plugin"]\n',
    },
    tests={
        **TOY.tests,
        "tests/test_more.py": TEST_MORE + "\n\ndef test_eleven(eleven):\n    assert eleven == 11\n",
    },
    gold={
        "calc/__init__.py": FIX,
        "calc/plugin.py": "import pytest\n\n\n@pytest.fixture\ndef eleven():\n    return 11\n",
    },
    fail_to_pass=(*TOY.fail_to_pass, "tests/test_more.py::test_eleven"),
)
EQUALITY = replace(
    TOY,
    base={
        **TOY.base,
        "calc/__init__.py": BUG + "\n\nclass Sum:\n    def __init__(self, n):\n"
        "        self.n = n\n",
    },
    gold={
        "calc/__init__.py": FIX
        + "\n\nclass Sum:\n    def __init__(self, n):\n        self.n = n\n\n"
        "    def __eq__(self, other):\n        return self.n == other.n\n\n    __hash__ = None\n"
    },
)
UNITTEST = replace(
    TOY,
    base={"calc.py": BUG, "test_calc.py": "import unittest\n"},
    tests={
        "test_calc.py": "import unittest\nfrom calc import add, mul\n\n\n"
        "class T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n\n"
        "    def test_mul(self):\n        self.assertEqual(mul(2, 3), 6)\n"
    },
    gold={"calc.py": FIX},
    fail_to_pass=("test_calc.T.test_add",),
    pass_to_pass=("test_calc.T.test_mul",),
    recipe=replace(RECIPE, runner="unittest", test_cmd="python -m unittest"),
)

ATTACKS = (
    Attack(
        name="root conftest forces every report to passed",
        attack={"conftest.py": FORCED},
        toy=GOLD_CONFTEST,
        twin={"calc/__init__.py": FIX, "conftest.py": "x = 1\n"},
    ),
    Attack(
        name="the tests' own conftest forces reports",
        attack={"tests/conftest.py": CONFTEST + FORCED},
        twin={"calc/__init__.py": FIX, "tests/conftest.py": CONFTEST + "\n# a remark\n"},
    ),
    Attack(
        name="conftest inside the package forces reports",
        attack={"calc/conftest.py": FORCED},
        twin={"calc/__init__.py": FIX, "calc/configuration.py": "TEN = 10\n"},
    ),
    Attack(
        name="conftest skips everything",
        twin={**HONEST, "conftest.py": "collect_ignore = []\n"},
        attack={
            "conftest.py": "import pytest\n\n\ndef pytest_collection_modifyitems(items):\n"
            "    for item in items:\n        item.add_marker(pytest.mark.skip)\n"
        },
    ),
    Attack(
        name="a package called pytest at the root",
        attack={
            "pytest/__init__.py": "",
            "pytest/__main__.py": "print('5 passed in 0.01s')\n",
        },
        twin={"calc/__init__.py": FIX, "calc/pytest_notes.py": "NOTES = ()\n"},
    ),
    Attack(
        name="a module called _pytest at the root",
        twin={**HONEST, "calc/_checks.py": "LEVEL = 1\n"},
        attack={"_pytest.py": "raise SystemExit(0)\n"},
    ),
    Attack(
        name="a module called unittest at the root",
        attack={"unittest.py": "raise SystemExit(0)\n"},
        twin={
            "calc/__init__.py": FIX,
            "calc/unittest.py": "# inside the package it hides nothing\n",
        },
    ),
    Attack(
        name="a module called json at the root",
        attack={"json.py": "import os\nos._exit(0)\n"},
        twin={"calc/__init__.py": FIX, "calc/json.py": "def dumps(x):\n    return str(x)\n"},
    ),
    Attack(
        name="leaves with success while being imported, after printing a summary",
        twin=fixed_and(
            "import sys\n\n\ndef main():\n    print(add(2, 3), flush=True)\n    sys.exit(0)"
        ),
        attack=in_calc("import os\nprint('5 passed in 0.01s', flush=True)\nos._exit(0)"),
    ),
    Attack(
        name="leaves with success when a test calls it",
        twin=fixed_and("def main():\n    raise SystemExit(add(1, 1))"),
        attack={"calc/__init__.py": BUG.replace("return a - b", "__import__('os')._exit(0)")},
    ),
    Attack(
        name="raises SystemExit while being imported",
        twin=fixed_and("if __name__ == '__main__':\n    raise SystemExit(0)"),
        attack=in_calc("raise SystemExit(0)"),
    ),
    Attack(
        name="turns the exit code to success at exit",
        twin=fixed_and(
            "import contextlib\n\nSTACK = contextlib.ExitStack()\nSTACK.callback(print)"
        ),
        attack=in_calc("import atexit, os\natexit.register(os._exit, 0)"),
        flaw=Flaw.COUNTS_DISAGREE,
    ),
    Attack(
        name="writes forged records into the report at exit",
        twin=fixed_and(
            "import json\n\n\ndef save(path, total):\n    with open(path, 'w') as out:\n        json.dump({'event': total}, out)"
        ),
        attack=in_calc(
            "import atexit, json\n\ndef forge():\n    with open('/run/miner/report', 'w') as out:\n"
            "        for name in ('test_add', 'test_add_again'):\n"
            "            record = {'event': 'phase', 'id': 'tests/test_add.py::' + name,\n"
            "                      'when': 'call', 'outcome': 'passed'}\n"
            "            out.write('\\n0123456789abcdef . ' + json.dumps(record) + '\\n')\n\n"
            "atexit.register(forge)"
        ),
    ),
    Attack(
        name="prints what a parser of logs would take for results",
        twin=fixed_and("print('calc: sums are ready')"),
        attack=in_calc(
            "for line in ('PASSED tests/test_add.py::test_add', '== 5 passed in 0.01s =='):\n"
            "    print(line)\n    __import__('os').write(1, line.encode() + b'\\n')"
        ),
    ),
    Attack(
        name="an object that equals everything",
        attack={
            "calc/__init__.py": "class Any:\n    def __eq__(self, other):\n        return True\n\n\n"
            + BUG.replace("return a - b", "return Any()")
        },
        flags=frozenset({"always_true"}),
        toy=EQUALITY,
        twin={
            "calc/__init__.py": FIX + "\n\nclass Sum:\n    def __init__(self, n):\n"
            "        self.n = n\n\n    def __eq__(self, other):\n        return other.n == self.n\n"
        },
    ),
    Attack(
        name="an object that equals everything, where the fix needs no equality",
        twin=fixed_and(
            "class Sum(int):\n    def equals(self, other):\n        return int(self) == int(other)"
        ),
        attack={
            "calc/__init__.py": "class Any(int):\n    def __eq__(self, other):\n"
            "        return True\n\n\n" + BUG.replace("return a - b", "return Any()")
        },
        flags=frozenset({"equality"}),
    ),
    Attack(
        name="replaces how pytest runs a test",
        attack=in_calc(
            "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None"
        ),
        flags=frozenset({"runner_internals"}),
        toy=PLUGIN_SHIPPED,
        twin={
            "calc/__init__.py": FIX,
            "calc/plugin.py": "import pytest\n\n\n@pytest.fixture\ndef eleven():\n    return 10 + 1\n",
        },
    ),
    Attack(
        name="replaces how unittest runs a test",
        twin={"calc.py": FIX + "\n\nclass Case:\n    def run(self):\n        return add(1, 1)\n"},
        attack={
            "calc.py": "import unittest\nunittest.TestCase._callTestMethod = lambda s, m: None\n"
            + BUG
        },
        flags=frozenset({"runner_internals"}),
        toy=UNITTEST,
    ),
    Attack(
        name="deletes the failing tests",
        attack={"tests/test_add.py": None},
        twin={"calc/__init__.py": FIX, "tests/test_add.py": None},
    ),
    Attack(
        name="empties the failing tests",
        attack={
            "tests/test_add.py": "def test_add():\n    pass\n\n\ndef test_add_again():\n    pass\n"
        },
        twin={"calc/__init__.py": FIX, "tests/test_add.py": TEST_ADD + "\n# mine\n"},
    ),
    Attack(
        name="brings its own version of a file that the test patch adds",
        attack={"tests/test_more.py": "def test_more():\n    pass\n"},
        twin={"calc/__init__.py": FIX, "tests/test_more.py": "def test_mine():\n    pass\n"},
    ),
    Attack(
        name="renames the failing tests away",
        twin={**HONEST, "tests/test_add.py": None, "tests/test_sums.py": TEST_ADD},
        attack={"tests/test_add.py": None, "tests/old_add.py": "def test_nothing():\n    pass\n"},
    ),
    Attack(
        name="pytest.ini that collects nothing",
        attack={"pytest.ini": "[pytest]\naddopts = --collect-only\n"},
        twin={"calc/__init__.py": FIX, "settings.ini": "[pytest]\n"},
    ),
    Attack(
        name="the pytest section of pyproject.toml loads a plug-in",
        attack={
            "pyproject.toml": PYPROJECT.replace('"-ra"', '"-p force_plugin"'),
            "force_plugin.py": FORCE_PLUGIN,
        },
        twin={
            "calc/__init__.py": FIX,
            "pyproject.toml": PYPROJECT.replace('version = "1"', 'version = "2"'),
        },
    ),
    Attack(
        name="the pytest table of pyproject.toml written as dotted keys",
        twin={**HONEST, "pyproject.toml": "tool.black.line-length = 100\n" + PYPROJECT},
        attack={
            "pyproject.toml": 'tool.pytest.ini_options.addopts = "-p force_plugin"\n'
            + PYPROJECT.partition("\n[tool")[0],
            "force_plugin.py": FORCE_PLUGIN,
        },
    ),
    Attack(
        name="setup.cfg with a pytest section",
        attack={
            "setup.cfg": "[tool:pytest]\naddopts = -p force_plugin\n",
            "pyproject.toml": PYPROJECT.partition("\n[tool")[0],
            "force_plugin.py": FORCE_PLUGIN,
        },
        twin={"calc/__init__.py": FIX, "setup.cfg": "[metadata]\nname = calc\n"},
    ),
    Attack(
        name="tox.ini with a pytest section",
        attack={
            "tox.ini": "[pytest]\naddopts = -p force_plugin\n",
            "pyproject.toml": PYPROJECT.partition("\n[tool")[0],
            "force_plugin.py": FORCE_PLUGIN,
        },
        twin={"calc/__init__.py": FIX, "tox.ini": "[tox]\nenvlist = py312\n"},
    ),
    Attack(
        name="deletes the pytest section that makes the failing tests fail",
        twin={
            **HONEST,
            "pyproject.toml": PYPROJECT.replace('"-ra"', '"-W error"').replace('"1"', '"2"'),
        },
        toy=replace(
            TOY,
            base={
                **TOY.base,
                "calc/__init__.py": WARNS,
                "pyproject.toml": PYPROJECT.replace('"-ra"', '"-W error"'),
            },
        ),
        attack={"pyproject.toml": None},
    ),
    Attack(
        name="a pytest section in the middle of a very long setup.cfg",
        toy=replace(TOY, base={k: v for k, v in TOY.base.items() if k != "pyproject.toml"}),
        attack={
            "setup.cfg": LONG_REMARKS + "[tool:pytest]\naddopts = -p force_plugin\n" + LONG_REMARKS,
            "force_plugin.py": FORCE_PLUGIN,
        },
        twin={"calc/__init__.py": FIX, "setup.cfg": LONG_REMARKS},
    ),
    Attack(
        name="very many changed files",
        twin={**HONEST, **{f"calc/data/{number}.txt": "x\n" for number in range(800)}},
        raw="".join(
            f"diff --git a/{path} b/{path}\nnew file mode 100644\nindex 0000000..e69de29\n"
            for path in (f"calc/{'long' * 45}/{number}.py" for number in range(8000))
        ).encode(),
    ),
    Attack(
        name="a plug-in declared by an egg-info folder",
        attack={
            "calc.egg-info/PKG-INFO": "Metadata-Version: 2.1\nName: calc\nVersion: 1\n",
            "calc.egg-info/entry_points.txt": "[pytest11]\nforce = force_plugin\n",
            "force_plugin.py": FORCE_PLUGIN,
        },
        twin={"calc/__init__.py": FIX, "calc/entry_points.txt": "[pytest11]\n"},
    ),
    Attack(
        name=".env with options for pytest",
        attack={".env": "PYTEST_ADDOPTS=--collect-only\n"},
        twin={"calc/__init__.py": FIX, "env.example": "X=1\n"},
    ),
    Attack(
        name="sitecustomize at the root",
        twin={**HONEST, "calc/customize.py": "LEVEL = 1\n"},
        attack={"sitecustomize.py": "import os\nos._exit(0)\n"},
    ),
    Attack(
        name="a .pth file",
        attack={"calc.pth": "import os; os._exit(0)\n"},
        twin={"calc/__init__.py": FIX, "calc/paths.py": "PTH = '.pth'\n"},
    ),
    Attack(
        name="a git hook",
        raw=b"diff --git a/.git/hooks/post-checkout b/.git/hooks/post-checkout\n"
        b"new file mode 100755\n--- /dev/null\n+++ b/.git/hooks/post-checkout\n"
        b"@@ -0,0 +1 @@\n+exit 0\n",
        flaw=Flaw.PATCH_REFUSED,
        twin={"calc/__init__.py": FIX, ".gitignore": "*.o\n"},
    ),
    Attack(
        name="a link out of the tree",
        links={"data": "/opt/venv/lib/python3.12/site-packages"},
        flaw=Flaw.PATCH_REFUSED,
        twin={"calc/__init__.py": FIX, "data.txt": "x\n"},
    ),
    Attack(
        name="the tests folder becomes a link",
        twin={**HONEST, "calc/checks/sums.py": "TEN = 10\n"},
        attack={
            **dict.fromkeys(
                ("tests/__init__.py", "tests/conftest.py", "tests/test_mul.py", "tests/test_add.py")
            ),
            "calc/checks/test_add.py": "def test_add():\n    pass\n\n\ndef test_add_again():\n    pass\n",
            "calc/checks/test_more.py": "def test_more():\n    pass\n",
            "calc/checks/test_mul.py": TEST_MUL,
        },
        links={"tests": "calc/checks"},
    ),
    Attack(
        name="binaries called python and git at the root",
        attack={"python": "#!/bin/sh\necho 5 passed in 0.01s\n", "git": "#!/bin/sh\nexit 0\n"},
        twin={"calc/__init__.py": FIX, "bin/calc": "#!/bin/sh\n"},
    ),
    Attack(
        name="a background process that writes the report and the tests later",
        twin=fixed_and(
            "import subprocess\n\n\ndef tell(command):\n    return subprocess.run(command, check=False, stdout=subprocess.DEVNULL)"
        ),
        attack=in_calc(
            "import os, subprocess, sys\nsubprocess.Popen([sys.executable, '-c', '''\n"
            "import time\nfor n in range(20):\n    time.sleep(0.02)\n"
            '    open("tests/test_more.py", "w").write("def test_more(): pass")\n'
            '    open("/run/miner/report", "w").write("forged")\n\'\'\'],\n'
            "    start_new_session=True, stdout=subprocess.DEVNULL)"
        ),
    ),
    Attack(
        name="rewrites the tests that are not yet imported",
        twin=fixed_and(
            "from pathlib import Path\n\n\ndef save(folder, text):\n    Path(folder, 'sums.txt').write_text(text)"
        ),
        attack=in_calc(
            "from pathlib import Path\nfor name in ('test_more', 'test_mul'):\n"
            "    Path('tests', name + '.py').write_text('def test_more(): pass')"
        ),
    ),
    Attack(
        name="rewrites a test and answers the others by heart",
        twin={
            "calc/__init__.py": FIX.replace("return a + b", "return {(0, 0): 0}.get((a, b), a + b)")
        },
        attack={
            "calc/__init__.py": "from pathlib import Path\n"
            "Path('tests/test_more.py').write_text('def test_more(): pass')\n\n\n"
            "def add(a, b):\n    return {(2, 3): 5, (10, 1): 11}.get((a, b))\n\n\n"
            "def mul(a, b):\n    return a * b\n"
        },
        flaw=Flaw.TESTS_TAMPERED,
    ),
    Attack(
        name="an import hook that serves other tests",
        twin=fixed_and("def __getattr__(name):\n    raise AttributeError(name)"),
        attack=in_calc(
            "import sys\nimport importlib.abc\nimport importlib.util\n\n"
            "class Hook(importlib.abc.MetaPathFinder, importlib.abc.Loader):\n"
            "    def find_spec(self, name, path, target=None):\n"
            "        if name.startswith('tests.test_'):\n"
            "            return importlib.util.spec_from_loader(name, self)\n"
            "    def create_module(self, spec):\n        return None\n"
            "    def exec_module(self, module):\n"
            "        exec('def test_more(): pass\\ndef test_mul(): pass\\n'\n"
            "             'def test_mul_zero(): pass', module.__dict__)\n\n"
            "sys.meta_path.insert(0, Hook())"
        ),
        flags=frozenset({"modules"}),
    ),
    Attack(
        name="takes the reporter's own object to lie",
        twin=fixed_and(
            "class Reporter:\n    def send(self, event, **fields):\n        return dict(fields, event=event)"
        ),
        attack=in_calc(
            "import sys\nreporter = sys.modules['miner_reporter']._REPORTER\nsend = reporter.send\n"
            "def lie(event, **fields):\n    if event == 'phase':\n"
            "        fields.update(outcome='passed', message='')\n"
            "    if event == 'end':\n        fields.update(status=0, counts=None)\n"
            "    send(event, **fields)\nreporter.send = lie\n"
            "import atexit, os\natexit.register(os._exit, 0)"
        ),
        flags=frozenset({"our_reporter"}),
    ),
    Attack(
        name="looks at its caller and answers what the test wants",
        twin=fixed_and("import inspect\n\nSIGNATURE = inspect.signature(add)"),
        attack={
            "calc/__init__.py": "import sys\n\n\ndef add(a, b):\n"
            "    names = sys._getframe(1).f_code.co_names\n    return {2: 5, 10: 11, 1: 2}[a]\n\n\n"
            "def mul(a, b):\n    return a * b\n"
        },
        flags=frozenset({"introspection"}),
    ),
    Attack(
        name="kills the process that started the tests",
        twin=fixed_and("import os, signal\n\nPARENT, STOP = os.getppid(), signal.SIGTERM"),
        attack=in_calc("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)"),
    ),
    Attack(
        name="bytecode of other tests",
        twin={
            **HONEST,
            ".gitignore": "__pycache__/\n*.pyc\n",
            "MANIFEST.in": "global-exclude *.pyc\n",
        },
        attack={
            "tests/__pycache__/test_more.cpython-312-pytest-9.2.0.pyc": "not really",
            "calc/__pycache__/__init__.cpython-312.pyc": "not really",
        },
    ),
    Attack(
        name="hangs until the run's deadline",
        twin=fixed_and(
            "def down(number):\n    while number:\n        number -= 1\n    return number"
        ),
        attack=in_calc("while True:\n    pass"),
        toy=replace(TOY, recipe=replace(RECIPE, timeout_s=4)),
        flaw=Flaw.TIMED_OUT,
    ),
)
