"""The books of one evaluation: grades become rows, each stored, counted and told as it comes."""

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from miner.evaluate.dataset import Dataset, DatasetRow
from miner.model import Clock, Evaluation, EvaluationState
from miner.progress import Progress
from validators.evaluation import GRADER_VERSION
from validators.model import Grade


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


class Books:
    """What one run holds already, and what is added to it. `counts` tells rows by state."""

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

    def failed_before(self, row: DatasetRow, model: str, *, patch_hash: str) -> bool:
        """The machine failed when this run came to this patch the last time."""
        old = self._stored.get((model, row.instance_id))
        return (
            old is not None
            and old.patch_hash == patch_hash
            and old.state is EvaluationState.INFRASTRUCTURE
        )

    def known(self, row: DatasetRow, *, patch_hash: str) -> Evaluation | None:
        """An earlier final grade of this patch, from whatever run."""
        return self._store.cached_evaluation(
            row_hash=row.row_hash, patch_hash=patch_hash, grader_version=GRADER_VERSION
        )

    def keep(
        self,
        row: DatasetRow,
        model: str,
        *,
        patch_hash: str,
        grade: Grade | None,
        detail: str = "",
    ) -> None:
        """Append, unless the newest of this run says the same. No grade: the machine failed."""
        new = self._evaluation(row, model, patch_hash=patch_hash, grade=grade, detail=detail)
        old = self._stored.get((model, row.instance_id))
        if old is None or (old.patch_hash, old.state) != (new.patch_hash, new.state):
            self._append(row, new)
        else:
            self._tell(new)

    def add(self, row: DatasetRow, model: str, *, patch_hash: str, grade: Grade) -> None:
        """Append what was run, always: a newer grader's grade is not the older one's."""
        self._append(
            row,
            self._evaluation(row, model, patch_hash=patch_hash, grade=grade, detail=grade.detail),
        )

    def _evaluation(
        self, row: DatasetRow, model: str, *, patch_hash: str, grade: Grade | None, detail: str
    ) -> Evaluation:
        return Evaluation(
            dataset=self._dataset,
            run_id=self._run_id,
            instance_id=row.instance_id,
            model_name_or_path=model,
            patch_hash=patch_hash,
            state=_state(grade),
            grade=grade,
            detail=detail,
            evaluated_at=self._now(),
        )

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
