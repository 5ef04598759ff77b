"""Evaluation: three states, nothing skipped, nothing graded twice, a broken machine told apart."""

from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from miner.errors import (
    ConfigError,
    MinerError,
    NotFoundError,
    RetryableError,
    SourceUnavailableError,
)
from miner.evaluate.dataset import Dataset, DatasetRow
from miner.evaluate.hands import RESULT_S, Hands
from miner.evaluate.predictions import empty_predictions, gold_predictions
from miner.evaluate.stage import UNTRIED, Submission, evaluate
from miner.model import EvaluationState, IncompleteError, Prediction, StageReport
from miner.patience import FAILURES_IN_A_ROW
from miner.store import Database
from tests.fakes.progress import SilentProgress
from tests.fakes.serial import SerialExecutor
from tests.samples import GOLD, NOON, TESTS, recipe
from validators.errors import (
    EngineTooOldError,
    EngineUnavailableError,
    EnvironmentGoneError,
    PythonUnavailableError,
    UnknownRecipeError,
    ValidatorError,
)
from validators.model import Flaw, Grade, GradingTask, Tally, Tree

RESOLVED, UNRESOLVED, BROKEN = (
    EvaluationState.RESOLVED, EvaluationState.UNRESOLVED, EvaluationState.INFRASTRUCTURE,
)  # fmt: skip


class ScriptedGrader:
    """Resolves the gold patch; fails as often as told before it works."""

    def __init__(self, *, failures: int = 0) -> None:
        self.graded: list[tuple[str, bytes]] = []
        self.closed = False
        self._failures = failures

    def grade(self, task: GradingTask, *, model_patch: bytes) -> Grade:
        self.graded.append((task.instance_id, model_patch))
        if self._failures:
            self._failures -= 1
            raise EngineUnavailableError("The engine is gone; start it.")
        good = model_patch == task.patch
        return Grade(
            resolved=good,
            applied=True,
            fail_to_pass=Tally(passed=int(good), failed=int(not good)),
            pass_to_pass=Tally(passed=1, failed=0),
        )

    def close(self) -> None:
        self.closed = True


def row(number: int) -> DatasetRow:
    return DatasetRow(
        instance_id=f"o__r-{number}", repo="o/r", base_commit="a" * 40, patch=GOLD,
        test_patch=TESTS, fail_to_pass=("t.py::a",), pass_to_pass=("t.py::b",), recipe=recipe(),
        merged_at=NOON, row_hash=f"row{number}",
    )  # fmt: skip


def tree(of: DatasetRow) -> Tree:
    return Tree(commit=of.base_commit, committed_at=NOON, tar=b"")


DATASET = Dataset(name="2024-06-01", rows=(row(1), row(2)))
MANY = Dataset(name="2024-06-01", rows=tuple(map(row, range(1, 10))))


def run(
    database: Database,
    predictions: Sequence[Prediction],
    grader: ScriptedGrader,
    *,
    run_id: str = "r",
    executor: Callable[[], Executor] = SerialExecutor,
    dataset: Dataset = DATASET,
    trees: Callable[[DatasetRow], Tree] = tree,
    result_s: float = RESULT_S,
) -> StageReport:
    with executor() as pool:
        return evaluate(
            database.evaluate,
            dataset=dataset,
            submission=Submission(run_id=run_id, predictions=tuple(predictions)),
            hands=Hands(executor=pool, grader=grader, tree=trees, in_flight=1, result_s=result_s),
            now=lambda: NOON + timedelta(days=1),
            progress=SilentProgress(),
        )


def states(database: Database, run_id: str = "r") -> dict[str, EvaluationState]:
    found = database.evaluate.evaluations(dataset=DATASET.name, run_id=run_id)
    return {evaluation.instance_id: evaluation.state for evaluation in found}


def answer(number: int, patch: bytes = b"diff") -> Prediction:
    return Prediction(instance_id=f"o__r-{number}", model_name_or_path="m", model_patch=patch)


@pytest.mark.parametrize(
    "executor", [SerialExecutor, lambda: ThreadPoolExecutor(max_workers=2)],
    ids=["serial", "threads"],
)  # fmt: skip
def test_gold_resolves_everything(database: Database, executor: Callable[[], Executor]) -> None:
    report = run(database, gold_predictions(DATASET.rows), ScriptedGrader(), executor=executor)
    assert report.counts == {RESOLVED: 2}
    assert states(database) == {"o__r-1": RESOLVED, "o__r-2": RESOLVED}


def test_empty_patches_resolve_nothing_and_need_no_run(database: Database) -> None:
    grader = ScriptedGrader()
    run(database, empty_predictions(DATASET.rows), grader)
    assert set(states(database).values()) == {UNRESOLVED}
    assert grader.graded == []
    found = database.evaluate.evaluations(dataset=DATASET.name, run_id="r")[0].grade
    assert found is not None
    assert found.flaw is Flaw.EMPTY_PATCH


def test_a_missing_prediction_is_unresolved(database: Database) -> None:
    run(database, [answer(1, GOLD)], ScriptedGrader())
    assert states(database) == {"o__r-1": RESOLVED, "o__r-2": UNRESOLVED}
    missing = database.evaluate.evaluations(dataset=DATASET.name, run_id="r")[1].grade
    assert missing is not None
    assert missing.flaw is Flaw.MISSING_PREDICTION


def test_the_same_again_runs_nothing_and_stores_nothing(database: Database) -> None:
    run(database, [answer(1)], ScriptedGrader())
    before = database.evaluate.evaluations(dataset=DATASET.name, run_id="r")
    again = ScriptedGrader()
    assert run(database, [answer(1)], again).counts == {UNRESOLVED: 2}
    assert again.graded == []
    assert database.evaluate.evaluations(dataset=DATASET.name, run_id="r") == before


def test_a_known_answer_is_not_run_in_another_run_either(database: Database) -> None:
    run(database, [answer(1), answer(2)], ScriptedGrader())
    again = ScriptedGrader()
    run(database, [answer(1), answer(2)], again, run_id="other")
    assert again.graded == []
    assert states(database, "other") == states(database)


def test_a_patch_of_several_models_is_run_once_for_all_of_them(database: Database) -> None:
    grader = ScriptedGrader()
    models = [replace(answer(1), model_name_or_path=name) for name in ("m", "n", "o")]
    report = run(database, [*models, answer(2, GOLD)], grader)
    assert sorted(grader.graded) == [("o__r-1", b"diff"), ("o__r-2", GOLD)]
    found = database.evaluate.evaluations(dataset=DATASET.name, run_id="r")
    told = {(e.model_name_or_path, e.state) for e in found if e.instance_id == "o__r-1"}
    assert told == {("m", UNRESOLVED), ("n", UNRESOLVED), ("o", UNRESOLVED)}
    assert report.counts == {RESOLVED: 1, UNRESOLVED: 5}  # n and o left o__r-2 out


def test_another_answer_is_graded_anew(database: Database) -> None:
    run(database, [answer(1), answer(2)], ScriptedGrader())
    grader = ScriptedGrader()
    run(database, [answer(1, GOLD), answer(2)], grader)
    assert grader.graded == [("o__r-1", GOLD)]
    assert states(database) == {"o__r-1": RESOLVED, "o__r-2": UNRESOLVED}


def test_a_failing_machine_is_tried_again(database: Database) -> None:
    grader = ScriptedGrader(failures=1)
    run(database, [answer(1, GOLD), answer(2, GOLD)], grader)
    assert states(database) == {"o__r-1": RESOLVED, "o__r-2": RESOLVED}
    assert len(grader.graded) == 3


def test_a_broken_machine_is_no_verdict_and_the_next_call_tries_again(database: Database) -> None:
    with pytest.raises(IncompleteError) as error:
        run(database, [answer(1), answer(2)], ScriptedGrader(failures=99))
    assert str(error.value) == "2 answers could not be graded: The engine is gone; start it."
    assert error.value.report.retried == 2
    assert set(states(database).values()) == {BROKEN}
    found = database.evaluate.evaluations(dataset=DATASET.name, run_id="r")[0]
    assert found.detail == "The engine is gone; start it."
    run(database, [answer(1), answer(2)], ScriptedGrader())
    assert set(states(database).values()) == {UNRESOLVED}


def test_failures_in_a_row_give_it_up_and_say_what_is_left(database: Database) -> None:
    grader = ScriptedGrader(failures=99)
    with pytest.raises(IncompleteError) as error:
        run(database, gold_predictions(MANY.rows), grader, dataset=MANY)
    assert len(grader.graded) == FAILURES_IN_A_ROW
    assert error.value.exit_code == 75
    assert str(error.value) == (
        "9 answers could not be graded, 6 of them not even tried: The engine is gone; start it."
    )
    report = error.value.report
    assert (report.done, report.retried) == (0, 9)
    assert report.counts == {BROKEN: 3, UNTRIED: 6}
    assert set(states(database)) == {"o__r-1", "o__r-2", "o__r-3"}  # of the others nothing is said
    assert run(database, gold_predictions(MANY.rows), ScriptedGrader(), dataset=MANY).done == 9


def test_a_result_between_failures_renews_patience(database: Database) -> None:
    class Wavering(ScriptedGrader):
        def grade(self, task: GradingTask, *, model_patch: bytes) -> Grade:
            self._failures = int(len(self.graded) % FAILURES_IN_A_ROW != 0)
            return super().grade(task, model_patch=model_patch)

    report = run(database, gold_predictions(MANY.rows), Wavering(), dataset=MANY)
    assert report.done + report.retried == 9
    assert report.retried > 0


def test_what_failed_before_comes_last_so_that_every_call_gets_farther(database: Database) -> None:
    bad = {"o__r-1", "o__r-2", "o__r-3"}

    class Halves(ScriptedGrader):
        def grade(self, task: GradingTask, *, model_patch: bytes) -> Grade:
            self._failures = int(task.instance_id in bad)
            return super().grade(task, model_patch=model_patch)

    for _ in range(2):
        with pytest.raises(IncompleteError):
            run(database, gold_predictions(MANY.rows), Halves(), dataset=MANY)
    assert {i for i, state in states(database).items() if state is RESOLVED} == {
        row.instance_id for row in MANY.rows
    } - bad


@pytest.mark.parametrize("kind", [EnvironmentGoneError, PythonUnavailableError, UnknownRecipeError])
def test_what_concerns_one_instance_alone_gives_nothing_up(
    database: Database, kind: type[ValidatorError]
) -> None:
    class Without(ScriptedGrader):
        def grade(self, task: GradingTask, *, model_patch: bytes) -> Grade:
            if task.instance_id != "o__r-9":
                raise kind("The environment of this instance is not to be had.")
            return super().grade(task, model_patch=model_patch)

    report = run(database, gold_predictions(MANY.rows), Without(), dataset=MANY)
    assert report.counts == {BROKEN: 8, RESOLVED: 1}


def test_an_engine_that_is_too_old_is_told_at_once(database: Database) -> None:
    class Old(ScriptedGrader):
        def grade(self, task: GradingTask, *, model_patch: bytes) -> Grade:  # noqa: ARG002
            raise EngineTooOldError("It cannot limit memory.")

    with pytest.raises(EngineTooOldError):
        run(database, gold_predictions(MANY.rows), Old(), dataset=MANY)
    assert states(database) == {}


@pytest.mark.parametrize("kind", [NotFoundError, SourceUnavailableError, ConfigError])
def test_a_tree_that_cannot_be_had_keeps_no_other_instance_from_its_grade(
    database: Database, kind: type[MinerError]
) -> None:
    def gone(of: DatasetRow) -> Tree:
        if of.instance_id == "o__r-1":
            raise kind("The repository o/r is gone, away, or hidden from this token.")
        return tree(of)

    report = run(database, [answer(1, GOLD), answer(2, GOLD)], ScriptedGrader(), trees=gone)
    assert report.retried == 1
    assert states(database) == {"o__r-1": BROKEN, "o__r-2": RESOLVED}


def test_a_patch_that_trips_the_grader_keeps_no_other_from_its_grade(database: Database) -> None:
    class Tripped(ScriptedGrader):
        def grade(self, task: GradingTask, *, model_patch: bytes) -> Grade:
            if task.instance_id == "o__r-1":
                raise ValueError("cannot be read")
            return super().grade(task, model_patch=model_patch)

    run(database, [answer(1, GOLD), answer(2, GOLD)], Tripped())
    assert states(database) == {"o__r-1": BROKEN, "o__r-2": RESOLVED}
    found = database.evaluate.evaluations(dataset=DATASET.name, run_id="r")[0]
    assert found.detail == "ValueError: cannot be read"


def test_a_newer_graders_grade_is_kept_where_it_says_the_same(database: Database) -> None:
    old = run(database, [answer(1), answer(2)], ScriptedGrader())
    assert old.done == 2
    for evaluation in database.evaluate.evaluations(dataset=DATASET.name, run_id="r"):
        database.evaluate.save_evaluation(  # as an older grader left it
            evaluation, row_hash=f"new{evaluation.instance_id}", grader_version=0
        )
    newer = Dataset(
        name=DATASET.name,
        rows=tuple(replace(r, row_hash=f"new{r.instance_id}") for r in DATASET.rows),
    )
    first, second = ScriptedGrader(), ScriptedGrader()
    run(database, [answer(1), answer(2)], first, dataset=newer)
    run(database, [answer(1), answer(2)], second, dataset=newer)
    assert (len(first.graded), len(second.graded)) == (2, 0)


def test_stopped_in_the_middle_it_goes_on_where_it_was(database: Database) -> None:
    class Stopped(ScriptedGrader):
        def grade(self, task: GradingTask, *, model_patch: bytes) -> Grade:
            if task.instance_id == "o__r-2":
                raise KeyboardInterrupt
            return super().grade(task, model_patch=model_patch)

    stopped = Stopped()
    with pytest.raises(KeyboardInterrupt):
        run(database, [answer(1), answer(2)], stopped)
    assert stopped.closed
    grader = ScriptedGrader()
    run(database, [answer(1), answer(2)], grader)
    assert [instance_id for instance_id, _ in grader.graded] == ["o__r-2"]


class Losing(SerialExecutor):
    """Does the first piece of work and loses the second, as a cluster whose scheduler dies."""

    def __init__(self, end: Callable[[Future[Grade]], object]) -> None:
        self._end = end
        self._done = 0

    def submit(self, call, /, *args, **kwargs):  # type: ignore[no-untyped-def]
        """Done, then lost."""
        self._done += 1
        if self._done == 1:
            return super().submit(call, *args, **kwargs)
        future: Future[Grade] = Future()
        self._end(future)
        return future


def refused(_: Future[Grade]) -> None:
    raise BrokenExecutor("shut down")


@pytest.mark.parametrize(
    "end",
    [
        refused,
        lambda future: (future.cancel(), future.set_running_or_notify_cancel()),
        lambda future: future.set_exception(BrokenExecutor("gone")),
        lambda _: None,
    ],
    ids=["refused", "cancelled", "broken", "never ends"],
)
def test_an_executor_that_loses_its_work_is_told_and_the_next_call_goes_on(
    database: Database, end: Callable[[Future[Grade]], object]
) -> None:
    """It says nothing of the model, and never waits for ever."""
    grader = ScriptedGrader()
    with pytest.raises(RetryableError, match="lost its work"):
        run(database, [answer(1), answer(2)], grader, executor=lambda: Losing(end), result_s=0.05)
    assert grader.closed
    assert set(states(database)) == {"o__r-1"}
    again = ScriptedGrader()
    run(database, [answer(1), answer(2)], again)
    assert [instance_id for instance_id, _ in again.graded] == ["o__r-2"]


def test_what_was_verified_by_its_whole_suite_is_graded_by_it() -> None:
    assert not row(1).task(tree(row(1))).whole_suite
    assert replace(row(1), whole_suite=True).task(tree(row(1))).whole_suite
