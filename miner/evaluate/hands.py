"""Who grades: answers through the executor, as they come, and once more when a machine fails."""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass, replace
from typing import Protocol

from miner.errors import BadItemError, ConfigError, RetryableError, told
from miner.evaluate.dataset import DatasetRow
from miner.model import Prediction
from miner.patience import Patience
from miner.pending import Pending
from validators.errors import EngineTooOldError
from validators.model import Grade, GradingTask, Tree

ATTEMPTS = 2
"""Tries of one grade when the machine fails, before it is reported as infrastructure."""

RESULT_S = 6 * 3600
"""The longest a grade may take before its executor is taken for lost: a first environment too."""


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
class Answer:
    """A prediction that must be run, with its row, and how its tries so far failed."""

    row: DatasetRow
    prediction: Prediction
    patch_hash: str
    failures: tuple[Exception, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """Equal for answers that have one grade."""
        return self.row.row_hash, self.patch_hash


def graded(
    answers: Sequence[Answer], hands: Hands, patience: Patience
) -> Generator[tuple[Answer, Grade | Exception], None, None]:
    """Grades as they come; a machine's failure is tried again, then handed out. Close it to stop.

    So is a tree that cannot be had: the other instances are graded all the same. Given up, nothing
    more is begun: of what was never tried nothing is handed out.
    """
    waiting, running = deque(answers), Pending[Answer, Grade](within_s=hands.result_s)
    try:
        while running or (waiting and patience.given_up is None):
            while waiting and len(running) < hands.in_flight and patience.given_up is None:
                answer = waiting.popleft()
                running.add(answer, _begun(answer, hands))
            for answer, future in running.come():
                result = _outcome(future)
                again = _again(answer, result, patience)
                if again is None:
                    yield answer, result
                else:
                    waiting.append(again)
        yield from ((answer, answer.failures[-1]) for answer in waiting if answer.failures)
    except BaseException:
        running.cancel()
        hands.grader.close()  # Ctrl-C: nothing of ours runs on
        raise


def _again(answer: Answer, result: Grade | Exception, patience: Patience) -> Answer | None:
    """The answer to be tried once more; None when the result is the last word."""
    if isinstance(result, Grade):
        patience.renew()
        return None
    patience.failed(result)
    failed = replace(answer, failures=(*answer.failures, result))
    return failed if len(failed.failures) < ATTEMPTS else None


def _lost(error: BaseException) -> RetryableError:
    return RetryableError(
        f"The executor lost its work ({told(error)}); start it again. Grades that were made are "
        "stored, and the same command goes on."
    )


def _begun(answer: Answer, hands: Hands) -> Future[Grade]:
    """The grade to come; of a tree that cannot be had the failure, already there."""
    try:
        task = answer.row.task(hands.tree(answer.row))
    except (BadItemError, RetryableError, ConfigError) as error:
        failed = Future[Grade]()
        failed.set_exception(error)
        return failed
    try:
        return hands.executor.submit(_grade, hands.grader, task, answer.prediction.model_patch)
    except BrokenExecutor as error:
        raise _lost(error) from error


def _outcome(future: Future[Grade]) -> Grade | Exception:
    """The grade, or what kept it from being made: no one patch ends the grading of the others.

    RetryableError when the executor, not the grading, failed; EngineTooOldError is passed on.
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
        case EngineTooOldError():
            raise error
        case Exception():
            return error
        case _:
            raise error


def _grade(grader: Grader, task: GradingTask, model_patch: bytes) -> Grade:
    """What crosses to a worker."""
    return grader.grade(task, model_patch=model_patch)
