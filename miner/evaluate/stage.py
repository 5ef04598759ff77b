"""Evaluate: predictions and a dataset → graded evaluations and % resolved."""

from contextlib import closing
from dataclasses import dataclass

from miner.errors import told
from miner.evaluate.books import Books, Store
from miner.evaluate.dataset import Dataset, DatasetRow, patch_hash
from miner.evaluate.hands import Answer, Hands, graded
from miner.model import Clock, EvaluationState, Prediction, Stage, StageReport
from miner.progress import Progress
from validators.grading import nothing_passed
from validators.model import Flaw, Grade


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """Predictions of one or more models, graded under one run id."""

    run_id: str
    predictions: tuple[Prediction, ...]


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
    books = Books(
        store=store, dataset=dataset, run_id=submission.run_id, now=now, progress=progress
    )
    answers = {(p.model_name_or_path, p.instance_id): p for p in submission.predictions}
    models = sorted({model for model, _ in answers})
    progress.start("evaluate", total=len(models) * len(dataset.rows))
    started_at = now()
    try:
        same: dict[tuple[str, str], list[Answer]] = {}
        for row in dataset.rows:
            for model in models:
                answer = _to_run(books, row, model, answers.get((model, row.instance_id)))
                if answer is not None:
                    same.setdefault((row.row_hash, answer.patch_hash), []).append(answer)
        with closing(graded([first for first, *_ in same.values()], hands)) as grades:
            for answer, result in grades:
                for each in same[answer.row.row_hash, answer.patch_hash]:
                    _save(books, each, result)
    finally:
        progress.end("evaluate")
    return StageReport(
        stage=Stage.EVALUATE,
        done=books.counts.total() - books.counts[EvaluationState.INFRASTRUCTURE],
        retried=books.counts[EvaluationState.INFRASTRUCTURE],
        counts=dict(books.counts),
        started_at=started_at,
        ended_at=now(),
    )


def _to_run(books: Books, row: DatasetRow, model: str, found: Prediction | None) -> Answer | None:
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
