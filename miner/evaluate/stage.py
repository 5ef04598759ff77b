"""Evaluate: predictions and a dataset → graded evaluations and % resolved."""

from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import product

from miner.errors import told
from miner.evaluate.books import Books, Store
from miner.evaluate.dataset import Dataset, DatasetRow, patch_hash
from miner.evaluate.hands import Answer, Hands, graded
from miner.model import Clock, EvaluationState, IncompleteError, Prediction, Stage, StageReport
from miner.patience import Patience
from miner.progress import Progress
from validators.grading import nothing_passed
from validators.model import Flaw, Grade
from validators.plural import counted

UNTRIED = "not_tried"
"""In a report's counts: answers that were not come to, as the machinery was given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """Predictions of one or more models, graded under one run id."""

    run_id: str
    predictions: tuple[Prediction, ...]

    @property
    def models(self) -> tuple[str, ...]:
        """Their names, sorted."""
        return tuple(sorted({each.model_name_or_path for each in self.predictions}))


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
    What the machine failed on in an earlier call comes last, so that it keeps nothing else waiting.
    Results are read back by `store.evaluations`. IncompleteError when the machinery failed too
    often in a row: what was never tried has no evaluation then. EngineTooOldError is passed on.
    """
    books = Books(
        store=store, dataset=dataset, run_id=submission.run_id, now=now, progress=progress
    )
    patience, started_at = Patience(), now()
    progress.start("evaluate", total=len(submission.models) * len(dataset.rows))
    try:
        same = _to_run(books, dataset, submission)
        firsts = sorted((first for first, *_ in same.values()), key=partial(_failed_before, books))
        with closing(graded(firsts, hands, patience)) as grades:
            for answer, result in grades:
                for each in same.pop(answer.key):
                    _save(books, each, result)
    finally:
        progress.end("evaluate")
    untried = sum(map(len, same.values()))
    report = _report(books.counts, untried, started_at=started_at, ended_at=now())
    if patience.given_up is not None:
        found = f"{counted(report.retried, 'answer')} could not be graded"
        found += f", {untried} of them not even tried" if untried else ""
        raise IncompleteError(f"{found}: {patience.given_up}", report=report)
    return report


def _to_run(
    books: Books, dataset: Dataset, submission: Submission
) -> dict[tuple[str, str], list[Answer]]:
    """What must be run, by `Answer.key`; grades that are known without a run are in the books."""
    answers = {(p.model_name_or_path, p.instance_id): p for p in submission.predictions}
    same: dict[tuple[str, str], list[Answer]] = {}
    for row, model in product(dataset.rows, submission.models):
        answer = _unknown(books, row, model, answers.get((model, row.instance_id)))
        if answer is not None:
            same.setdefault(answer.key, []).append(answer)
    return same


def _report(
    counts: Counter[str], untried: int, *, started_at: datetime, ended_at: datetime
) -> StageReport:
    told = counts + Counter({UNTRIED: untried})
    retried = counts[EvaluationState.INFRASTRUCTURE] + untried
    return StageReport(
        stage=Stage.EVALUATE,
        done=told.total() - retried,
        retried=retried,
        counts=dict(told),
        started_at=started_at,
        ended_at=ended_at,
    )


def _failed_before(books: Books, answer: Answer) -> bool:
    model = answer.prediction.model_name_or_path
    return books.failed_before(answer.row, model, patch_hash=answer.patch_hash)


def _unknown(books: Books, row: DatasetRow, model: str, found: Prediction | None) -> Answer | None:
    """What must be run; None when the grade is known without a run, and now in the books."""
    if found is None:
        books.keep(row, model, patch_hash="", grade=_untried(row, Flaw.MISSING_PREDICTION))
        return None
    hashed = patch_hash(found.model_patch)
    known = books.known(row, patch_hash=hashed)
    if known is not None:
        books.keep(row, model, patch_hash=hashed, grade=known.grade, detail=known.detail)
        return None
    if not found.model_patch.strip():
        books.keep(row, model, patch_hash=hashed, grade=_untried(row, Flaw.EMPTY_PATCH))
        return None
    return Answer(row=row, prediction=found, patch_hash=hashed)


def _save(books: Books, answer: Answer, result: Grade | Exception) -> None:
    model, hashed = answer.prediction.model_name_or_path, answer.patch_hash
    if isinstance(result, Grade):
        books.add(answer.row, model, patch_hash=hashed, grade=result)
    else:
        books.keep(answer.row, model, patch_hash=hashed, grade=None, detail=told(result))


def _untried(row: DatasetRow, flaw: Flaw) -> Grade:
    """No answer, no run."""
    return nothing_passed(row.fail_to_pass, row.pass_to_pass, flaw=flaw)
