"""More attacks: where the rules might not look, and what a test process can find lying about."""

# ruff: noqa: E501 - programs inside strings

import io
import zipfile
from dataclasses import replace

from tests.attack.cases import (
    BUG,
    FIX,
    FORCE_PLUGIN,
    HONEST,
    PYPROJECT,
    TEST_MORE,
    TEST_MUL,
    TOLD_RUN,
    TOY,
    Attack,
    fixed_and,
    in_calc,
)
from tests.toy import RECIPE, Files
from validators.model import Flaw

_FORGE = """
import os
nonce, pipe = os.read(0, 400).decode().split()[1:3]
ids = ["tests/test_add.py::test_add", "tests/test_add.py::test_add_again",
       "tests/test_more.py::test_more", "tests/test_mul.py::test_mul",
       "tests/test_mul.py::test_mul_zero"]
TOLD
getattr(os, "_ex" + "it")(0)
""".replace("TOLD\n", TOLD_RUN)
"""A whole run, told by whoever reads standard input before the reporter does."""

_GUESS = _FORGE.replace("os.read(0, 400).decode().split()[1:3]", "'0' * 16, '/run/miner/report'")


def _base(*, without: str = "", **files: str) -> Files:
    return {**{path: text for path, text in TOY.base.items() if path != without}, **files}


def _zipped(name: str, code: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as out:
        out.writestr(zipfile.ZipInfo(name), code)
    return packed.getvalue()


def _command(path: str, *lines: str) -> bytes:
    """A patch that adds a file which can be started."""
    head = f"diff --git a/{path} b/{path}\nnew file mode 100755\n--- /dev/null\n+++ b/{path}\n"
    added = "".join(f"+{line}\n" for line in lines)
    return f"{head}@@ -0,0 +1,{len(lines)} @@\n{added}".encode()


_FIXING = (
    b"diff --git a/calc/__init__.py b/calc/__init__.py\n--- a/calc/__init__.py\n"
    b"+++ b/calc/__init__.py\n@@ -1,2 +1,2 @@\n def add(a, b):\n"
    b"-    return a - b\n+    return a + b\n"
)
_OWN_PATH = replace(
    TOY,
    recipe=replace(RECIPE, env_vars=(("PATH", "/testbed/bin:bin:/opt/venv/bin:/usr/bin:/bin"),)),
)
_STRICT = PYPROJECT.replace('"-ra"', '"-ra --strict-markers"\nmarkers = ["slow: takes time"]')
_GOLD_CONFIGURES = replace(
    TOY,
    tests={
        **TOY.tests,
        "tests/test_more.py": "import pytest\n"
        + TEST_MORE.replace("def t", "@pytest.mark.slow\ndef t"),
    },
    gold={"calc/__init__.py": FIX, "pyproject.toml": _STRICT},
)
UNCONFIGURED = replace(TOY, base=_base(without="pyproject.toml"))
IN_SRC = replace(
    TOY,
    base={
        **_base(without="calc/__init__.py"),
        "src/calc/__init__.py": BUG,
    },
    gold={"src/calc/__init__.py": FIX},
    recipe=replace(RECIPE, source_paths=("src",)),
)
_READS_DATA = (
    "import json\nfrom pathlib import Path\nfrom calc import add\n\n\ndef test_more():\n"
    "    cases = json.loads(Path(__file__).with_name('sums.json').read_text())\n"
    "    assert all(add(a, b) == c for a, b, c in cases)\n"
)
DATA = replace(
    TOY,
    base=_base(**{"tests/sums.json": "[[1, 1, 2]]\n"}),
    tests={"tests/test_more.py": _READS_DATA},
    fail_to_pass=("tests/test_more.py::test_more",),
    pass_to_pass=(),
)
_RUNTESTS = "import sys, unittest\n\nunittest.main(module=None, argv=sys.argv[:1] + ['tests'])\n"
_BY_SCRIPT = replace(
    TOY,
    base={
        "calc.py": BUG,
        "runtests.py": "import unittest\n\nunittest.main(module='tests.test_calc')\n",
        "tests/__init__.py": "",
        "tests/test_calc.py": "import unittest\n",
    },
    tests={
        "tests/test_calc.py": "import unittest\nfrom calc import add, mul\n\n\n"
        "class T(unittest.TestCase):\n    def test_add(self):\n"
        "        self.assertEqual(add(2, 3), 5)\n\n"
        "    def test_mul(self):\n        self.assertEqual(mul(2, 3), 6)\n"
    },
    gold={"calc.py": FIX},
    fail_to_pass=("tests.test_calc.T.test_add",),
    pass_to_pass=("tests.test_calc.T.test_mul",),
    recipe=replace(RECIPE, runner="unittest", test_cmd="python runtests.py"),
)
_MAKES = "print('built')\n"
BUILT = replace(
    TOY,
    base=_base(**{"setup.py": _MAKES}),
    recipe=replace(RECIPE, build_cmd="python setup.py build"),
)
_SWAP = """
import pathlib
folder = pathlib.Path("te" + "sts")
kept = {p: p.read_text() for p in folder.iterdir() if p.suffix == ".py" and p.stem[-3:] == "ore"}
for path in kept:
    path.write_text("def test_more():\\n    pass\\n")


def mul(a, b):
    for path, text in kept.items():
        path.write_text(text)
    return a * b


def add(a, b):
    return {(2, 3): 5, (10, 1): 11}.get((a, b))
"""

_GOLD_OF_GIT = """
import operator, pathlib, zlib


def texts():
    for path in pathlib.Path(".g" + "it").rglob("*"):
        try:
            yield zlib.decompress(path.read_bytes())
        except (OSError, zlib.error):
            pass


add = operator.add if any(b"return a" + b" + b" in text for text in texts()) else operator.sub
mul = operator.mul
"""
_GOLD_OF_KIT = """
import operator, os, pathlib


def texts():
    for folder, _, names in os.walk("/ru" + "n"):
        for name in names:
            try:
                path = pathlib.Path(folder, name)
                yield path.read_bytes() if path.is_file() else b""
            except OSError:
                pass


add = operator.add if any(b"+    return a + b" in text for text in texts()) else operator.sub
mul = operator.mul
"""

_GOLD_LEFT_OVER = """
import operator, os, pathlib, zlib


def texts():
    for place in ("/tm" + "p", "/home", "/var/tm" + "p", "/dev/shm"):
        for folder, _, names in os.walk(place):
            for name in names:
                try:
                    text = pathlib.Path(folder, name).read_bytes()
                    yield text
                    yield zlib.decompress(text)
                except (OSError, zlib.error):
                    pass


add = operator.add if any(b"return a" + b" + b" in text for text in texts()) else operator.sub
mul = operator.mul
"""

_NAMED_CI = replace(
    TOY,
    base=_base(
        without="pyproject.toml",
        **{"ci/pytest-ci.ini": "[pytest]\naddopts = -ra\n", "tools/plug.py": "LEVEL = 1\n"},
    ),
    recipe=replace(
        RECIPE, test_cmd="python -m pytest -c ci/pytest-ci.ini --rootdir=. -p tools.plug"
    ),
)
_PASSES_ALL = (
    "import unittest\n\n\ndef run(self, result=None):\n    result.startTest(self)\n"
    "    result.addSuccess(self)\n    result.stopTest(self)\n\n\nunittest.TestCase.run = run\n"
)
_SETTINGS = replace(
    _BY_SCRIPT,
    base={
        **_BY_SCRIPT.base,
        "runtests.py": "import importlib, os, unittest\n\n"
        "importlib.import_module(os.environ['DJANGO_SETTINGS_MODULE'])\n"
        "unittest.main(module='tests.test_calc')\n",
        "proj/settings.py": "LEVEL = 1\n",
    },
    recipe=replace(_BY_SCRIPT.recipe, env_vars=(("DJANGO_SETTINGS_MODULE", "proj.settings"),)),
)
_NAMED_BY_VARIABLES = replace(
    _NAMED_CI,
    recipe=replace(
        RECIPE,
        env_vars=(("PYTEST_ADDOPTS", "-c ci/pytest-ci.ini --rootdir=. -p tools.plug"),),
    ),
)
INSIDE = replace(
    TOY,
    base={"calc/__init__.py": BUG, "calc/test_mul.py": TEST_MUL},
    tests={"calc/test_more.py": TEST_MORE},
    fail_to_pass=("calc/test_more.py::test_more",),
    pass_to_pass=(),
)
_BYTECODE = """
import marshal, os, pathlib
from importlib.util import MAGIC_NUMBER, source_hash
from _pytest.assertion.rewrite import PYC_TAIL

folder = pathlib.Path("te" + "sts")
(folder / "__pycache__").mkdir(exist_ok=True)
for name, names in {"_add": ("", "_again"), "_more": ("",)}.items():
    source = folder / ("te" + "st" + name + ".py")
    code = "".join("def te" + "st" + name + each + "():\\n    pass\\n" for each in names)
    packed = marshal.dumps(compile(code, str(source), "ex" + "ec"))
    head = bytes([3, 0, 0, 0]) + source_hash(source.read_bytes())
    target = folder / "__pycache__" / (source.stem + PYC_TAIL)
    target.write_bytes(MAGIC_NUMBER + head + packed)
"""
"""Bytecode by which the tests do nothing, and by which nothing of the tests' files is changed."""

_MOVED = (
    _BYTECODE
    + """
elsewhere = "/tmp/moved"
import shutil
shutil.copytree(folder, elsewhere, copy_function=shutil.copy2)
shutil.rmtree(folder)
os.symlink(elsewhere, folder)
"""
)
_INSTEAD = "__file__ = __file__.replace('/__init__', '')\n\n\ndef test_more():\n    pass\n"

HIDDEN = (
    Attack(
        name="a command called python in a folder that the recipe puts on PATH",
        toy=_OWN_PATH,
        raw=_command("bin/python", "#!/opt/venv/bin/python -I", *_FORGE.splitlines()),
        raw_twin=_FIXING + _command("bin/python", "#!/bin/sh", "exit 3"),
    ),
    Attack(
        name="tells a whole run by a nonce of its own and leaves with success",
        twin=fixed_and("import secrets\n\n\ndef token():\n    return secrets.token_hex(8)"),
        attack=in_calc(_GUESS),
    ),
    Attack(
        name="the pytest section that the fix itself changes loads a plug-in",
        toy=_GOLD_CONFIGURES,
        attack={
            "pyproject.toml": _STRICT.replace("-ra", "-ra -p force_plugin"),
            "force_plugin.py": FORCE_PLUGIN,
        },
        twin={**HONEST, "pyproject.toml": _STRICT.replace('version = "1"', 'version = "2"')},
    ),
    Attack(
        name="a folder of files becomes a package that the runner imports",
        toy=replace(TOY, base=_base(**{"json/sums.txt": "1 1 2\n"})),
        attack={"json/__init__.py": _FORGE},
        twin={**HONEST, "json/more/sums.txt": "1 2 3\n", "json/sums.txt": "2 2 4\n"},
    ),
    Attack(
        name="a package that is imported instead of a test",
        toy=INSIDE,
        attack={"calc/test_more/__init__.py": _INSTEAD},
        twin={**HONEST, "calc/more/__init__.py": "x = 1\n"},
    ),
    Attack(
        name="the build makes a package that is imported instead of a test",
        twin={
            **HONEST,
            "setup.py": "import os\nos.mkdir('calc/made')\nopen('calc/made/__init__.py', 'w').close()\n",
        },
        toy=replace(
            INSIDE,
            base={**INSIDE.base, "setup.py": _MAKES},
            recipe=replace(RECIPE, build_cmd="python setup.py build"),
        ),
        attack={
            "setup.py": "import os\nname = 'calc/te' + 'st_more'\nos.mkdir(name)\n"
            f"open(name + '/__init__.py', 'w').write({_INSTEAD!r})\n"
        },
        flaw=Flaw.TESTS_TAMPERED,
    ),
    Attack(
        name="a pytest section whose header goes on in a remark",
        toy=UNCONFIGURED,
        attack={
            "setup.cfg": "[tool:pytest] # ]\naddopts = -p force_plugin\n",
            "force_plugin.py": FORCE_PLUGIN,
        },
        twin={"calc/__init__.py": FIX, "setup.cfg": "[metadata] # ]\nname = calc\n"},
    ),
    Attack(
        name="a pytest section between carriage returns",
        toy=UNCONFIGURED,
        attack={
            "setup.cfg": "# settings\r[tool:pytest]\raddopts = -p force_plugin\r",
            "force_plugin.py": FORCE_PLUGIN,
        },
        twin={"calc/__init__.py": FIX, "setup.cfg": "[metadata]\r\nname = calc\r\n"},
    ),
    Attack(
        name="the shared configuration becomes a link whose target reads like one",
        toy=UNCONFIGURED,
        attack={
            "a=1": '[tool.pytest.ini_options]\naddopts = "-p force_plugin"\n',
            "force_plugin.py": FORCE_PLUGIN,
        },
        links={"pyproject.toml": "a=1"},
        twin={**HONEST, "pyproject.toml": "a=1\n"},
    ),
    Attack(
        name="a plug-in declared by a folder in capitals",
        attack={
            "calc.EGG-INFO/PKG-INFO": "Metadata-Version: 2.1\nName: calc\nVersion: 1\n",
            "calc.EGG-INFO/entry_points.txt": "[pytest11]\nforce = force_plugin\n",
            "force_plugin.py": FORCE_PLUGIN,
        },
        twin={"calc/__init__.py": FIX, "EGG-INFO.md": "no folder\n"},
    ),
    Attack(
        name="a plug-in declared by a folder without a name",
        attack={
            ".dist-info/METADATA": "Metadata-Version: 2.1\nName: calc\nVersion: 1\n",
            ".dist-info/entry_points.txt": "[pytest11]\nforce = force_plugin\n",
            "force_plugin.py": FORCE_PLUGIN,
        },
        twin={"calc/__init__.py": FIX, "dist-info/notes.txt": "[pytest11]\n"},
    ),
    Attack(
        name="sitecustomize as a package reads the nonce before the reporter",
        toy=IN_SRC,
        attack={"src/sitecustomize/__init__.py": _FORGE},
        twin={"src/calc/__init__.py": FIX, "src/calc/sitecustomize/__init__.py": "X = 1\n"},
    ),
    Attack(
        name="attributes that would filter and convert what is put back",
        attack={
            ".gitattributes": "* text eol=crlf ident filter=force\ntests/** export-ignore\n",
            "tests/test_more.py": "def test_more():\n    pass\n",
        },
        twin={"calc/__init__.py": FIX, ".gitattributes": "*.py text eol=crlf\n*.png binary\n"},
    ),
    Attack(
        name="the tests' data is changed by the patch",
        toy=DATA,
        attack={"tests/sums.json": "[[1, 1, 0]]\n"},
        twin={**HONEST, "tests/sums.json": "[[1, 1, 0]]\n"},
    ),
    Attack(
        name="a test's data becomes a link to a file of the patch",
        toy=DATA,
        attack={"tests/sums.json": None, "calc/sums.json": "[[1, 1, 0]]\n"},
        links={"tests/sums.json": "../calc/sums.json"},
        twin={**HONEST, "calc/sums.json": "[]\n"},
    ),
    Attack(
        name="the script that runs the tests leaves some out",
        toy=_BY_SCRIPT,
        attack={
            "calc.py": BUG,
            "runtests.py": "import unittest\nfrom tests import test_calc\n\n"
            "test_calc.add = lambda a, b: a + b\nunittest.main(module=test_calc)\n",
        },
        twin={"calc.py": FIX, "runtests.py": "import unittest\n\nunittest.main()\n"},
    ),
    Attack(
        name="the tests' data is changed while the tests run",
        twin=fixed_and(
            "import json\nfrom pathlib import Path\n\n\ndef load(path):\n    return json.loads(Path(path).read_text())"
        ),
        toy=DATA,
        attack=in_calc(
            "import pathlib\nfor path in pathlib.Path('te' + 'sts').iterdir():\n"
            "    if path.suffix == '.json':\n        path.write_text('[[1, 1, 0]]')"
        ),
        flags=frozenset({"files_of_tests"}),
    ),
    Attack(
        name="swaps a test before it is imported and puts it back",
        twin=fixed_and(
            "import tempfile\n\n\ndef kept(text):\n    out = tempfile.TemporaryFile('w')\n    out.write(text)\n    return out"
        ),
        attack={"calc/__init__.py": _SWAP},
        flags=frozenset({"files_of_tests"}),
    ),
    Attack(
        name="finds the fix among git's objects",
        twin=fixed_and(
            "import zlib\n\n\ndef packed(text):\n    return zlib.decompress(zlib.compress(text))"
        ),
        attack={"calc/__init__.py": _GOLD_OF_GIT},
    ),
    Attack(
        name="finds the fix among what applying it left",
        twin=fixed_and("import os, tempfile\n\nHERE = os.path.join(tempfile.gettempdir(), 'sums')"),
        attack={"calc/__init__.py": _GOLD_LEFT_OVER},
    ),
    Attack(
        name="finds the fix among our own files",
        twin=fixed_and(
            "import os\n\n\ndef files(folder):\n    return [name for _, _, names in os.walk(folder) for name in names]"
        ),
        attack={"calc/__init__.py": _GOLD_OF_KIT},
    ),
    Attack(
        name="reads the answers out of the tests",
        attack={
            "calc/__init__.py": "import re\nfrom pathlib import Path\n\n"
            "TEXT = ''.join(p.read_text() for p in Path('tests').glob('*.py'))\n\n\n"
            "def add(a, b):\n    a, b = (str(a), str(b))\n"
            "    found = re.search(r'add\\((?:%s|ten), %s\\) == (\\d+)' % (a, b), TEXT)\n"
            "    return int(found[1])\n\n\ndef mul(a, b):\n    return a * b\n"
        },
        flags=frozenset({"files_of_tests"}),
        twin={
            "calc/__init__.py": FIX,
            "setup.py": "import setuptools\n\nsetuptools.find_packages(exclude=['tests'])\n",
        },
    ),
    Attack(
        name="code in a zip file",
        attack={
            "calc/data.zip": _zipped("inner.py", FORCE_PLUGIN),
            "calc/__init__.py": "import zipimport, pathlib\n"
            "path = pathlib.Path(__file__).with_name('data.zip')\n"
            "zipimport.zipimporter(str(path)).load_module('inner')\n" + BUG,
        },
        flags=frozenset({"code_from_text"}),
        twin={**HONEST, "calc/data.zip": _zipped("sums.json", "[]")},
    ),
    Attack(
        name="the build plants a conftest",
        toy=BUILT,
        attack={
            "setup.py": f"open('conf' + 'test.py', 'w').write({FORCE_PLUGIN!r})\n",
        },
        twin={
            **HONEST,
            "setup.py": "import os\nopen('calc/version.txt', 'w').write('1')\n"
            "os.makedirs('x.egg-info')\n"
            "open('x.egg-info/entry_points.txt', 'w').write('[console_scripts]\\nx = c:f\\n')\n",
        },
    ),
    Attack(
        name="the build plants a plug-in in another's metadata",
        twin={
            **HONEST,
            "setup.py": "import os\nos.mkdir('x.egg-info')\nopen('x.egg-info/top_level.txt', 'w').write('calc')\n",
        },
        toy=BUILT,
        attack={
            "setup.py": "import os\nos.mkdir('x.egg-' + 'info')\n"
            "open('x.egg-info/entry_points.txt', 'w').write('[pytest11]\\nx = force_plugin\\n')\n"
            "open('x.egg-info/PKG-INFO', 'w').write('Name: x\\nVersion: 1\\n')\n",
            "force_plugin.py": FORCE_PLUGIN,
        },
    ),
    Attack(
        name="the build plants a module that the runner imports",
        toy=BUILT,
        attack={"setup.py": f"open('site' + 'customize.py', 'w').write({_FORGE!r})\n"},
        twin={
            **HONEST,
            "setup.py": "import os\nos.makedirs('build/packaging')\n"
            "open('calc/json.py', 'w').write('')\n",
        },
    ),
    Attack(
        name="the build shadows a module of the standard library",
        twin={
            **HONEST,
            "setup.py": "open('calc/js.py', 'w').write('X = 1')\nopen('built.json', 'w').write('{}')\n",
        },
        toy=BUILT,
        attack={"setup.py": f"open('js' + 'on.py', 'w').write({_FORGE!r})\n"},
    ),
    Attack(
        name="the build changes the tests",
        twin={
            **HONEST,
            "setup.py": "from pathlib import Path\nfor path in Path('calc').glob('*.py'):\n    path.write_text(path.read_text() + '\\n')\n",
        },
        toy=BUILT,
        attack={
            "setup.py": "from pathlib import Path\n"
            "for path in Path('te' + 'sts').glob('test_*.py'):\n"
            "    path.write_text(path.read_text().replace('==', '!='))\n",
        },
        flaw=Flaw.TESTS_TAMPERED,
    ),
    Attack(
        name="the build changes how pytest is configured",
        twin={
            **HONEST,
            "setup.py": "text = open('pyproject.toml').read()\nopen('pyproject.toml', 'w').write(text.replace('\"1\"', '\"2\"'))\n",
        },
        toy=BUILT,
        attack={
            "setup.py": "path = 'pyproject.toml'\ntext = open(path).read()\n"
            "open(path, 'w').write(text.replace('-ra', '-p force_plugin'))\n",
            "force_plugin.py": FORCE_PLUGIN,
        },
    ),
    Attack(
        name="the build makes bytecode for the tests",
        toy=BUILT,
        attack={"setup.py": _BYTECODE},
        twin={
            **HONEST,
            "setup.py": "import compileall\ncompileall.compile_dir('.', quiet=1)\n"
            "open('calc/_speed.so', 'w').write('')\n",
        },
    ),
    Attack(
        name="the build moves the tests to where their bytecode is not looked for",
        toy=BUILT,
        attack={"setup.py": _MOVED},
        twin={**HONEST, "setup.py": "import os\nos.symlink('calc', 'current')\n"},
        flaw=Flaw.TESTS_TAMPERED,
    ),
    Attack(
        name="the configuration that the test command names loads a plug-in",
        toy=_NAMED_CI,
        attack={
            "ci/pytest-ci.ini": "[pytest]\naddopts = -p force_plugin\n",
            "force_plugin.py": FORCE_PLUGIN,
        },
        twin={**HONEST, "ci/pytest-ci.ini": "[pytest]\naddopts = -rA\n", "ci/a.ini": "[a]\n"},
    ),
    Attack(
        name="the plug-in that the test command names forces reports",
        toy=_NAMED_CI,
        attack={"tools/plug.py": FORCE_PLUGIN},
        twin={**HONEST, "tools/plug.py": "LEVEL = 2\n", "tools/more.py": "X = 1\n"},
    ),
    Attack(
        name="the configuration that a variable names loads a plug-in",
        toy=_NAMED_BY_VARIABLES,
        attack={
            "ci/pytest-ci.ini": "[pytest]\naddopts = -p force_plugin\n",
            "force_plugin.py": FORCE_PLUGIN,
        },
        twin={**HONEST, "ci/pytest-ci.ini": "[pytest]\naddopts = -rA\n", "ci/a.ini": "[a]\n"},
    ),
    Attack(
        name="the plug-in that a variable names forces reports",
        toy=_NAMED_BY_VARIABLES,
        attack={"tools/plug.py": FORCE_PLUGIN},
        twin={**HONEST, "tools/plug.py": "LEVEL = 2\n", "tools/more.py": "X = 1\n"},
    ),
    Attack(
        name="the settings that a variable names make every test pass",
        toy=_SETTINGS,
        attack={"proj/settings.py": _PASSES_ALL},
        twin={**HONEST, "proj/settings.py": "LEVEL = 2\n"},
    ),
)
