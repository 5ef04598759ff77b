"""What evaluation reads and leaves: miner.evaluate.books.Store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection, func, select

from miner.model import Evaluation, EvaluationState
from miner.store import blobs, documents, results
from miner.store.blobs import Bundle
from miner.store.connection import Sql, anew
from miner.store.tables import EVALUATIONS
from validators.model import TestResult


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRun:
    """The run behind a grade: its log, the log's sha256, and what became of each test."""

    log: bytes
    log_hash: str
    results: Mapping[str, TestResult]


class EvaluateStore:
    """Grades, and which of them are final."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    @anew
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

        def save(connection: Connection) -> None:
            bundle.save(self._sql, connection)
            self._sql.add(connection, EVALUATIONS, **values)

        self._sql.persist(save)

    @anew
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

    @anew
    def of_instance(self, instance_id: str) -> Sequence[Evaluation]:
        """The newest evaluation of an instance per dataset, run and model; the oldest first."""
        newest = (
            select(func.max(EVALUATIONS.c.id))
            .where(EVALUATIONS.c.instance_id == instance_id)
            .group_by(EVALUATIONS.c.dataset, EVALUATIONS.c.run_id, EVALUATIONS.c.model_name_or_path)
        )
        query = (
            select(EVALUATIONS.c.document)
            .where(EVALUATIONS.c.id.in_(newest))
            .order_by(EVALUATIONS.c.id)
        )
        with self._sql.read() as connection:
            return tuple(map(documents.EVALUATION.load, connection.execute(query).scalars()))

    @anew
    def kept_run(self, evaluation: Evaluation) -> KeptRun | None:
        """The run that the newest grade of this evaluation rests on; None when nothing was run.

        A grade that was reused holds no run of its own: the one it was taken from does.
        """
        table = EVALUATIONS.c
        graded = (
            select(table.id, table.row_hash, table.patch_hash, table.grader_version)
            .where(
                table.dataset == evaluation.dataset,
                table.run_id == evaluation.run_id,
                table.instance_id == evaluation.instance_id,
                table.model_name_or_path == evaluation.model_name_or_path,
            )
            .order_by(table.id.desc())
            .limit(1)
        )
        with self._sql.read() as connection:
            found = connection.execute(graded).one_or_none()
            if found is None or evaluation.grade is None:
                return None
            query = (
                select(table.log, table.results)
                .where(
                    table.row_hash == found.row_hash,
                    table.patch_hash == found.patch_hash,
                    table.grader_version == found.grader_version,
                    table.id <= found.id,
                    table.log.is_not(None),
                )
                .order_by(table.id.desc())
                .limit(1)
            )
            run = connection.execute(query).one_or_none()
            if run is None:
                return None
            contents = blobs.read(connection, (run.log, run.results))
        return KeptRun(
            log=contents[run.log], log_hash=run.log, results=results.load(contents[run.results])
        )
