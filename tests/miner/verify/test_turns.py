"""One task more under way than suites may run, and faults of all kinds: nothing hangs or is lost.

The whole stage on a real database, with examinations that run scripted suites in real turns.
"""

import random
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta

import pytest

from miner.git import Mirrors
from miner.model import IncompleteError
from miner.store import Database
from tests.fakes.turns import WAIT_S, During, Turns, verified
from tests.miner.store.samples import accepted, candidate
from tests.miner.verify.line import Line, Notes, live
from validators.errors import EngineTooOldError, EngineUnavailableError
from validators.model import Examination, Policy, Recipe, Task

WORKERS = 2
GONE = EngineUnavailableError("The container engine is gone: start it, then try again.")
FAULTS = (GONE, KeyError("ours"), MemoryError())


class TurnBench:
    """Examines by five scripted suites, each in a turn; `during` is called in each."""

    def __init__(self, during: During) -> None:
        self.turns = Turns(WORKERS)
        self.closed = threading.Event()
        self._during = during

    def examine(self, task: Task, *, policy: Policy, stored: Sequence[Recipe]) -> Examination:  # noqa: ARG002
        """Accepted, unless `during` raises."""
        assert verified(self.turns, self._during).accepted
        return accepted(candidate(int(task.instance_id.rpartition("-")[2]))).examination

    def close(self) -> None:
        """Remembered."""
        self.closed.set()


@pytest.fixture
def line(database: Database, mirrors: Mirrors, commit: str) -> Line:
    """The stage on an empty database."""
    return Line(database, mirrors, commit)


def passes(line: Line, bench: TurnBench) -> None:
    """One pass, threads and tasks as `miner verify` has them."""
    with ThreadPoolExecutor(WORKERS + 1) as pool:
        line.verify(bench, pool, in_flight=WORKERS + 2)


@pytest.mark.parametrize("seed", range(4))
def test_faults_at_any_suite_lose_no_turn_and_no_candidate(line: Line, seed: int) -> None:
    found = line.candidates(*range(1, 9))
    chance, lock = random.Random(seed), threading.Lock()  # noqa: S311  (which suites fail)

    def sometimes() -> None:
        with lock:
            fault = chance.choice(FAULTS) if chance.random() < 0.1 else None
        if fault is not None:
            raise fault

    bench = TurnBench(sometimes)
    for _ in range(30):
        with suppress(IncompleteError):
            passes(line, bench)
        assert live(line.database) == 0
        assert bench.turns.free() == WORKERS
        line.now.at += timedelta(days=1)
        if line.database.admin.funnel().instances == len(found):
            break
    funnel = line.database.admin.funnel()
    assert (funnel.instances, funnel.waiting_verify) == (len(found), 0)
    assert line.failures()


def test_ctrl_c_ends_who_has_a_turn_and_who_waits_for_one(line: Line) -> None:
    found = line.candidates(*range(1, 9))
    bench: TurnBench
    suites, lock = [0], threading.Lock()

    def until_closed() -> None:
        with lock:
            suites[0] += 1
            first = suites[0] <= 5 * (len(found) - WORKERS - 2)
        if not first:
            assert bench.closed.wait(WAIT_S)
            raise GONE

    class Interrupted(Notes):
        def advance(self, what: str, note: str, *, by: int = 1) -> None:  # noqa: ARG002
            if by:
                raise KeyboardInterrupt

    bench, line.notes = TurnBench(until_closed), Interrupted()
    with pytest.raises(KeyboardInterrupt):
        passes(line, bench)
    assert bench.closed.is_set()
    assert live(line.database) == 0
    assert bench.turns.free() == WORKERS
    assert line.failures() == []
    line.notes = Notes()
    passes(line, TurnBench(lambda: None))
    assert line.database.admin.funnel().instances == len(found)


def test_an_engine_that_is_too_old_ends_the_others_that_wait(line: Line) -> None:
    found = line.candidates(1, 2, 3, 4)
    bench: TurnBench
    first = threading.Semaphore(1)

    def too_old() -> None:
        if first.acquire(blocking=False):
            raise EngineTooOldError("old")
        assert bench.closed.wait(WAIT_S)
        raise GONE

    bench = TurnBench(too_old)
    with pytest.raises(EngineTooOldError):
        passes(line, bench)
    assert live(line.database) == 0
    assert bench.turns.free() == WORKERS
    passes(line, TurnBench(lambda: None))
    assert line.database.admin.funnel().instances == len(found)


def test_a_result_that_is_late_ends_what_still_runs(line: Line) -> None:
    """Else the executor would wait for ever for a task that nobody waits for."""
    line.candidates(1, 2)
    bench: TurnBench

    def until_closed() -> None:
        assert bench.closed.wait(WAIT_S)
        raise GONE

    bench = TurnBench(until_closed)
    with (
        ThreadPoolExecutor(WORKERS + 1) as pool,
        pytest.raises(IncompleteError, match="lost its work"),
    ):
        line.verify(bench, pool, in_flight=WORKERS + 2, result_s=0.01)
    assert bench.closed.is_set()
    assert live(line.database) == 0
    assert bench.turns.free() == WORKERS
