"""What evaluation reads and leaves: miner.evaluate.stage.Store."""

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import func, select

from miner.model import Evaluation, EvaluationState
from miner.store import documents, results
from miner.store.blobs import Bundle
from miner.store.connection import Sql
from miner.store.tables import EVALUATIONS


class EvaluateStore:
    """Grades, and which of them are final."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def cached_evaluation(
        self, *, row_hash: str, patch_hash: str, grader_version: int
    ) -> Evaluation | None:
        """An earlier final grade of the same patch on the same instance row (without its run)."""
        query = (
            select(EVALUATIONS.c.document)
            .where(
                EVALUATIONS.c.row_hash == row_hash,
                EVALUATIONS.c.patch_hash == patch_hash,
                EVALUATIONS.c.grader_version == grader_version,
                EVALUATIONS.c.state != EvaluationState.INFRASTRUCTURE,
            )
            .order_by(EVALUATIONS.c.id.desc())
            .limit(1)
        )
        with self._sql.read() as connection:
            document = connection.execute(query).scalar()
        return None if document is None else documents.EVALUATION.load(document)

    def save_evaluation(
        self, evaluation: Evaluation, *, row_hash: str, grader_version: int
    ) -> None:
        """Append, with the run's log and results."""
        bundle = Bundle()
        grade = evaluation.grade
        run = grade.run if grade is not None else None
        bare = evaluation if grade is None else replace(evaluation, grade=replace(grade, run=None))
        values: dict[str, object] = {
            "dataset": evaluation.dataset,
            "run_id": evaluation.run_id,
            "instance_id": evaluation.instance_id,
            "model_name_or_path": evaluation.model_name_or_path,
            "patch_hash": evaluation.patch_hash,
            "row_hash": row_hash,
            "grader_version": grader_version,
            "state": evaluation.state.value,
            "detail": evaluation.detail,
            "document": documents.EVALUATION.dump(bare),
            "log": None if run is None else bundle.add(run.outcome.output),
            "results": None if run is None else bundle.add(results.dump(run.results)),
            "evaluated_at": evaluation.evaluated_at,
        }
        with self._sql.write() as connection:
            bundle.save(self._sql, connection)
            self._sql.add(connection, EVALUATIONS, **values)

    def evaluations(self, *, dataset: str, run_id: str | None) -> Sequence[Evaluation]:
        """The newest evaluation per instance and model of a run (None: of each run)."""
        newest = (
            select(func.max(EVALUATIONS.c.id))
            .where(EVALUATIONS.c.dataset == dataset)
            .group_by(
                EVALUATIONS.c.run_id, EVALUATIONS.c.instance_id, EVALUATIONS.c.model_name_or_path
            )
        )
        if run_id is not None:
            newest = newest.where(EVALUATIONS.c.run_id == run_id)
        query = (
            select(EVALUATIONS.c.document)
            .where(EVALUATIONS.c.id.in_(newest))
            .order_by(EVALUATIONS.c.instance_id, EVALUATIONS.c.model_name_or_path)
        )
        with self._sql.read() as connection:
            return tuple(map(documents.EVALUATION.load, connection.execute(query).scalars()))
