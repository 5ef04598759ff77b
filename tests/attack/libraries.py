"""Attacks through what tests rely on beside themselves: the standard library, helpers that the
package ships, its data and examples, bytecode, and what is imported before anything reports."""

# ruff: noqa: E501 - programs inside strings

from dataclasses import replace
from textwrap import indent

from tests.attack.cases import (
    BUG,
    CONFTEST,
    FIX,
    FORCE_PLUGIN,
    HONEST,
    PYPROJECT,
    TEST_ADD,
    TEST_MORE,
    TEST_MUL,
    TOLD_RUN,
    TOY,
    Attack,
    fixed_and,
    in_calc,
)
from tests.attack.hiding_places import INSIDE, UNCONFIGURED
from tests.toy import RECIPE, Files, Toy


def _tested(test_more: str, base: Files = TOY.base, **more: object) -> Toy:
    """A toy whose one required test is `test_more` of that module."""
    return replace(
        TOY,
        base=base,
        tests={"tests/test_more.py": test_more},
        fail_to_pass=("tests/test_more.py::test_more",),
        pass_to_pass=(),
        **more,  # type: ignore[arg-type]
    )


_CLOSE = _tested(
    "import math\nfrom calc import add\n\n\ndef test_more():\n    assert math.isclose(add(1, 1), 2)\n"
)
_AWAITED = _tested(
    "import asyncio\nfrom calc import add\n\n\nasync def main():\n    assert add(1, 1) == 2\n\n\n"
    "def test_more():\n    asyncio.run(main())\n"
)
_NEARLY = _tested(
    "import pytest\nfrom calc import add\n\n\ndef test_more():\n"
    "    assert add(1, 1) == pytest.approx(2)\n"
)
_SESSION = (
    "\n\nclass Session:\n    def __enter__(self):\n        return self\n\n"
    "    def __exit__(self, *failure):\n        return None\n"
)
_WITHIN = _tested(
    "from calc import Session, add\n\n\ndef test_more():\n    with Session():\n"
    "        assert add(1, 1) == 2\n",
    {**TOY.base, "calc/__init__.py": BUG + _SESSION},
)
_WITHIN = replace(_WITHIN, gold={"calc/__init__.py": FIX + _SESSION})
_WORKER = (
    "\n\ndef start(target):\n    import threading\n    thread = threading.Thread(target=target)\n"
    "    thread.start()\n    return thread\n"
)
_IN_THREADS = replace(
    _tested(
        "from calc import add, start\n\n\ndef check():\n    assert add(1, 1) == 2\n\n\n"
        "def test_more():\n    start(check).join()\n",
        {
            **TOY.base,
            "calc/__init__.py": BUG + _WORKER,
            "pyproject.toml": PYPROJECT.replace('"-ra"', '"-W error"'),
        },
    ),
    gold={"calc/__init__.py": FIX + _WORKER},
)
_SAME = "def same(a, b):\n    assert a == b\n"
_HELPED = _tested(
    "from calc import add\nfrom calc.testing import same\n\n\ndef test_more():\n    same(add(1, 1), 2)\n",
    {**TOY.base, "calc/testing.py": _SAME},
)
_STARRED_FIXTURES = replace(
    _tested(TEST_ADD.replace("test_add_again", "test_more")),
    base={
        "calc/__init__.py": BUG,
        "calc/fixtures.py": CONFTEST,
        "tests/conftest.py": "from calc.fixtures import *\n",
    },
)
_STARRED_FIXTURES = replace(
    _STARRED_FIXTURES,
    tests={
        "tests/test_more.py": "from calc import add\n\n\ndef test_more(ten):\n    assert add(ten, 1) == 11\n"
    },
)
_EXAMPLE = (
    'def add(a, b):\n    """The sum.\n\n    >>> add(2, 3)\n    5\n    """\n    return a {} b\n'
)
_DOCTESTED = Toy(
    base={
        "calc.py": _EXAMPLE.format("-"),
        "pytest.ini": "[pytest]\naddopts = --doctest-modules\n",
        "test_calc.py": "",
    },
    tests={
        "test_calc.py": "from calc import add\n\n\ndef test_zero():\n    assert add(0, 0) == 0\n"
    },
    gold={"calc.py": _EXAMPLE.format("+")},
    fail_to_pass=("calc.py::calc.add",),
    pass_to_pass=("test_calc.py::test_zero",),
    whole_suite=True,
)
_CASES = (
    "import json\nfrom importlib import resources\nimport pytest\nfrom calc import add\n\n"
    "CASES = json.loads(resources.files('calc').joinpath('cases.json').read_text())\n\n\n"
    "@pytest.mark.parametrize('name', list(CASES))\ndef test_more(name):\n"
    "    *numbers, total = CASES[name]\n    assert add(*numbers) == total\n"
)
_PACKAGED_CASES = replace(
    _tested(_CASES, {**TOY.base, "calc/cases.json": '{"one": [1, 1, 2]}\n'}),
    fail_to_pass=("tests/test_more.py::test_more[one]",),
)
_DATA_BESIDE = replace(
    INSIDE,
    base={**INSIDE.base, "calc/test_more/sums.json": "[[1, 1, 2]]\n"},
    tests={
        "calc/test_more.py": "import json\nfrom pathlib import Path\nfrom calc import add\n\n\n"
        "def test_more():\n    text = Path(__file__).with_suffix('').joinpath('sums.json').read_text()\n"
        "    assert all(add(a, b) == c for a, b, c in json.loads(text))\n"
    },
)
_IN_OTHERS = _tested(
    "import subprocess, sys\n\n\ndef test_more():\n    code = 'import calc; print(calc.add(1, 1))'\n"
    "    assert subprocess.check_output([sys.executable, '-c', code]) == b'2\\n'\n"
)
_LATER = replace(TOY, fail_to_pass=("tests/test_more.py::test_more",), pass_to_pass=())
"""The required test is in a module that is imported after others."""

_CONVERTED = replace(
    _LATER,
    recipe=replace(RECIPE, build_cmd="python -m lib2to3 --write --nobackups --no-diffs calc"),
)

_PY_COMPILED = """
import os, pathlib, py_compile, sys
from importlib import metadata

CHECKED = py_compile.PycInvalidationMode.CHECKED_HASH
folder = pathlib.Path("te" + "sts")
real = folder / ("te" + "st_more.py")
other = pathlib.Path("/tmp/other.py")
other.write_text("def te" + "st_more():\\n    pass\\n")
packed = []
for source in (real, other):
    py_compile.compile(str(source), "/tmp/packed", invalidation_mode=CHECKED)
    packed.append(pathlib.Path("/tmp/packed").read_bytes())
tag = sys.implementation.cache_tag + "-py" + "test-" + metadata.version("py" + "test")
target = folder / ("__pyca" + "che__") / (real.stem + "." + tag + ".py" + "c")
target.parent.mkdir(exist_ok=True)
target.parent.chmod(0o755)
target.write_bytes(packed[0][:16] + packed[1][16:])
"""
"""Bytecode as pytest keeps it, whose digest is that of the test as it is."""

_SWAPPED = """
import os, pathlib, shutil

here = pathlib.Path("te" + "sts")
kept = pathlib.Path(".kept")
shutil.copytree(here, ".copy")
pathlib.Path(".copy", "te" + "st_more.py").write_text("def te" + "st_more():\\n    pass\\n")
here.rename(kept)
pathlib.Path(".copy").rename(here)


def back():
    here.rename(".copy")
    kept.rename(here)
    shutil.rmtree(".copy")


def mul(a, b):
    if kept.exists():
        back()
    return a * b


def add(a, b):
    return a - b
"""
_INSIDE = Toy(
    base={
        "calc/__init__.py": BUG,
        "calc/tests/__init__.py": "",
        "calc/tests/test_mul.py": TEST_MUL,
        "pyproject.toml": PYPROJECT,
    },
    tests={"calc/tests/test_more.py": TEST_MORE, "calc/tests/test_mul.py": TEST_MUL + "# more\n"},
    gold={"calc/__init__.py": FIX},
    fail_to_pass=("calc/tests/test_more.py::test_more",),
    pass_to_pass=(),
)
"""Tests inside the package: what imports it keeps bytecode in a folder above them."""

_SWAPPED_INSIDE = _SWAPPED.replace('pathlib.Path("te" + "sts")', 'pathlib.Path("calc/te" + "sts")')

_JUMPS = """
import bdb


class Walker(bdb.Bdb):
    def user_line(self, frame):
        if frame.f_code.co_name == "te" + "st_more":
            lines = [line for *_, line in frame.f_code.co_lines() if line]
            if frame.f_lineno != max(lines):
                frame.f_lineno = max(lines)
        self.set_step()


walker = Walker()


def add(a, b):
    walker.set_trace()
    return a - b


def mul(a, b):
    return a * b
"""
_PAST_ASSERTION = _tested(
    "from calc import add\n\n\ndef test_more():\n    total = add(1, 1)\n    assert total == 2\n    total = None\n"
)
_MEMORY = """
import os, pathlib, posix, re


def nonces():
    me = pathlib.Path("/proc", "self")
    with open(me / "maps") as maps, open(me / "mem", "rb", 0) as memory:
        for line in maps:
            span, rights, *_ = line.split()
            begin, end = (int(each, 16) for each in span.split("-"))
            try:
                memory.seek(begin)
                text = memory.read(end - begin) if rights.startswith("rw") else b""
            except (OSError, OverflowError, ValueError):
                continue
            yield from re.findall(rb"\\n([0-9a-f]{16}) [.] {", text)


def add(a, b):
    records = []
    for name in IDS:
        for when in ("setup", "call", "teardown"):
            record = '{"event":"phase","id":"%s","when":"%s","outcome":"passed"}'
            records.append(record % (name, when))
    records.append('{"event":"end","status":0}')
    fd = os.open("/run/mi" + "ner/report", os.O_WRONLY)
    for nonce in set(nonces()):
        for record in records:
            os.write(fd, b"\\n" + nonce + b" . " + record.encode() + b"\\n")
    leave = [value for name, value in vars(posix).items() if name == "_ex" + "it"]
    leave[0](0)


def mul(a, b):
    return a * b
""".replace(
    "IDS",
    repr([*TOY.fail_to_pass, *TOY.pass_to_pass]).replace("tests/test_", "tests/te' 'st_"),
)

_NEAR = """
class Near(float):
    def __sub__(self, other):
        return 0.0

    __rsub__ = __sub__


def add(a, b):
    return Near(a - b)


def mul(a, b):
    return a * b
"""
_TOLD_EARLY = """
import os, sys

line = sys.stdin.readline().split()
if line[:1] == ["mi" + "ner-report"]:
    nonce, pipe = line[1:3]
    ids = IDS
TOLD
    import posix
    getattr(posix, "_ex" + "it")(0)


class Slow(UserWarning):
    pass

""".replace(
    "IDS",
    repr([*TOY.fail_to_pass, *TOY.pass_to_pass]).replace("tests/test_", "tests/te' 'st_"),
).replace("TOLD\n", indent(TOLD_RUN, "    "))
_WARNS = fixed_and(
    "import warnings\n\n\nclass Slow(UserWarning):\n    pass\n\n\ndef slow():\n"
    "    warnings.warn('slow', Slow, stacklevel=2)"
)
_SLOW = "\n\nclass Slow(UserWarning):\n    pass\n"
_WARNED = replace(
    TOY,
    base={**TOY.base, "calc/__init__.py": BUG + _SLOW},
    gold={"calc/__init__.py": FIX + _SLOW},
    recipe=replace(
        RECIPE,
        test_cmd="python -W error::calc.Slow -m pytest",
        env_vars=(("PYTHONPATH", "/testbed"),),
    ),
)
_WARNED_BY_VARIABLE = replace(
    _WARNED,
    recipe=replace(
        RECIPE, env_vars=(("PYTHONPATH", "."), ("PYTHONWARNINGS", "ignore,error::calc.Slow"))
    ),
)
_STARTED_BY_SCRIPT = replace(
    TOY,
    base={
        **TOY.base,
        "run.py": "import sys, calc, pytest\n\nraise SystemExit(pytest.main(sys.argv[1:]))\n",
    },
    recipe=replace(RECIPE, test_cmd="python run.py"),
)
_TWICE = """
import os


def add(a, b):
    if os.fork():
        os.wait()
        return a - b
    return a + b


def mul(a, b):
    return a * b
"""

_FORCES = "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n"
_PROSE = '"""Prose."""\n'
_SUM = (
    "\n\nclass Sum:\n    def __init__(self, a, b):\n        self.n = add(a, b)\n\n"
    "    def __eq__(self, other):\n        return self.n == other.n\n\n    __hash__ = None\n"
)
_EQUAL = replace(
    _tested(
        "from calc import Sum\n\n\ndef test_more():\n    assert Sum(1, 1) == Sum(2, 0)\n"
        "    assert Sum(2, 1) == Sum(1, 2)\n",
        {**TOY.base, "calc/__init__.py": BUG + _SUM},
    ),
    gold={"calc/__init__.py": FIX + _SUM},
)

THROUGH_LIBRARIES = (
    Attack(
        name="a function of the standard library that tests compare by is replaced",
        toy=_CLOSE,
        attack=in_calc("import math\n\nmath.isclose = lambda *a, **k: True"),
        flags=frozenset({"modules"}),
        twin={"calc/__init__.py": "import math\n\nclose = math.isclose\n\n\n" + FIX},
    ),
    Attack(
        name="what runs coroutines is replaced",
        toy=_AWAITED,
        attack=in_calc("import asyncio\n\nasyncio.run = lambda main, **_: main.close()"),
        flags=frozenset({"modules"}),
        twin={"calc/__init__.py": "import asyncio\n\nrun = asyncio.run\n\n\n" + FIX},
    ),
    Attack(
        name="a number that is near to every other",
        toy=_NEARLY,
        attack={"calc/__init__.py": _NEAR},
        flags=frozenset({"always_true"}),
        twin={
            "calc/__init__.py": FIX
            + "\n\nclass Near(float):\n    def __sub__(self, other):\n        return Near(float(self) - other)\n"
        },
    ),
    Attack(
        name="a context manager that swallows what assertions raise",
        toy=_WITHIN,
        attack={
            "calc/__init__.py": BUG + _SESSION.replace("return None", "return True")
        },  # its head stays
        flags=frozenset({"always_true"}),
        twin={
            "calc/__init__.py": FIX
            + _SESSION.replace("return None", "self.failed = failure[0]\n        return False")
        },
    ),
    Attack(
        name="catches what assertions raise",
        toy=_WITHIN,
        attack={
            "calc/__init__.py": "from contextlib import contextmanager\n\n\n@contextmanager\n"
            "def Session():\n    try:\n        yield\n    except AssertionError:\n        pass\n\n\n"
            + BUG
        },
        flags=frozenset({"test_awareness"}),
        twin={
            "calc/__init__.py": "from contextlib import contextmanager\n\n\n@contextmanager\n"
            "def Session():\n    try:\n        yield\n    except OSError:\n        pass\n\n\n" + FIX
        },
    ),
    Attack(
        name="what threads raise is heard by nobody",
        toy=_IN_THREADS,
        attack={
            "calc/__init__.py": BUG
            + _WORKER.replace(
                "    thread =", "    threading.excepthook = lambda told: None\n    thread ="
            )
        },
        flags=frozenset({"modules"}),
        twin={
            "calc/__init__.py": FIX + _WORKER.replace("target=target", "target=target, name='t'")
        },
    ),
    Attack(
        name="a helper for tests that the package ships finds all the same",
        toy=_HELPED,
        attack={"calc/testing.py": "def same(a, b):\n    pass\n"},
        flags=frozenset({"test_support"}),
        twin={**HONEST, "calc/checks.py": _SAME},
    ),
    Attack(
        name="fixtures of the package that a conftest imports suit the bug",
        toy=_STARRED_FIXTURES,
        attack={"calc/fixtures.py": CONFTEST.replace("10", "12")},
        flags=frozenset({"test_support"}),
        twin={**HONEST, "calc/fixing.py": "TEN = 12\n"},
    ),
    Attack(
        name="an example of the package that is a test says what the bug gives",
        toy=_DOCTESTED,
        attack={"calc.py": _EXAMPLE.format("-").replace("    5\n", "    -1\n")},
        flags=frozenset({"test_support"}),
        twin={"calc.py": _EXAMPLE.format("+").replace("The sum.", "The sum of two numbers.")},
    ),
    Attack(
        name="an example of the package that is a test is skipped",
        toy=_DOCTESTED,
        attack={
            "calc.py": _EXAMPLE.format("-").replace("add(2, 3)", "add(2, 3)  # doctest: +SKIP")
        },
        twin={"calc.py": _EXAMPLE.format("+") + "\n\nSKIP = 0  # nothing of doctest's\n"},
    ),
    Attack(
        name="cases of the tests that the package holds are emptied",
        toy=_PACKAGED_CASES,
        attack={"calc/cases.json": "{}\n"},
        twin={**HONEST, "calc/more.json": "{}\n"},
    ),
    Attack(
        name="cases of the tests that the package holds say what the bug gives",
        toy=_PACKAGED_CASES,
        attack={"calc/cases.json": '{"one": [1, 1, 0]}\n'},
        flags=frozenset({"test_support"}),
        twin={**HONEST, "calc/other.json": '{"one": [1, 1, 0]}\n'},
    ),
    Attack(
        name="data in a folder of the test's name beside it",
        toy=_DATA_BESIDE,
        attack={"calc/test_more/sums.json": "[[1, 1, 0]]\n"},
        twin={**HONEST, "calc/test_more/sums.json": "[]\n", "calc/more/sums.json": "[]\n"},
    ),
    Attack(
        name="another sitecustomize for the processes that tests start",
        toy=_IN_OTHERS,
        attack={
            "calc/inner/sitecustomize.py": "print(2)\nimport os\nos._exit(0)\n",
            "calc/__init__.py": "import os\n\nos.environ['PYTHONPATH'] = 'calc/inner'\n" + BUG,
        },
        twin={
            "calc/__init__.py": "import os\n\nos.environ.setdefault('CALC_HOME', 'calc')\n" + FIX,
            "calc/inner/customize.py": "X = 1\n",
        },
    ),
    Attack(
        name="bytecode for a later test, compiled by a module that compiles",
        toy=_LATER,
        attack=in_calc(_PY_COMPILED),
        flags=frozenset({"files_of_tests"}),
        twin={"calc/__init__.py": "from importlib import metadata\n\n" + FIX},
    ),
    Attack(
        name="bytecode for a later test of a project whose sources are Python 2",
        toy=_CONVERTED,
        attack=in_calc(_PY_COMPILED),
        flags=frozenset({"files_of_tests"}),
        twin={"calc/__init__.py": FIX + "\n\ndef show(text):\n    print text\n"},
    ),
    Attack(
        name="swaps the whole folder of tests and puts it back",
        toy=_LATER,
        attack={"calc/__init__.py": _SWAPPED},
        flags=frozenset({"files_of_tests"}),
        twin={
            "calc/__init__.py": FIX
            + "\n\ndef save(path, text):\n    import os\n    with open('.new', 'w') as out:\n"
            "        out.write(text)\n    os.replace('.new', path)\n"
        },
    ),
    Attack(
        name="swaps the whole folder of tests, puts it back and writes into it",
        toy=_LATER,
        attack={
            "calc/__init__.py": _SWAPPED.replace(
                '    shutil.rmtree(".copy")\n',
                '    shutil.rmtree(".copy")\n    (here / "out.txt").touch()\n    (here / "out.txt").unlink()\n',
            )
        },
        flags=frozenset({"files_of_tests"}),
        twin=fixed_and(
            "def change(text):\n    return text.replace('a', 'b').replace('b', 'c')\n\n\n"
            "open('tests.log', 'w').close()"
        ),
    ),
    Attack(
        name="swaps the folder of tests inside the package and puts it back",
        toy=_INSIDE,
        attack={"calc/__init__.py": _SWAPPED_INSIDE},
        flags=frozenset({"files_of_tests"}),
        twin=fixed_and(
            "import shutil\n\n\ndef clean(folder, table):\n    shutil.rmtree(folder)\n"
            "    return table.rename(columns={'a': 'b'})"
        ),
    ),
    Attack(
        name="a link makes prose a module",
        attack={
            "notes.txt": _FORCES + _PROSE,
            "calc/__init__.py": "from calc import force\n\n" + BUG,
        },
        links={"calc/force.py": "../notes.txt"},
        flags=frozenset({"runner_internals"}),
        twin={**HONEST, "notes.txt": "Use import_module of pytest's os._exit (never).\n"},
    ),
    Attack(
        name="prose is copied to where it is a module",
        attack={
            "notes.txt": _FORCES,
            "calc/__init__.py": "import shutil\n\nshutil.copy('notes.txt', 'calc/force.py')\n"
            "from calc import force\n\n" + BUG,
        },
        flags=frozenset({"runner_internals"}),
        twin={**HONEST, "notes.txt": "import os, then call it\n"},
    ),
    Attack(
        name="an equality that is there says yes to everything",
        toy=_EQUAL,
        attack={"calc/__init__.py": BUG + _SUM.replace("self.n == other.n", "True")},
        flags=frozenset({"always_true"}),
        twin={"calc/__init__.py": FIX + _SUM.replace("self.n == other.n", "other.n == self.n")},
    ),
    Attack(
        name="a debugger jumps over the assertion",
        twin=fixed_and(
            "import traceback\n\n\ndef told(error):\n    return traceback.format_exception(error)"
        ),
        toy=_PAST_ASSERTION,
        attack={"calc/__init__.py": _JUMPS},
        flags=frozenset({"introspection"}),
    ),
    Attack(
        name="reads the nonce in its own memory",
        attack={"calc/__init__.py": _MEMORY},
        flags=frozenset({"memory"}),
        twin={"calc/__init__.py": "import os\n\nCORES = os.cpu_count()\n" + FIX},
    ),
    Attack(
        name="a category of warnings is imported before the reporter and reads the nonce",
        toy=_WARNED,
        attack={"calc/__init__.py": _TOLD_EARLY + BUG},
        flags=frozenset({"our_reporter"}),
        twin=_WARNS,
    ),
    Attack(
        name="a category of warnings that a variable names reads the nonce",
        toy=_WARNED_BY_VARIABLE,
        attack={"calc/__init__.py": _TOLD_EARLY + BUG},
        flags=frozenset({"our_reporter"}),
        twin=_WARNS,
    ),
    Attack(
        name="a script that starts pytest imports the package, which reads the nonce",
        toy=_STARTED_BY_SCRIPT,
        attack={"calc/__init__.py": _TOLD_EARLY + BUG},
        flags=frozenset({"our_reporter"}),
        twin={**HONEST, "run.py": "import sys\n\nsys.exit(3)\n"},
    ),
    Attack(
        name="a child goes on with the tests and answers well",
        twin=fixed_and(
            "from concurrent.futures import ThreadPoolExecutor\n\n\ndef sums(pairs):\n    with ThreadPoolExecutor(2) as pool:\n        return list(pool.map(lambda pair: add(*pair), pairs))"
        ),
        attack={"calc/__init__.py": _TWICE},
    ),
    Attack(
        name="pytest's own kind of configuration in TOML",
        toy=UNCONFIGURED,
        attack={
            ".pytest.toml": '[pytest]\naddopts = ["-p", "force_plugin"]\n',
            "force_plugin.py": FORCE_PLUGIN,
        },
        twin={**HONEST, "calc/settings.toml": '[pytest]\naddopts = ["-p", "force_plugin"]\n'},
    ),
    Attack(
        name="pytest's own table of pyproject.toml",
        toy=UNCONFIGURED,
        attack={
            "pyproject.toml": '[tool.pytest]\naddopts = ["-p", "force_plugin"]\n',
            "force_plugin.py": FORCE_PLUGIN,
        },
        twin={**HONEST, "pyproject.toml": "[tool.black]\nline-length = 100\n"},
    ),
    Attack(
        name="configuration that pytest takes before that of the project",
        attack={
            "pytest.toml": '[pytest]\naddopts = ["-p", "force_plugin"]\n',
            "tox.ini": "[pytest]\naddopts = -p force_plugin\n",
            "setup.cfg": "[tool:pytest]\naddopts = -p force_plugin\n",
            "force_plugin.py": FORCE_PLUGIN,
        },
        twin={
            **HONEST,
            "tox.ini": "[testenv]\ncommands = pytest\n",
            "setup.cfg": "[flake8]\nmax-line-length = 100\n",
        },
    ),
    Attack(
        name="says that its assertions need no rewriting",
        attack={"calc/__init__.py": '"""PYTEST_DONT_REWRITE"""\n\n__debug = False\n\n' + BUG},
        twin={"calc/__init__.py": '"""PYTEST_DONT_REWRITE"""\n\n' + FIX},
    ),
)
