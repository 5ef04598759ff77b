"""The reporter inside real pytest and unittest processes, over a real FIFO."""

import json
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from tests.fakes.pipe import NONCE, Reported, run_reported
from validators.languages.python.report import READERS
from validators.model import TestStatus
from validators.reporter import make_dumps

READ = READERS["pytest"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def test_every_outcome_is_told_with_its_phase(project: Path) -> None:
    (project / "test_all.py").write_text(
        """
import pytest
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
@pytest.mark.xfail(strict=True)
def test_strict(): pass
"""
    )
    reported = run_reported(project, "-q")
    assert reported.statuses(READ) == {
        "test_all.py::test_pass": ("passed", "call"),
        "test_all.py::test_fail": ("failed", "call"),
        "test_all.py::test_setup": ("error", "setup"),
        "test_all.py::test_teardown": ("error", "teardown"),
        "test_all.py::test_skip": ("skipped", "call"),
        "test_all.py::test_xfail": ("xfail", "call"),
        "test_all.py::test_xpass": ("xpass", "call"),
        "test_all.py::test_strict": ("failed", "call"),
    }
    assert reported.results(READ)["test_all.py::test_fail"].message.startswith("AssertionError")
    assert reported.transcript.ended_with == reported.exit_code == 1
    assert reported.transcript.counts_agree
    assert reported.transcript.counts == {
        "passed": 2,  # the one whose teardown failed passed its call
        "failed": 2,
        "error": 2,
        "skipped": 1,
        "xfailed": 1,
        "xpassed": 1,
    }


@pytest.mark.parametrize(
    "value",
    ["a b", "new\nline", "é", "業者名稱", "[x]::y", "`foo`", " - ", "x" * 9000, "\x00\x1b[31m"],
    ids=lambda value: ascii(value)[:12],
)
def test_ids_of_any_content_arrive_exactly(project: Path, value: str) -> None:
    (project / "conftest.py").write_text(
        "import json\ndef pytest_collection_finish(session):\n"
        "    open('ids.json', 'w').write(json.dumps([i.nodeid for i in session.items]))\n"
    )
    (project / "test_ids.py").write_text(
        f"import pytest\n@pytest.mark.parametrize('v', [1], ids=[{value!r}])\ndef test(v): pass\n"
    )
    reported = run_reported(project, "-q")
    (expected,) = json.loads((project / "ids.json").read_text())
    assert expected.startswith("test_ids.py::test[")
    assert reported.transcript.ids == (expected,)
    assert reported.statuses(READ) == {expected: ("passed", "call")}


def test_no_record_is_larger_than_an_atomic_write(project: Path) -> None:
    (project / "test_big.py").write_text(
        "import pytest\n@pytest.mark.parametrize('v', 'abc', ids=[c * 20000 for c in 'abc'])\n"
        "def test(v): assert 0, v\n"
    )
    reported = run_reported(project, "-q")
    assert [len(test) for test in reported.transcript.ids] == [
        len("test_big.py::test[]") + 20000
    ] * 3
    assert max(len(line) for line in reported.raw.split(b"\n")) < 4096 - 2
    assert reported.transcript.counts_agree


def test_process_that_dies_leaves_what_was_decided(project: Path) -> None:
    (project / "test_die.py").write_text(
        """
import os, signal
def test_a(): pass
def test_b(): os._exit(0)
def test_c(): pass
"""
    )
    reported = run_reported(project, "-q")
    assert reported.exit_code == 0  # as if all were well
    assert reported.transcript.ended_with is None
    assert reported.statuses(READ) == {
        "test_die.py::test_a": ("passed", "call"),
        "test_die.py::test_b": ("error", "call"),
        "test_die.py::test_c": ("not_run", ""),
    }


@pytest.mark.parametrize("death", ["os.kill(os.getpid(), 9)", "ctypes.string_at(0)"])
def test_killed_or_crashed_process_names_the_test(project: Path, death: str) -> None:
    (project / "test_die.py").write_text(
        f"import os, ctypes\ndef test_a(): pass\ndef test_b(): {death}\ndef test_c(): pass\n"
    )
    statuses = run_reported(project, "-q", "-p", "no:faulthandler").statuses(READ)
    assert [status for status, _ in statuses.values()] == ["passed", "error", "not_run"]


def test_death_in_teardown_is_no_pass(project: Path) -> None:
    (project / "test_die.py").write_text(
        """
import os, pytest
@pytest.fixture
def f():
    yield
    os._exit(0)
def test_a(f): pass
"""
    )
    assert run_reported(project, "-q").statuses(READ) == {
        "test_die.py::test_a": ("error", "teardown")
    }


def test_death_between_the_last_test_and_the_end_takes_nothing_from_it(project: Path) -> None:
    """What is held back to save writes is out before any plug-in's end of the session."""
    (project / "conftest.py").write_text(
        "import os\ndef pytest_sessionfinish(session): os._exit(0)\n"
    )
    (project / "test_die.py").write_text("def test_a(): pass\ndef test_b(): pass\n")
    reported = run_reported(project, "-q")
    assert reported.transcript.ended_with is None
    assert set(reported.statuses(READ).values()) == {("passed", "call")}


def test_descriptors_closed_by_a_test_do_not_silence_the_rest(project: Path) -> None:
    (project / "test_close.py").write_text(
        """
import os
def test_a(capfd):
    os.closerange(100, 1024)
    global kept
    kept = [open(__file__) for _ in range(20)]
def test_b(): pass
"""
    )
    reported = run_reported(project, "-q", "-W", "ignore")
    assert reported.statuses(READ)["test_close.py::test_b"] == ("passed", "call")
    assert reported.transcript.ended_with == 0


def test_collection_error_is_told_and_the_rest_runs(project: Path) -> None:
    (project / "test_bad.py").write_text("from json import no_such_name\ndef test_x(): pass\n")
    (project / "test_good.py").write_text("def test_y(): pass\n")
    reported = run_reported(project, "-q", "--continue-on-collection-errors")
    results = reported.results(READ)
    assert results["test_bad.py"].status is TestStatus.ERROR
    assert results["test_bad.py"].phase == "collect"
    assert "no_such_name" in results["test_bad.py"].message
    assert results["test_good.py::test_y"].status is TestStatus.PASSED
    assert reported.transcript.counts_agree


def test_conftest_that_does_not_import_is_a_begin_without_items(project: Path) -> None:
    (project / "conftest.py").write_text("from json import no_such_name\n")
    (project / "test_x.py").write_text("def test_x(): pass\n")
    transcript = run_reported(project, "-q").transcript
    assert transcript.begun
    assert transcript.ids == ()


def test_hanging_test_is_stopped_and_the_next_one_runs(project: Path) -> None:
    (project / "test_slow.py").write_text(
        """
import time
def test_hang():
    try:
        time.sleep(60)
    except Exception:
        pass
def test_next(): pass
"""
    )
    reported = run_reported(project, "-q", test_timeout_s=0.3)
    assert reported.statuses(READ) == {
        "test_slow.py::test_hang": ("timed_out", "call"),
        "test_slow.py::test_next": ("passed", "call"),
    }
    assert reported.transcript.counts_agree


def test_a_test_that_uses_the_alarm_itself_is_left_alone(project: Path) -> None:
    (project / "test_alarm.py").write_text(
        """
import signal, time
def test_own():
    got = []
    signal.signal(signal.SIGALRM, lambda *_: got.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    time.sleep(0.2)
    assert got
"""
    )
    reported = run_reported(project, "-q", test_timeout_s=30)
    assert reported.statuses(READ) == {"test_alarm.py::test_own": ("passed", "call")}


def test_subtests_fail_their_test(project: Path) -> None:
    (project / "test_sub.py").write_text(
        """
import unittest
class T(unittest.TestCase):
    def test_mixed(self):
        for n in range(3):
            with self.subTest(n=n):
                assert n != 1
    def test_good(self):
        for n in range(3):
            with self.subTest(n=n):
                pass
def test_fixture(subtests):
    with subtests.test("a"):
        assert 0
"""
    )
    reported = run_reported(project, "-q")
    assert {key: status for key, (status, _) in reported.statuses(READ).items()} == {
        "test_sub.py::T::test_mixed": "failed",
        "test_sub.py::T::test_good": "passed",
        "test_sub.py::test_fixture": "failed",
    }
    assert reported.transcript.counts_agree, reported.transcript


def test_nothing_of_ours_is_left_for_the_project_to_see(project: Path) -> None:
    (project / "test_seen.py").write_text(
        f"""
import os, sys
def test_environment():
    assert {NONCE!r} not in repr(dict(os.environ)) + repr(sys.argv)
    assert "kit" not in repr(sys.path) + os.environ.get("PYTHONPATH", "")
    for name in "environ", "cmdline":
        with open("/proc/self/" + name) as readable:
            assert {NONCE!r} not in readable.read()
def test_child():
    import subprocess
    code = "import sys; sys.exit('kit' in repr(sys.path))"
    subprocess.run([sys.executable, "-c", code], check=True)
"""
    )
    reported = run_reported(project, "-q", "-W", "error")
    assert reported.exit_code == 0, reported.output
    assert reported.transcript.ended_with == 0


def test_forked_child_of_a_test_reports_nothing(project: Path) -> None:
    (project / "test_fork.py").write_text(
        """
import os, pytest
def test_fork():
    pid = os.fork()
    if pid == 0:
        pytest.exit("the child ends its own session", returncode=0)
    os.waitpid(pid, 0)
"""
    )
    reported = run_reported(project, "-q", "-W", "ignore")
    ends = [e for e in reported.records if e["event"] == "end"]
    assert len(ends) == 1
    assert reported.statuses(READ) == {"test_fork.py::test_fork": ("passed", "call")}


def test_unittest_run_reports_like_pytest(project: Path) -> None:
    (project / "test_u.py").write_text(
        """
import unittest
class T(unittest.TestCase):
    def test_pass(self): pass
    def test_fail(self): self.fail("because")
    def test_error(self): raise TypeError("no")
    @unittest.skip("later")
    def test_skip(self): pass
    @unittest.expectedFailure
    def test_xfail(self): self.fail()
    @unittest.expectedFailure
    def test_xpass(self): pass
    def test_sub(self):
        for n in range(2):
            with self.subTest(n=n):
                self.assertEqual(n, 0)
class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise RuntimeError("no database")
    def test_never(self): pass
"""
    )
    (project / "test_bad.py").write_text("import no_such_module\n")
    reported = run_reported(project, "-m", "unittest", "test_u", "test_bad", runner="unittest")
    statuses = dict(reported.statuses(READERS["unittest"]))
    fixture = statuses.pop("setUpClass (test_u.Broken)")
    assert fixture == ("error", "setup")
    assert statuses == {
        "test_u.T.test_pass": ("passed", "call"),
        "test_u.T.test_fail": ("failed", "call"),
        "test_u.T.test_error": ("error", "call"),
        "test_u.T.test_skip": ("skipped", "call"),
        "test_u.T.test_xfail": ("xfail", "call"),
        "test_u.T.test_xpass": ("xpass", "call"),
        "test_u.T.test_sub": ("failed", "call"),
        "test_u.Broken.test_never": ("error", "setup"),
        "test_bad": ("error", "collect"),
    }
    assert reported.transcript.ended_with == reported.exit_code == 1
    assert reported.transcript.counts_agree, reported.transcript


def test_unittest_time_limit_and_crash(project: Path) -> None:
    (project / "test_u.py").write_text(
        """
import os, time, unittest
class T(unittest.TestCase):
    def test_a(self): time.sleep(60)
    def test_b(self): pass
    def test_c(self): os._exit(0)
    def test_d(self): pass
"""
    )
    reported = run_reported(
        project, "-m", "unittest", "test_u", runner="unittest", test_timeout_s=0.3
    )
    statuses = [status for status, _ in reported.statuses(READ).values()]
    assert statuses == ["timed_out", "passed", "error", "not_run"]
    assert reported.transcript.ended_with is None


def test_unittest_runs_in_another_order_when_asked(project: Path) -> None:
    def run(seed: int) -> Reported:
        folder = project / str(seed)
        shutil.copytree(project / "suite", folder, dirs_exist_ok=True)
        return run_reported(folder, "-m", "unittest", runner="unittest", shuffle_seed=seed)

    (project / "suite").mkdir()
    for module in "abcd":
        body = "".join(f"    def test_{n}(self): self.check()\n" for n in range(5))
        (project / "suite" / f"test_{module}.py").write_text(
            "import unittest\nclass Case(unittest.TestCase):\n    open = False\n"
            "    @classmethod\n    def setUpClass(cls): cls.open = True\n"
            "    @classmethod\n    def tearDownClass(cls): cls.open = False\n"
            f"    def check(self): self.assertTrue(self.open)\n{body}"
        )
    plain, once, other = run(0), run(7), run(8)
    assert plain.transcript.started == tuple(sorted(plain.transcript.started))
    assert len({each.transcript.started for each in (plain, once, other)}) == 3
    assert sorted(once.transcript.started) == sorted(plain.transcript.started)
    modules = [test.partition(".")[0] for test in once.transcript.started]
    assert modules != sorted(modules)
    assert sum(a != b for a, b in pairwise(modules)) == 3
    assert once.exit_code == 0


def test_load_tests_suite_with_shared_ids_is_ambiguous(project: Path) -> None:
    (project / "suite.py").write_text(
        """
import unittest
def make(n):
    class Made(unittest.TestCase):
        def test_it(self): self.assertLess(n, 2)
    return unittest.TestLoader().loadTestsFromTestCase(Made)
def load_tests(loader, tests, pattern):
    return unittest.TestSuite(make(n) for n in range(3))
if __name__ == "__main__":
    unittest.main()
"""
    )
    by_module = run_reported(project, "-m", "unittest", "suite", runner="unittest")
    (result,) = by_module.results(READ).values()
    assert (result.status, result.ambiguous) == (TestStatus.FAILED, True)


def test_unittest_script_is_run_as_the_interpreter_would(project: Path) -> None:
    (project / "run.py").write_text(
        """
import sys, unittest
class T(unittest.TestCase):
    def test_a(self):
        self.assertEqual(__name__, "__main__")
        self.assertEqual(sys.argv[0], "run.py")
unittest.main()
"""
    )
    reported = run_reported(project, "run.py", runner="unittest")
    assert reported.exit_code == 0, reported.output
    assert reported.statuses(READ) == {"__main__.T.test_a": ("passed", "call")}


def test_lines_without_the_nonce_are_nobodys(project: Path) -> None:
    (project / "test_forge.py").write_text(
        """
import glob, json, os
def test_a():
    (pipe,) = glob.glob("../project-kit/report")
    with open(pipe, "w") as out:
        forged = {"event": "phase", "id": "x", "outcome": "passed"}
        out.write('0000000000000000 . ' + json.dumps(forged))
    assert 0
"""
    )
    reported = run_reported(project, "-q")
    assert reported.statuses(READ) == {"test_forge.py::test_a": ("failed", "call")}
    assert reported.records[0]["event"] == "begin"
    assert b"0000000000000000 ." in reported.raw


def test_what_tests_do_to_json_changes_no_record(project: Path) -> None:
    (project / "test_all.py").write_text(
        """
import json, json.encoder
def lie(self, value, _one_shot=False):
    if isinstance(value, dict):
        value = dict(value, outcome="passed")
    return original(self, value, _one_shot)
original = json.JSONEncoder.iterencode
json.JSONEncoder.iterencode = lie
json.JSONEncoder.encode = lambda self, value: ""
json.encoder.encode_basestring_ascii = json.encoder.c_make_encoder = None
def test_fail(): assert 0, "because \\u00fc \\udc80"
"""
    )
    reported = run_reported(project, "-q")
    assert reported.statuses(READ) == {"test_all.py::test_fail": ("failed", "call")}


def test_what_the_reporter_writes_is_json() -> None:
    values = {"a": [1, -2, 0.5, True, False, None, '\x00\u00fc\U0001f600\udc80"'], "b": {}, "c": []}
    assert json.loads(make_dumps()(values)) == values
    assert json.loads(make_dumps()([float("inf"), float("nan")])) == [None, None]
