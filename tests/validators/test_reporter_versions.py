"""The reporter in old and new interpreters, with old and new runners."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import uv

from tests.fakes.pipe import run_reported
from tests.validators.samples import CA_BUNDLE
from validators.languages.python.report import READERS

PYENV = Path(os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv"))) / "versions"
PAIRS = (
    ("3.6", "3.1.3"),
    ("3.6", "3.10.1"),
    ("3.6", "4.6.11"),
    ("3.7", "5.4.3"),
    ("3.8", "6.2.5"),
    ("3.9", "7.4.4"),
    ("3.12", "8.4.2"),
    ("3.13", "9.0.1"),
    ("3.14", "8.4.2"),
    ("3.14", "9.0.1"),
)
PYTEST_TESTS = """
import os, pytest, time, unittest
@pytest.fixture
def bad_setup(): raise RuntimeError("no")
@pytest.fixture
def bad_teardown():
    yield
    raise RuntimeError("no")
def test_pass(): pass
def test_fail(): assert 0, "because"
def test_setup(bad_setup): pass
def test_teardown(bad_teardown): pass
@pytest.mark.skip(reason="later")
def test_skip(): pass
@pytest.mark.xfail
def test_xfail(): assert 0
@pytest.mark.xfail
def test_xpass(): pass
@pytest.mark.parametrize("v", [1], ids=["a b - c`"])
def test_id(v): pass
class U(unittest.TestCase):
    def test_u(self): pass
def test_hang():
    try:
        time.sleep(60)
    except Exception:
        pass
"""
UNITTEST_TESTS = """
import time, unittest
class T(unittest.TestCase):
    def test_a(self): pass
    def test_b(self): time.sleep(9)
    @unittest.skip("x")
    def test_c(self): pass
    @unittest.expectedFailure
    def test_d(self): self.fail()
    def test_s(self):
        for i in range(3):
            with self.subTest(i=i):
                if i == 1:
                    self.skipTest("x")
                assert i != 2
class B(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise RuntimeError()
    def test_n(self): pass
"""


def interpreter(version: str) -> Path:
    """An installed interpreter of that version; the test is skipped where there is none."""
    found = sorted(PYENV.glob(f"{version}.*/bin/python"))
    named = shutil.which(f"python{version}")
    if not found and named is None:
        pytest.skip(f"no Python {version} on this machine")
    return found[-1] if found else Path(str(named))


def make(folder: Path, python: str, version: str) -> str:
    """A virtual environment with that pytest; its interpreter."""
    base = interpreter(python)
    subprocess.run([str(base), "-m", "venv", "--without-pip", str(folder)], check=True)
    executable = str(folder / "bin" / "python")
    old = ["attrs<20", "pluggy<1", "setuptools<60"] if version < "5" else []
    install(executable, f"pytest=={version}", *old)
    return executable


def install(executable: str, *requirements: str) -> None:
    """From the package index, trusting what this machine trusts."""
    bundle = CA_BUNDLE
    command = [uv.find_uv_bin(), "pip", "install", "-q", "--python", executable, *requirements]
    subprocess.run(command, check=True, env={**os.environ, "SSL_CERT_FILE": str(bundle)})


@pytest.mark.network
@pytest.mark.timeout(180)
@pytest.mark.parametrize(("python", "version"), PAIRS)
def test_every_version_tells_the_same(python: str, version: str, tmp_path: Path) -> None:
    executable = make(tmp_path / "venv", python, version)
    read = READERS["pytest"]
    project = tmp_path / "project"
    project.mkdir()
    (project / "test_all.py").write_text(PYTEST_TESTS)
    (project / "test_bad.py").write_text("import no_such_module\n")
    reported = run_reported(
        project, "-q", "-x", "-W", "ignore", python=executable, test_timeout_s=0.3
    )
    short = {
        key.replace("::()", "").partition("::")[2] or key: "/".join(told)
        for key, told in reported.statuses(read).items()
    }
    assert short == {
        "test_pass": "passed/call",
        "test_fail": "failed/call",
        "test_setup": "error/setup",
        "test_teardown": "error/teardown",
        "test_skip": "skipped/call",
        "test_xfail": "xfail/call",
        "test_xpass": "xpass/call",
        "test_id[a b - c`]": "passed/call",
        "U::test_u": "passed/call",
        "test_hang": "timed_out/call",
        "test_bad.py": "error/collect",
    }, reported.output
    assert reported.transcript.counts_agree
    assert reported.transcript.ended_with == reported.exit_code == 1

    dying = tmp_path / "dying"
    dying.mkdir()
    code = "import os\ndef test_a(): pass\ndef test_b(): os._exit(0)\ndef test_c(): pass\n"
    (dying / "test_d.py").write_text(code)
    statuses = run_reported(dying, "-q", python=executable).statuses(read)
    assert [status for status, _ in statuses.values()] == ["passed", "error", "not_run"]

    unit = tmp_path / "unit"
    unit.mkdir()
    (unit / "test_u.py").write_text(UNITTEST_TESTS)
    watched = run_reported(
        unit, "-m", "unittest", "test_u", runner="unittest", python=executable, test_timeout_s=0.3
    )
    assert {key.rpartition(".")[2]: told for key, told in watched.statuses(read).items()} == {
        "test_a": ("passed", "call"),
        "test_b": ("timed_out", "call"),
        "test_c": ("skipped", "call"),
        "test_d": ("xfail", "call"),
        "test_s": ("failed", "call"),
        "test_n": ("error", "setup"),
        "B)": ("error", "setup"),
    }
    assert watched.transcript.counts_agree
    assert watched.transcript.ended_with == watched.exit_code == 1


@pytest.mark.network
@pytest.mark.timeout(180)
def test_djangos_runner_is_watched(tmp_path: Path) -> None:
    executable = make(tmp_path / "venv", "3.12", "8.4.2")
    install(executable, "django==5.2")
    project = tmp_path / "project"
    (project / "app" / "tests").mkdir(parents=True)
    (project / "settings.py").write_text(
        "SECRET_KEY = 'x'\nINSTALLED_APPS = ['app']\nUSE_TZ = True\n"
        "DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': ':memory:'}}\n"
    )
    (project / "manage.py").write_text(
        "import os, sys\nfrom django.core.management import execute_from_command_line\n"
        "os.environ['DJANGO_SETTINGS_MODULE'] = 'settings'\nexecute_from_command_line(sys.argv)\n"
    )
    (project / "app" / "__init__.py").write_text("")
    (project / "app" / "tests" / "__init__.py").write_text("")
    (project / "app" / "tests" / "test_a.py").write_text(
        "import sys\nfrom django.db import connection\nfrom django.test import TestCase, tag\n\n"
        "class A(TestCase):\n    def test_database(self):\n"
        "        with connection.cursor() as cursor:\n            cursor.execute('select 1')\n\n"
        "    def test_fails(self):\n        self.assertEqual(1, 2)\n\n"
        "    def test_prints(self):\n        print('test_fails (app) ... ok')\n\n"
        "    def test_arguments(self):\n        self.assertEqual(sys.argv[0], 'manage.py')\n"
    )
    reported = run_reported(
        project,
        "manage.py",
        "test",
        "--parallel=1",
        "app.tests.test_a",
        runner="django",
        python=executable,
    )
    assert reported.statuses(READERS["django"]) == {
        "app.tests.test_a.A.test_arguments": ("passed", "call"),
        "app.tests.test_a.A.test_database": ("passed", "call"),
        "app.tests.test_a.A.test_fails": ("failed", "call"),
        "app.tests.test_a.A.test_prints": ("passed", "call"),
    }, reported.output
    assert reported.transcript.counts_agree
    assert reported.transcript.ended_with == reported.exit_code == 1


@pytest.mark.network
@pytest.mark.timeout(180)
def test_generators_of_tests_are_told_one_by_one(tmp_path: Path) -> None:
    executable = make(tmp_path / "venv", "3.6", "3.10.1")
    project = tmp_path / "project"
    project.mkdir()
    code = (
        "def same(a, b): assert a == b\n"
        "def test_g():\n    for x in 1, 2:\n        yield same, x, 1\n"
    )
    (project / "test_a.py").write_text(code)
    reported = run_reported(project, "-q", python=executable)
    statuses = reported.statuses(READERS["pytest"])
    assert [status for status, _ in statuses.values()] == ["passed", "failed"]
    assert reported.transcript.counts_agree


OLD_PLUGINS = ("pytest-xdist==1.34.0", "pytest-cov==2.12.1", "pytest-timeout==1.4.2",
               "pytest-forked==1.3.0")  # fmt: skip
PLUGINS = ("pytest-xdist==3.6.1", "pytest-cov==5.0.0", "pytest-timeout==2.3.1",
           "pytest-forked==1.6.0", "pytest-randomly==3.15.0",
           "pytest-instafail==0.5.0", "pytest-sugar==1.0.0")  # fmt: skip
OPTIONS = (
    "-n 2 --dist loadfile --maxfail=1",
    "--cov=a --cov-fail-under=100 --cov-report=term-missing",
    "-n 2 --cov=a --cov-fail-under=100 -x",
    "--timeout=1 --timeout-method=thread",
    "--forked",
)


@pytest.mark.network
@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("python", "version", "plugins"),
    [("3.6", "4.6.11", OLD_PLUGINS), ("3.12", "8.4.2", PLUGINS)],
)
def test_options_of_plug_ins_take_no_status_away(
    python: str, version: str, plugins: tuple[str, ...], tmp_path: Path
) -> None:
    """They are the project's own, in its configuration, and stay there."""
    executable = make(tmp_path / "venv", python, version)
    install(executable, f"pytest=={version}", *plugins)
    for number, options in enumerate(OPTIONS):
        project = tmp_path / f"project{number}"
        project.mkdir()
        (project / "pytest.ini").write_text(f"[pytest]\naddopts = {options}\n")
        (project / "a.py").write_text("def f():\n    return 1\n")
        (project / "test_a.py").write_text("import a\ndef test_f(): assert a.f() == 2\n")
        (project / "test_b.py").write_text("import no_such_module\n")
        (project / "test_c.py").write_text(
            "import os, time\n"
            "def test_here(): assert 'PYTEST_XDIST_WORKER' not in os.environ\n"
            "def test_slow(): time.sleep(5 if '--timeout' in open('pytest.ini').read() else 0)\n"
            "def test_last(): pass\n"
        )
        reported = run_reported(project, "-q", python=executable)
        assert {key: told[0] for key, told in reported.statuses(READERS["pytest"]).items()} == {
            "test_a.py::test_f": "failed",
            "test_b.py": "error",
            "test_c.py::test_here": "passed",
            "test_c.py::test_slow": "failed" if "--timeout" in options else "passed",
            "test_c.py::test_last": "passed",
        }, (options, reported.output)
        assert reported.transcript.counts_agree
        assert reported.transcript.ended_with == reported.exit_code == 1
    green = tmp_path / "green"
    green.mkdir()
    (green / "pytest.ini").write_text("[pytest]\naddopts = --cov=a --cov-fail-under=100\n")
    (green / "a.py").write_text("x = 1\n")
    (green / "test_a.py").write_text("def test_a(): pass\n")
    reported = run_reported(green, "-q", python=executable)
    assert reported.transcript.ended_with == reported.exit_code == 0, reported.output


@pytest.mark.network
@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("python", "version", "plugin"),
    [
        ("3.6", "4.6.11", "pytest-rerunfailures==8.0"),
        ("3.12", "8.4.2", "pytest-rerunfailures==14.0"),
    ],
)
def test_what_is_run_again_at_once_is_one_test(
    python: str, version: str, plugin: str, tmp_path: Path
) -> None:
    executable = make(tmp_path / "venv", python, version)
    install(executable, f"pytest=={version}", plugin)
    project = tmp_path / "project"
    project.mkdir()
    code = (
        "import os, pytest\nmet = []\n"
        "@pytest.mark.flaky(reruns=2)\n"
        "def test_second():\n    met.append(1)\n    assert len(met) > 1\n"
        "@pytest.mark.flaky(reruns=2)\n"
        "def test_never(): assert 0\n"
        "@pytest.fixture\n"
        "def deadly():\n    yield\n    os._exit(0)\n"
        "@pytest.mark.flaky(reruns=2)\n"
        "def test_deadly(request):\n    met.append(1)\n    assert len(met) > 3\n"
        "    request.getfixturevalue('deadly')\n"
    )
    (project / "test_a.py").write_text(code)
    reported = run_reported(project, "-q", python=executable)
    statuses = reported.statuses(READERS["pytest"])
    assert [status for status, _ in statuses.values()] == ["passed", "failed", "error"]
