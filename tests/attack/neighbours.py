"""Attacks from beside the tests: what they are imported with, what configuration names, what
processes find, and what a build reaches."""

# ruff: noqa: E501 - programs inside strings

from dataclasses import replace

from tests.attack.cases import (
    BUG,
    CONFTEST,
    FIX,
    FORCE_PLUGIN,
    HONEST,
    PYPROJECT,
    TEST_ADD,
    TEST_MUL,
    TOLD_RUN,
    TOY,
    UNITTEST,
    Attack,
    fixed_and,
    in_calc,
)
from tests.attack.hiding_places import BUILT, DATA
from tests.toy import RECIPE
from validators.model import Flaw

_FIVE = "def Fraction(number):\n    return 5\n"
_USES = "from fractions import Fraction\nfrom calc.core import add\n\n\n"
_FRACTION = "def test_add():\n    assert Fraction(add(2, 3)) == 5\n"
_CORE = {"calc/__init__.py": "", "calc/core.py": BUG}
_CORE_FIXED = {"calc/core.py": FIX}

BESIDE = replace(
    TOY,
    base={**_CORE, "checks/test_mul.py": TEST_MUL.replace("calc", "calc.core")},
    tests={"checks/test_sums.py": _USES + _FRACTION},
    gold=_CORE_FIXED,
    fail_to_pass=("checks/test_sums.py::test_add",),
    pass_to_pass=(),
)
WITHIN = replace(
    BESIDE,
    base=_CORE,
    tests={"calc/test_sums.py": _USES + _FRACTION},
    fail_to_pass=("calc/test_sums.py::test_add",),
)
ON_PATH = replace(
    BESIDE,
    base={
        **_CORE,
        "tests/conftest.py": "",
        "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["tools"]\n',
        "tools/sums.py": "TEN = 10\n",
    },
    tests={"tests/test_sums.py": _USES + _FRACTION},
    fail_to_pass=("tests/test_sums.py::test_add",),
)
PLUGGED = replace(
    TOY,
    base={
        **TOY.base,
        "pyproject.toml": PYPROJECT.replace('"-ra"', '["-ra", "-p", "tools.plug"]'),
        "tools/plug.py": "LEVEL = 1\n",
    },
)
ITS_OWN_PLUG_IN = replace(PLUGGED, gold={"calc/__init__.py": FIX, "tools/plug.py": "LEVEL = 3\n"})
BELOW = replace(
    TOY,
    base={
        "calc/__init__.py": BUG,
        "sub/pytest.ini": "[pytest]\naddopts = -p tools.plug\n",
        "sub/tests/test_add.py": "",
        "tools/plug.py": "LEVEL = 1\n",
    },
    tests={
        "sub/tests/test_add.py": "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"
    },
    fail_to_pass=("tests/test_add.py::test_add",),
    pass_to_pass=(),
)
FIXTURES = replace(
    TOY,
    base={
        "calc/__init__.py": BUG,
        "conftest.py": 'pytest_plugins = [\n    "tools.given",  # what tests are given\n]\n',
        "tools/given.py": CONFTEST,
        "tests/test_add.py": "",
    },
    tests={"tests/test_add.py": TEST_ADD.replace("def test_add()", "def also()")},
    fail_to_pass=("tests/test_add.py::test_add_again",),
    pass_to_pass=(),
)
CALLED_OTHERWISE = replace(
    TOY,
    base={
        "calc/__init__.py": BUG,
        "pytest.ini": "[pytest]\npython_files = check_*.py\n",
        "checks/check_mul.py": TEST_MUL,
    },
    tests={
        "checks/check_add.py": "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"
    },
    fail_to_pass=("checks/check_add.py::test_add",),
    pass_to_pass=("checks/check_mul.py::test_mul",),
    whole_suite=True,
)
GUIDE = replace(
    CALLED_OTHERWISE,
    base={
        "calc/__init__.py": BUG,
        "pytest.ini": "[pytest]\naddopts = --doctest-glob=*.rst\n",
        "docs/usage.rst": ">>> from calc import mul\n>>> mul(2, 3)\n6\n",
    },
    tests={"test_add.py": "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"},
    fail_to_pass=("test_add.py::test_add",),
    pass_to_pass=("docs/usage.rst::usage.rst",),
    whole_suite=True,
)
_READS_CFG = (
    "import configparser\nfrom pathlib import Path\nfrom calc import add\n\n\ndef test_more():\n"
    "    parser = configparser.ConfigParser()\n"
    "    parser.read(Path(__file__).with_name('setup.cfg'))\n"
    "    assert add(1, 1) == parser.getint('sums', 'one and one')\n"
)
CONFIGURATION_AS_DATA = replace(
    DATA,
    base={**TOY.base, "tests/setup.cfg": "[sums]\none and one = 2\n"},
    tests={"tests/test_more.py": _READS_CFG},
)
BUILDS_DATA = replace(DATA, base={**BUILT.base, **DATA.base}, recipe=BUILT.recipe)
STARRED = replace(
    TOY,
    tests={
        "tests/test_more.py": "from calc import *\n\n\ndef test_more():\n    assert add(1, 1) == 2\n"
    },
    fail_to_pass=("tests/test_more.py::test_more",),
    pass_to_pass=(),
)
_STARRED_UNITTEST = replace(
    UNITTEST,
    tests={
        path: str(text).replace("from calc import add, mul", "from calc import *")
        for path, text in UNITTEST.tests.items()
    },
)
_STOLEN = """
import os, sys
nonce, pipe = sys.stdin.readline().split()[1:3]
ids = IDS
TOLD
os.execv("/bin/true", ["true"])
""".replace("IDS", repr([*TOY.fail_to_pass, *TOY.pass_to_pass])).replace("TOLD\n", TOLD_RUN)
"""A whole run, told before the reporter is imported."""

_ENCODER = """
import json, os, weakref
real = json.JSONEncoder.iterencode


def iterencode(self, record, _one_shot=False):
    if isinstance(record, dict) and record.get("event") == "phase":
        record = dict(record, outcome="passed", message="")
    if isinstance(record, dict) and record.get("event") == "end":
        record = dict(record, status=0, counts=None)
    return real(self, record, _one_shot)


class Kept:
    pass


json.JSONEncoder.iterencode = iterencode
kept = Kept()
quiet = os.open(os.devnull, os.O_WRONLY)
for number in (1, 2, *range(4, 40)):
    if number != quiet:
        os.dup2(quiet, number)
weakref.finalize(kept, os.execv, "/bin/true", ["true"])
"""
_WHEREVER = """
import os, re

found = set()
for folder, _, names in os.walk("/pr" + "oc"):
    if folder.count("/") > 3:
        continue
    for name in names:
        if name in {"environ", "cmdline", "comm", "maps", "status", "stat", "wchan"}:
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    found |= set(re.findall(rb"[0-9a-f]{16}", file.read(1 << 20)))
            except OSError:
                pass
try:
    fd = os.open("/run/mi" + "ner/report", os.O_WRONLY | os.O_NONBLOCK)
    for nonce in found:
        for name in ("test_add", "test_add_again"):
            record = b'{"event":"phase","id":"tests/test_add.py::%s","when":"call","outcome":"passed"}'
            os.write(fd, b"\\n" + nonce + b" . " + record % name.encode() + b"\\n")
except OSError:
    pass
"""
_COLLECTED = """
import gc
for each in gc.get_objects():
    if type(each).__name__ == "Rep" + "orter" and hasattr(each, "send"):
        real = each.send
        each.send = lambda event, **fields: real(event, **dict(fields, outcome="passed"))
        each.hold = each.send
"""
_PROFILED = """
import threading


def look(frame, event, argument):
    report = frame.f_locals.get("report")
    if getattr(report, "when", "") == "call":
        report.outcome, report.longrepr = "passed", None


threading.setprofile_all_threads(look)
"""
_THREAD = """
import sys, threading, time


def edit():
    while True:
        for frame in sys._current_frames().values():
            while frame is not None:
                report = frame.f_locals.get("report")
                if getattr(report, "when", "") == "call":
                    report.outcome, report.longrepr = "passed", None
                frame = frame.f_back
        time.sleep(0)


threading.Thread(target=edit, daemon=True).start()
"""
_CLASSES = """
for each in object.__subclasses__():
    for kind in [each, *type.__subclasses__(each)]:
        if kind.__name__ == "Test" + "Report":
            kind.outcome = property(lambda self: "passed", lambda self, value: None)
"""
_WRITES = """
import os
real = os.write
os.write = lambda fd, data: real(fd, data.replace(b'"failed"', b'"passed"')) and len(data)
"""
_WAITS = """
import signal, time


def add(a, b):
    signal.setitimer(signal.ITIMER_REAL, 0)
    while True:
        time.sleep(60)


def mul(a, b):
    return a * b
"""
_LOAD = """
def load_tests(loader, tests, pattern):
    case = type(next(iter(next(iter(tests)))))
    for name in dir(case):
        if name.startswith("te" + "st"):
            setattr(case, name, lambda self: None)
    return tests
"""
_NO_ROOM = """
import os, signal
if not os.fork():
    os.setsid()
    for number in range(64):
        try:
            os.close(number)
        except OSError:
            pass
    while True:
        try:
            if not os.fork():
                signal.pause()
        except OSError:
            signal.pause()
"""
"""As many processes as are allowed stay behind: a grader that trips over them gives no grade."""

_USER_SITE = f"""
import os, site
folder = site.getusersitepackages()
os.makedirs(folder, exist_ok=True)
with open(os.path.join(folder, "user" + "customize.py"), "w") as out:
    out.write({_STOLEN!r})
"""
_ENVIRONMENT = """
import os, sysconfig
for name in ("purelib", "stdlib", "scripts"):
    try:
        with open(os.path.join(sysconfig.get_path(name), "zz.p" + "th"), "w") as out:
            out.write("import os; os.execv('/bin/true', ['true'])")
    except OSError:
        pass
"""

BESIDE_TESTS = (
    Attack(
        name="a module of the standard library's name beside a test in a folder of another name",
        toy=BESIDE,
        attack={"checks/fractions.py": _FIVE},
        twin={**_CORE_FIXED, "checks/sums.py": "TEN = 10\n", "calc/fractions.py": "X = 1\n"},
    ),
    Attack(
        name="a package that holds a test becomes a mere folder, which is put on the import path",
        toy=WITHIN,
        attack={"calc/__init__.py": None, "calc/fractions.py": _FIVE},
        flags=frozenset({"modules"}),
        twin={**_CORE_FIXED, "calc/fractions.py": "X = 1\n"},
    ),
    Attack(
        name="a module that would shadow in a folder that pytest is told to import from",
        toy=ON_PATH,
        attack={"tools/fractions.py": _FIVE},
        twin={**_CORE_FIXED, "tools/sums.py": "TEN = 11\n", "tools/more.py": "X = 1\n"},
    ),
    Attack(
        name="the plug-in that pytest's configuration names reads the nonce before the reporter",
        toy=PLUGGED,
        attack={"tools/plug.py": _STOLEN},
        twin={**HONEST, "tools/plug.py": "LEVEL = 2\n", "tools/more.py": "X = 1\n"},
    ),
    Attack(
        name="a plug-in that is the project's own reads the nonce before the reporter",
        toy=ITS_OWN_PLUG_IN,
        attack={"tools/plug.py": _STOLEN},
        flags=frozenset({"our_reporter"}),
        twin={**HONEST, "tools/plug.py": "LEVEL = 1 + 2\n"},
    ),
    Attack(
        name="the plug-in that a configuration further down names reads the nonce",
        toy=BELOW,
        attack={
            "tools/plug.py": _STOLEN.replace(
                repr([*TOY.fail_to_pass, *TOY.pass_to_pass]), repr([*BELOW.fail_to_pass])
            )
        },
        twin={**HONEST, "tools/plug.py": "LEVEL = 2\n"},
    ),
    Attack(
        name="a link behind a link leads out",
        links={"inner": "..", "calc/out": "../inner/../etc"},
        flaw=Flaw.PATCH_REFUSED,
        twin=HONEST,
    ),
    Attack(
        name="a folder stands where a test that is called otherwise is",
        toy=CALLED_OTHERWISE,
        raw=b"diff --git a/checks/check_mul.py b/checks/check_mul.py\n"
        b"deleted file mode 100644\n--- a/checks/check_mul.py\n+++ /dev/null\n"
        + f"@@ -1,{len(TEST_MUL.splitlines())} +0,0 @@\n".encode()
        + b"".join(b"-" + line.encode() + b"\n" for line in TEST_MUL.splitlines())
        + b"diff --git a/checks/check_mul.py/x.py b/checks/check_mul.py/x.py\n"
        b"new file mode 100644\n--- /dev/null\n+++ b/checks/check_mul.py/x.py\n"
        b"@@ -0,0 +1 @@\n+X = 1\n",
        twin={**HONEST, "checks/check_mul.txt": "x\n"},
    ),
    Attack(
        name="the plug-in that a conftest names gives tests what suits the bug",
        toy=FIXTURES,
        attack={"tools/given.py": CONFTEST.replace("10", "12")},
        twin={**HONEST, "tools/given.py": CONFTEST + "\n# ten\n"},
    ),
    Attack(
        name="tests that are called otherwise are emptied",
        toy=CALLED_OTHERWISE,
        attack={
            "calc/__init__.py": FIX.replace("a * b", "a + b"),
            "checks/check_mul.py": "def test_mul():\n    pass\n",
        },
        twin={**HONEST, "checks/check_mul.py": TEST_MUL + "\n# mine\n"},
    ),
    Attack(
        name="brings its own version of a test that is called otherwise",
        toy=CALLED_OTHERWISE,
        attack={"checks/check_add.py": "def test_add():\n    pass\n"},
        twin={**HONEST, "checks/check_add.py": "def test_mine():\n    pass\n"},
    ),
    Attack(
        name="the guide whose examples are tests is changed",
        toy=GUIDE,
        attack={
            "calc/__init__.py": FIX.replace("a * b", "a + b"),
            "docs/usage.rst": ">>> 5\n5\n",
        },
        twin={**HONEST, "docs/usage.rst": "How to use it.\n", "docs/more.rst": "More.\n"},
    ),
    Attack(
        name="the tests' data that is called like a configuration is changed",
        toy=CONFIGURATION_AS_DATA,
        attack={"tests/setup.cfg": "[sums]\none and one = 0\n"},
        twin={**HONEST, "tests/setup.cfg": "[sums]\none and one = 0\n"},
    ),
    Attack(
        name="the build changes the tests' data",
        toy=BUILDS_DATA,
        attack={
            "setup.py": "import pathlib\nfor path in pathlib.Path('te' + 'sts').iterdir():\n"
            "    if path.suffix == '.json':\n        path.write_text('[[1, 1, 0]]')\n",
        },
        flags=frozenset({"files_of_tests"}),
        twin={**HONEST, "setup.py": "open('calc/sums.json', 'w').write('[]')\n"},
    ),
    Attack(
        name="the build plants a usercustomize among the user's own packages",
        toy=BUILT,
        attack={"setup.py": _USER_SITE},
        twin={**HONEST, "setup.py": "import site\nprint(site.getusersitepackages())\n"},
    ),
    Attack(
        name="the build writes into the environment",
        toy=BUILT,
        attack={"setup.py": _ENVIRONMENT},
        twin={**HONEST, "setup.py": "import sysconfig\nprint(sysconfig.get_paths())\n"},
    ),
    Attack(
        name="a star import brings a plug-in into a test module",
        toy=STARRED,
        attack={
            "calc/__init__.py": 'pytest_plugins = ["calc.force"]\n' + BUG,
            "calc/force.py": FORCE_PLUGIN,
        },
        flags=frozenset({"runner_internals"}),
        twin={"calc/__init__.py": '__all__ = ["add", "mul"]\n' + FIX},
    ),
    Attack(
        name="a star import brings load_tests into a test module",
        toy=_STARRED_UNITTEST,
        attack={"calc.py": _LOAD + BUG},
        flags=frozenset({"runner_internals"}),
        twin={"calc.py": '__all__ = ["add", "mul"]\n' + FIX},
    ),
    Attack(
        name="changes how json writes, silences the summary and leaves by another program",
        attack=in_calc(_ENCODER),
        twin={"calc/__init__.py": "import json\n\n" + FIX, "calc/json.py": "def dumps(x): pass\n"},
    ),
    Attack(
        name="replaces os.write under the reporter",
        twin=fixed_and(
            "import os\n\n\ndef write(fd, text):\n    return os.write(fd, text.encode())"
        ),
        attack=in_calc(_WRITES),
    ),
    Attack(
        name="looks for the nonce wherever a process can",
        twin=fixed_and(
            "import os, re\n\nWORDS = re.findall('[a-f]+', os.environ.get('CALC_WORDS', ''))"
        ),
        attack=in_calc(_WHEREVER),
    ),
    Attack(
        name="finds the reporter among all objects",
        attack=in_calc(_COLLECTED),
        flags=frozenset({"introspection"}),
        twin={"calc/__init__.py": "import gc\n\ngc.collect()\n" + FIX},
    ),
    Attack(
        name="a profiler edits reports as functions are called",
        twin=fixed_and(
            "import time\n\n\ndef timed(function):\n    begin = time.perf_counter()\n    return function(), time.perf_counter() - begin"
        ),
        attack=in_calc(_PROFILED),
        flags=frozenset({"modules", "introspection"}),
    ),
    Attack(
        name="a thread edits reports while tests run",
        attack=in_calc(_THREAD),
        flags=frozenset({"introspection", "background"}),
        twin={
            "calc/__init__.py": "import threading\n\nLOCK = threading.Lock()\n" + FIX,
        },
    ),
    Attack(
        name="finds the class of reports among all classes",
        twin=fixed_and("class Report:\n    outcome = property(lambda self: 'passed')"),
        attack=in_calc(_CLASSES),
        flags=frozenset({"introspection"}),
    ),
    Attack(
        name="takes a test's time limit back and waits",
        attack={"calc/__init__.py": _WAITS},
        toy=replace(TOY, recipe=replace(RECIPE, timeout_s=6)),
        flags=frozenset({"signals"}),
        twin={"calc/__init__.py": "import signal\n\nNAMES = list(signal.Signals)\n" + FIX},
    ),
    Attack(
        name="the tests leave as many processes as are allowed",
        attack=in_calc(_NO_ROOM),
        flags=frozenset({"signals", "background"}),
        twin={"calc/__init__.py": "import os\n\nHERE = os.getpid()\n" + FIX},
    ),
    Attack(
        name="the build leaves as many processes as are allowed",
        toy=BUILT,
        attack={"setup.py": _NO_ROOM},
        twin={**HONEST, "setup.py": "import os\nos.system('true')\n"},
    ),
    Attack(
        name="the tests' folder is renamed to other capitals",
        attack={
            "tests/test_add.py": None,
            "tests/test_mul.py": None,
            "Tests/test_add.py": "def test_add():\n    pass\n\n\ndef test_add_again():\n    pass\n",
            "Tests/test_more.py": "def test_more():\n    pass\n",
        },
        twin={**HONEST, "calc/Tests.md": "Capitals.\n"},
    ),
)
