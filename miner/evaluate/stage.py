"""Evaluate: predictions and a dataset → graded evaluations and % resolved."""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Protocol

from miner.errors import BadItemError, ConfigError, RetryableError, told
from miner.evaluate.dataset import Dataset, DatasetRow, patch_hash
from miner.model import Clock, Evaluation, EvaluationState, Prediction, Stage, StageReport
from miner.progress import Progress
from validators.evaluation import GRADER_VERSION
from validators.model import Flaw, Grade, GradingTask, Tally, Tree

ATTEMPTS = 2
"""Tries of one grade when the machine fails, before it is reported as infrastructure."""

RESULT_S = 6 * 3600
"""The longest a grade may take before its executor is taken for lost: a first environment too."""


class Store(Protocol):
    """What evaluation reads and leaves."""

    def cached_evaluation(
        self, *, row_hash: str, patch_hash: str, grader_version: int
    ) -> Evaluation | None:
        """An earlier final grade of the same patch on the same instance row."""
        ...

    def save_evaluation(
        self, evaluation: Evaluation, *, row_hash: str, grader_version: int
    ) -> None:
        """Append, with the run's log."""
        ...

    def evaluations(self, *, dataset: str, run_id: str | None) -> Sequence[Evaluation]:
        """The newest evaluation per instance and model of a run, or (None) of every run."""
        ...


class Grader(Protocol):
    """Grades one patch; `validators.Workshop` does. It crosses process borders: picklable."""

    def grade(self, task: GradingTask, *, model_patch: bytes) -> Grade:
        """Raises ValidatorError when the machine, not the patch, failed."""
        ...

    def close(self) -> None:
        """Remove this process's containers; calls under way end at once."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Hands:
    """Who does the work, where trees come from, and how many grades are under way at a time."""

    executor: Executor
    grader: Grader
    tree: Callable[[DatasetRow], Tree]
    in_flight: int = 2
    result_s: float = RESULT_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """Predictions of one or more models, graded under one run id."""

    run_id: str
    predictions: tuple[Prediction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    row: DatasetRow
    prediction: Prediction
    patch_hash: str
    attempt: int = field(default=1)


def evaluate(
    store: Store,
    *,
    dataset: Dataset,
    submission: Submission,
    hands: Hands,
    now: Clock,
    progress: Progress,
) -> StageReport:
    """Grade every row for every model of the submission; each grade is stored as it comes.

    What is graded already (same row, patch and grader version) is not run again, so a stopped
    evaluation goes on where it was; a patch that several models gave is run once for all of them.
    Results are read back by `store.evaluations`.
    """
    desk = _Desk(store=store, dataset=dataset, run_id=submission.run_id, now=now, progress=progress)
    answers = {(p.model_name_or_path, p.instance_id): p for p in submission.predictions}
    models = sorted({model for model, _ in answers})
    progress.start("evaluate", total=len(models) * len(dataset.rows))
    started_at = now()
    try:
        same: dict[tuple[str, str], list[_Answer]] = {}
        for row in dataset.rows:
            for model in models:
                found = desk.settled(row, model, answers.get((model, row.instance_id)))
                if found is not None:
                    hashed = patch_hash(found.model_patch)
                    answer = _Answer(row=row, prediction=found, patch_hash=hashed)
                    same.setdefault((row.row_hash, hashed), []).append(answer)
        for answer, result in _graded([first for first, *_ in same.values()], hands):
            for each in same[answer.row.row_hash, answer.patch_hash]:
                desk.save(each, result)
    finally:
        progress.end("evaluate")
    return StageReport(
        stage=Stage.EVALUATE,
        done=desk.counts.total() - desk.counts[EvaluationState.INFRASTRUCTURE],
        retried=desk.counts[EvaluationState.INFRASTRUCTURE],
        counts=dict(desk.counts),
        started_at=started_at,
        ended_at=now(),
    )


def _graded(
    answers: Sequence[_Answer], hands: Hands
) -> Iterator[tuple[_Answer, Grade | Exception]]:
    """Grades as they come; a machine's failure is tried again, then handed out.

    So is a tree that cannot be had: the other instances are graded all the same.
    """
    waiting, running = deque(answers), dict[Future[Grade], tuple[_Answer, float]]()
    try:
        while waiting or running:
            while waiting and len(running) < hands.in_flight:
                answer = waiting.popleft()
                running[_begun(answer, hands)] = answer, monotonic() + hands.result_s
            for future in _done(running, hands.result_s):
                answer, _ = running.pop(future)
                result = _outcome(future)
                if isinstance(result, Grade) or answer.attempt >= ATTEMPTS:
                    yield answer, result
                else:
                    waiting.append(replace(answer, attempt=answer.attempt + 1))
    except BaseException:
        for future in running:
            future.cancel()
        hands.grader.close()  # Ctrl-C: nothing of ours runs on
        raise


def _done(
    running: Mapping[Future[Grade], tuple[_Answer, float]], result_s: float
) -> Set[Future[Grade]]:
    """The next grades that are made; RetryableError when one is not within its time."""
    nearest = min(deadline for _, deadline in running.values())
    done, _ = wait(running, timeout=max(nearest - monotonic(), 0), return_when=FIRST_COMPLETED)
    if not done:
        raise _lost(TimeoutError(f"no result within {result_s:.0f} s"))
    return done


def _lost(error: BaseException) -> RetryableError:
    return RetryableError(
        f"The executor lost its work ({told(error)}); start it again. Grades that were made are "
        "stored, and the same command goes on."
    )


def _begun(answer: _Answer, hands: Hands) -> Future[Grade]:
    """The grade to come; of a tree that cannot be had the failure, already there."""
    try:
        task = answer.row.task(hands.tree(answer.row))
    except (BadItemError, RetryableError, ConfigError) as error:
        # ConfigError: hosts say of what is gone or hidden that the token is refused
        failed = Future[Grade]()
        failed.set_exception(error)
        return failed
    try:
        return hands.executor.submit(_grade, hands.grader, task, answer.prediction.model_patch)
    except BrokenExecutor as error:
        raise _lost(error) from error


def _outcome(future: Future[Grade]) -> Grade | Exception:
    """The grade, or what kept it from being made: no patch may end the grading of the others.

    RetryableError when the executor, not the grading, failed.
    """
    try:
        error = future.exception()
    except CancelledError as cancelled:
        raise _lost(cancelled) from cancelled
    match error:
        case None:
            return future.result()
        case BrokenExecutor():
            raise _lost(error) from error
        case Exception():
            return error
        case _:
            raise error


def _grade(grader: Grader, task: GradingTask, model_patch: bytes) -> Grade:
    """What crosses to a worker."""
    return grader.grade(task, model_patch=model_patch)


class _Desk:
    """Keeps the books of one call: what is settled without a run, what was saved."""

    def __init__(
        self, *, store: Store, dataset: Dataset, run_id: str, now: Clock, progress: Progress
    ) -> None:
        self._store, self._now, self._progress = store, now, progress
        self._dataset, self._run_id = dataset.name, run_id
        self.counts = Counter[str]()
        self._stored = {
            (old.model_name_or_path, old.instance_id): old
            for old in store.evaluations(dataset=dataset.name, run_id=run_id)
        }

    def settled(self, row: DatasetRow, model: str, found: Prediction | None) -> Prediction | None:
        """The prediction when it must be run; None when its grade is known, and now stored."""
        if found is None:
            grade = _untried(row, Flaw.MISSING_PREDICTION)
            self._keep(row, self._evaluation(row, model, patch="", grade=grade))
            return None
        hashed = patch_hash(found.model_patch)
        cached = self._store.cached_evaluation(
            row_hash=row.row_hash, patch_hash=hashed, grader_version=GRADER_VERSION
        )
        if cached is not None:
            known = self._evaluation(
                row, model, patch=hashed, grade=cached.grade, detail=cached.detail
            )
            self._keep(row, known)
            return None
        if not found.model_patch.strip():
            grade = _untried(row, Flaw.EMPTY_PATCH)
            self._keep(row, self._evaluation(row, model, patch=hashed, grade=grade))
            return None
        return found

    def save(self, answer: _Answer, result: Grade | Exception) -> None:
        """Store what came of a run: every grade, since a newer grader's is not the older one's."""
        model, hashed = answer.prediction.model_name_or_path, answer.patch_hash
        if isinstance(result, Grade):
            graded = self._evaluation(
                answer.row, model, patch=hashed, grade=result, detail=result.detail
            )
            self._append(answer.row, graded)
        else:
            failed = self._evaluation(
                answer.row, model, patch=hashed, grade=None, detail=told(result)
            )
            self._keep(answer.row, failed)

    def _evaluation(
        self, row: DatasetRow, model: str, *, patch: str, grade: Grade | None, detail: str = ""
    ) -> Evaluation:
        return Evaluation(
            dataset=self._dataset,
            run_id=self._run_id,
            instance_id=row.instance_id,
            model_name_or_path=model,
            patch_hash=patch,
            state=_state(grade),
            grade=grade,
            detail=detail,
            evaluated_at=self._now(),
        )

    def _keep(self, row: DatasetRow, new: Evaluation) -> None:
        """Append, unless the newest of this run says the same already."""
        old = self._stored.get((new.model_name_or_path, new.instance_id))
        if old is None or (old.patch_hash, old.state) != (new.patch_hash, new.state):
            self._append(row, new)
        else:
            self._tell(new)

    def _append(self, row: DatasetRow, new: Evaluation) -> None:
        self._store.save_evaluation(new, row_hash=row.row_hash, grader_version=GRADER_VERSION)
        self._tell(new)

    def _tell(self, new: Evaluation) -> None:
        self.counts[new.state] += 1
        self._progress.advance("evaluate", f"{new.instance_id}: {new.state}")


def _state(grade: Grade | None) -> EvaluationState:
    if grade is None:
        return EvaluationState.INFRASTRUCTURE
    return EvaluationState.RESOLVED if grade.resolved else EvaluationState.UNRESOLVED


def _untried(row: DatasetRow, flaw: Flaw) -> Grade:
    """No answer, no run: nothing passed."""
    return Grade(
        resolved=False,
        applied=False,
        fail_to_pass=Tally(passed=0, failed=len(row.fail_to_pass)),
        pass_to_pass=Tally(passed=0, failed=len(row.pass_to_pass)),
        flaw=flaw,
    )
