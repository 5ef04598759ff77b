"""What probes ask and what their answers change."""

import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.toy import RECIPE, Repository, Toy, environment_of, task_of
from validators.engines import DockerEngine
from validators.hunks import hunk_paths, without_hunk
from validators.model import (
    FULL,
    Flaw,
    Image,
    Outcome,
    Phase,
    Run,
    Task,
    TestResult,
    TestStatus,
    Tree,
    Verdict,
)
from validators.probes import (
    CLOCK,
    HASH_SEED,
    HUNK,
    ORDER,
    OWNER,
    REMARK,
    SURROUNDINGS,
    applied,
    probes_of,
    surroundings,
)
from validators.procession import runs_of
from validators.verification import verify

WHEN = datetime(2024, 1, 2, tzinfo=UTC)
LINES = [f"line {number}\n" for number in range(60)]
VERDICT = Verdict(fail_to_pass=("a", "b"), pass_to_pass=("c",), missing_before=("a", "b"))
PASSED, FAILED = TestStatus.PASSED, TestStatus.FAILED


def probe(variant: str, flaw: Flaw | None = None, **statuses: TestStatus) -> Run:
    return Run(
        phase=Phase.PROBE,
        attempt=1,
        variant=variant,
        results={name: TestResult(status=status) for name, status in statuses.items()},
        outcome=Outcome(exit_code=0, output=b""),
        image_digest="",
        started_at=WHEN,
        flaw=flaw,
    )


def test_a_test_that_fails_elsewhere_is_taken_out_with_its_reason() -> None:
    after = applied(
        VERDICT,
        [probe(CLOCK, a=PASSED, b=FAILED, c=PASSED), probe(ORDER, a=PASSED, b=PASSED)],
    )
    assert after.accepted
    assert (after.fail_to_pass, after.pass_to_pass) == (("a",), ())
    assert dict(after.left_out) == {
        "b": f"fails in a probe: {CLOCK}",
        "c": f"fails in a probe: {ORDER}",  # it was not even seen
    }
    assert after.missing_before == ("a",)


def test_a_test_that_a_remark_repairs_tests_no_fix() -> None:
    after = applied(VERDICT, [probe(REMARK, a=PASSED, b=PASSED, c=PASSED)])
    assert after.flaw is Flaw.FLAKY
    assert after.fail_to_pass == ()


def test_a_test_that_a_remark_breaks_is_taken_out() -> None:
    after = applied(VERDICT, [probe(REMARK, a=FAILED, b=FAILED, c=FAILED)])
    assert after.accepted
    assert (after.fail_to_pass, after.pass_to_pass) == (("a", "b"), ())


def test_a_probe_without_an_answer_removes_nothing() -> None:
    after = applied(VERDICT, [probe(HASH_SEED, Flaw.TIMED_OUT_AFTER)])
    assert (after.fail_to_pass, after.pass_to_pass) == (("a", "b"), ("c",))
    assert after.marks == (f"probe_failed: {HASH_SEED}",)


def test_hunks_that_no_test_notices_are_marked() -> None:
    runs = [
        probe(f"{HUNK}1 of 2", a=FAILED, b=PASSED),
        probe(f"{HUNK}2 of 2", a=PASSED, b=PASSED, c=FAILED),
    ]
    assert applied(VERDICT, runs).marks == ("unnoticed_hunks: 1 of 2",)
    assert applied(VERDICT, runs[:1]).marks == ()


TESTS = st.lists(st.sampled_from("abcdef"), unique=True, max_size=6)
ANSWERS = st.lists(
    st.builds(
        lambda variant, flaw, statuses: probe(variant, flaw, **statuses),
        st.sampled_from((*sorted(SURROUNDINGS), REMARK, f"{HUNK}1 of 2", f"{HUNK}2 of 2")),
        st.sampled_from((None, None, None, *Flaw)),
        st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from(TestStatus)),
    ),
    max_size=5,
    unique_by=lambda run: run.variant,
)


@given(TESTS, st.integers(1, 6), ANSWERS, st.randoms(use_true_random=False))
def test_probes_only_take_tests_out_in_whatever_order_they_come(
    tests: list[str], fixed: int, probes: list[Run], rng: Random
) -> None:
    """A test is in at most one list, and never in one in which it was not before."""
    verdict = Verdict(fail_to_pass=("z", *tests[:fixed]), pass_to_pass=tuple(tests[fixed:]))
    after = applied(verdict, probes)
    out = [test for test, _ in after.left_out]
    assert sorted((*after.fail_to_pass, *out, *after.pass_to_pass)) == sorted(["z", *tests])
    assert set(after.fail_to_pass) <= set(verdict.fail_to_pass)
    assert set(after.pass_to_pass) <= set(verdict.pass_to_pass)
    assert after.accepted is bool(after.fail_to_pass)
    other = applied(verdict, rng.sample(probes, len(probes)))
    assert (other.fail_to_pass, other.pass_to_pass) == (after.fail_to_pass, after.pass_to_pass)
    assert (other.flaw, sorted(other.marks)) == (after.flaw, sorted(after.marks))
    assert [test for test, _ in other.left_out] == out


def changed(*numbers: int) -> str:
    return "".join(line.upper() if n in numbers else line for n, line in enumerate(LINES))


def test_each_hunk_can_be_left_out(tmp_path: Path) -> None:
    files = {"f.txt": "".join(LINES), "g.txt": "g\n", "gone.txt": "x\n"}
    repository = Repository(tmp_path / "r", files)
    patch = repository.diff(
        {"f.txt": changed(3, 30, 50), "g.txt": "G\n", "new.txt": "n\n", "gone.txt": None}
    )
    assert len(hunk_paths(patch)) == 6
    states = set()
    for number in range(6):
        part = without_hunk(patch, number)
        assert len(hunk_paths(part)) == 5
        git = ["git", "-C", str(repository.folder)]
        subprocess.run([*git, "apply", "--index", "-"], input=part, check=True)
        tree = subprocess.run([*git, "write-tree"], check=True, capture_output=True).stdout
        states.add(tree)
        subprocess.run([*git, "reset", "-q", "--hard"], check=True)
    assert len(states) == 6
    assert without_hunk(patch, 6) == patch


def test_content_that_looks_like_a_header_stays_in_its_hunk(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r", {"f.txt": "".join(LINES)})
    patch = repository.diff(
        {"f.txt": changed(50).replace("line 3\n", "diff --git a/x b/x\n@@ -1 +1 @@\n--- a\n")}
    )
    assert len(hunk_paths(patch)) == 2
    assert b"diff --git a/x" not in without_hunk(patch, 0)


def task(gold: bytes) -> Task:
    tree = Tree(commit="c", committed_at=WHEN, tar=bytes(10240))
    return Task(instance_id="i", repo="o/n", tree=tree, patch=gold, test_patch=b"", merged_at=WHEN)


def test_hunk_probes_are_bounded(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r", {"f.py": "".join(f"{line}\n" * 8 for line in LINES)})
    text = "".join(f"{line.upper()}\n" + f"{line}\n" * 7 for line in LINES)
    patch = repository.diff({"f.py": text})
    assert len(hunk_paths(patch)) == 60
    variants = [trial.variant for trial in probes_of(task(patch))]
    assert variants[0] == REMARK
    assert 2 <= sum(variant.startswith(HUNK) for variant in variants) <= 8
    one = repository.diff({"f.py": text[:200] + "".join(f"{line}\n" * 8 for line in LINES)[200:]})
    assert len(hunk_paths(without_hunk(one, 0))) == len(hunk_paths(one)) - 1


CLOCKED = """
import ctypes, datetime, errno, queue, select, subprocess, sys, threading, time
import pytest

C = ctypes.CDLL(None, use_errno=True)
BLOCK = ctypes.create_string_buffer(256)  # as large as any of C's locks
YEARS_S = 700 * 24 * 3600


class Time(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("ns", ctypes.c_long)]


def soon():
    at = time.time_ns() + 10**8
    return ctypes.byref(Time(at // 10**9, at % 10**9))


def test_the_wall_clock_is_shifted():
    assert time.time() > NOW + YEARS_S
    assert datetime.datetime.now().timestamp() > NOW + YEARS_S
    child = subprocess.check_output([sys.executable, "-c", "import time; print(time.time())"])
    assert float(child) > NOW + YEARS_S


def test_no_other_clock_is():
    with open("/proc/uptime") as file:
        assert abs(time.monotonic() - float(file.read().split()[0])) < YEARS_S


def child_runs_on():
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run(["sleep", "60"], timeout=0.1)


def nothing_comes():
    with pytest.raises(queue.Empty):
        queue.Queue().get(timeout=0.1)


def condition():
    waited = threading.Condition()
    with waited:
        waited.wait(0.1)


def taken():
    lock = threading.Lock()
    lock.acquire()
    assert not lock.acquire(timeout=0.1)


def semaphore():
    C.sem_init(BLOCK, 0, 0)
    assert C.sem_timedwait(BLOCK, soon()) == -1 and ctypes.get_errno() == errno.ETIMEDOUT


def mutex():
    C.pthread_mutex_init(BLOCK, None)
    C.pthread_mutex_lock(BLOCK)
    assert C.pthread_mutex_timedlock(BLOCK, soon()) == errno.ETIMEDOUT


def condition_of_c():
    lock = ctypes.create_string_buffer(256)
    C.pthread_mutex_init(lock, None)
    C.pthread_mutex_lock(lock)
    C.pthread_cond_init(BLOCK, None)
    assert C.pthread_cond_timedwait(BLOCK, lock, soon()) == errno.ETIMEDOUT


def nanosleep():
    assert C.clock_nanosleep(0, 1, soon(), None) == 0  # CLOCK_REALTIME, TIMER_ABSTIME


@pytest.mark.parametrize("wait", [
    lambda: time.sleep(0.1), lambda: select.select([], [], [], 0.1), child_runs_on, nothing_comes,
    condition, taken, semaphore, mutex, condition_of_c, nanosleep,
])
def test_waits_are_as_long_as_ever(wait):
    '''What never ends meets the time limit of the run.'''
    began = time.monotonic()
    wait()
    assert time.monotonic() - began > 0.05
"""


@pytest.mark.docker
def test_the_clock_of_its_probe_shifts_what_is_told_and_no_wait(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    code = CLOCKED.replace("NOW", str(int(datetime.now(UTC).timestamp())))
    tree = Repository(tmp_path / "toy", {"test_clock.py": code}).tree()
    environment = environment_of(toy_image, replace(RECIPE, timeout_s=30))
    clock = replace(surroundings(task(b""))[0], patches=())
    assert clock.variant == CLOCK
    (found,) = runs_of(tree, environment, [clock], selection=("test_clock.py",), engine=engine)
    wrong = {test: told for test, told in found.results.items() if told.status is not PASSED}
    assert (found.flaw, wrong) == (None, {})
    assert len(found.results) == 12


@pytest.mark.docker
def test_probes_find_tests_that_depend_on_their_surroundings(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    tests = """
import datetime, os, time
from calc import add, unused
def test_add(): assert add(1, 1) == 2
def test_year(): assert add(1, 0) == 1 and datetime.date.today().year < 2100 and time.time() < LIMIT
def test_zone(): assert add(2, 0) == 2 and time.tzname[0] == "UTC"
def test_user(): assert os.getuid() == 1000
def test_seed(): assert os.environ["PYTHONHASHSEED"] == "0"
def test_first(): SEEN.append(1); assert len(SEEN) == 1
def test_second(): SEEN.append(2); assert SEEN == [1, 2]
SEEN = []
"""
    limit = int(datetime.now(UTC).timestamp()) + 180 * 24 * 3600
    bug = "def add(a, b):\n    return a - b - 1\n" + "\n" * 12 + "def unused():\n    return 1\n"
    toy = Toy(
        base={"calc.py": bug},
        tests={"test_calc.py": tests.replace("LIMIT", str(limit))},
        gold={"calc.py": bug.replace("a - b - 1", "a + b").replace("return 1", "return 2")},
        fail_to_pass=(),
        pass_to_pass=(),
    )
    verdict = verify(
        task_of(toy, Repository(tmp_path / "toy", toy.base)),
        environment_of(toy_image),
        test_files=("test_calc.py",),
        engine=engine,
        policy=replace(FULL, repeats=1),
        progress=print,
    )
    assert verdict.accepted, verdict
    assert verdict.fail_to_pass == ("test_calc.py::test_add",)
    reasons = {key.partition("::")[2]: reason for key, reason in verdict.left_out}
    assert reasons["test_year"] == f"fails in a probe: {CLOCK}"
    assert "time zone" in reasons["test_zone"]
    assert reasons["test_seed"] == f"fails in a probe: {HASH_SEED}"
    assert reasons["test_user"] == f"fails in a probe: {OWNER}"
    assert {"test_first", "test_second"} & set(reasons)
    assert verdict.marks == ("unnoticed_hunks: 1 of 2",)
    assert RECIPE.timeout_s > max(run.outcome.duration_s for run in verdict.runs)
