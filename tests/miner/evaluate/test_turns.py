"""Grading with one patch more under way than suites may run: nothing hangs, nothing is lost."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from miner.errors import RetryableError
from miner.evaluate.dataset import Dataset, DatasetRow
from miner.evaluate.hands import RESULT_S, Hands
from miner.evaluate.predictions import gold_predictions
from miner.evaluate.stage import Submission, evaluate
from miner.model import EvaluationState, IncompleteError, StageReport
from miner.store import Database
from tests.fakes.progress import SilentProgress
from tests.fakes.turns import WAIT_S, During, Turns, graded
from tests.samples import GOLD, NOON, TESTS, recipe
from validators.errors import EngineUnavailableError
from validators.model import Grade, GradingTask, Tree

WORKERS = 2
GONE = EngineUnavailableError("The container engine is gone: start it, then try again.")
ROWS = tuple(
    DatasetRow(
        instance_id=f"o__r-{number}", repo="o/r", base_commit="a" * 40, patch=GOLD,
        test_patch=TESTS, fail_to_pass=("t.py::a",), pass_to_pass=(), recipe=recipe(),
        merged_at=NOON, row_hash=f"row{number}",
    )
    for number in range(8)
)  # fmt: skip


class TurnGrader:
    """Grades by a scripted suite in a turn; `during` is called in each."""

    def __init__(self, during: During) -> None:
        self.turns = Turns(WORKERS)
        self.closed = threading.Event()
        self._during = during

    def grade(self, task: GradingTask, *, model_patch: bytes) -> Grade:  # noqa: ARG002
        """Resolved, unless `during` raises."""
        return graded(self.turns, self._during)

    def close(self) -> None:
        """Remembered."""
        self.closed.set()


def run(
    database: Database,
    grader: TurnGrader,
    *,
    progress: SilentProgress | None = None,
    result_s: float = RESULT_S,
) -> StageReport:
    """Threads and grades under way as `miner evaluate` has them."""
    with ThreadPoolExecutor(WORKERS + 1) as pool:
        return evaluate(
            database.evaluate,
            dataset=Dataset(name="2024-06-01", rows=ROWS),
            submission=Submission(run_id="r", predictions=gold_predictions(ROWS)),
            hands=Hands(
                executor=pool,
                grader=grader,
                tree=lambda row: Tree(commit=row.base_commit, committed_at=NOON, tar=b""),
                in_flight=WORKERS + 1,
                result_s=result_s,
            ),
            now=lambda: datetime(2026, 1, 1, tzinfo=UTC),
            progress=progress or SilentProgress(),
        )


@pytest.mark.parametrize("seed", range(4))
def test_faults_in_any_suite_lose_no_turn_and_no_grade(database: Database, seed: int) -> None:
    chance, lock = random.Random(seed), threading.Lock()  # noqa: S311  (which suites fail)

    def sometimes() -> None:
        with lock:
            fault = chance.choice((GONE, KeyError("ours"))) if chance.random() < 0.8 else None
        if fault is not None:
            raise fault

    grader, reports = TurnGrader(sometimes), list[StageReport]()
    while not reports or reports[-1].retried:
        try:
            reports.append(run(database, grader))
        except IncompleteError as given_up:
            reports.append(given_up.report)
        assert reports[-1].done + reports[-1].retried == len(ROWS)
        assert grader.turns.free() == WORKERS
        assert len(reports) < 30
    assert reports[0].retried
    assert reports[-1].counts == {EvaluationState.RESOLVED: len(ROWS)}


class Interrupted(SilentProgress):
    """Ctrl-C, or the database that is gone, at the first grade."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def advance(self, what: str, note: str, *, by: int = 1) -> None:  # noqa: ARG002
        """Raises."""
        raise self._error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RetryableError("The database is gone.")])
def test_what_ends_the_stage_ends_who_has_a_turn_and_who_waits_for_one(
    database: Database, error: BaseException
) -> None:
    first, lock = [True], threading.Lock()
    grader: TurnGrader

    def until_closed() -> None:
        with lock:
            free, first[0] = first[0], False
        if not free:
            assert grader.closed.wait(WAIT_S)
            raise GONE

    grader = TurnGrader(until_closed)
    with pytest.raises(type(error)):
        run(database, grader, progress=Interrupted(error))
    assert grader.closed.is_set()
    assert grader.turns.free() == WORKERS
    report = run(database, TurnGrader(lambda: None))
    assert report.counts == {EvaluationState.RESOLVED: len(ROWS)}


def test_a_grade_that_is_late_ends_what_still_runs(database: Database) -> None:
    grader: TurnGrader

    def until_closed() -> None:
        assert grader.closed.wait(WAIT_S)
        raise GONE

    grader = TurnGrader(until_closed)
    with pytest.raises(RetryableError, match="lost its work"):
        run(database, grader, result_s=0.01)
    assert grader.closed.is_set()
    assert grader.turns.free() == WORKERS
