"""Everything stored about one instance id: for `miner show`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from sqlalchemy import Connection, Row, Select, String, case, func, select

from miner.model import Candidate, Rejection, Stage
from miner.store import blobs, documents, results
from miner.store.connection import Sql, anew
from miner.store.examinations import INSTANCE
from miner.store.newest import current_splits, newest_examination, repo_ids
from miner.store.publish import current_instances
from miner.store.tables import (
    ATTEMPTS,
    CANDIDATES,
    EXAMINATIONS,
    LEASES,
    REJECTIONS,
    RUNS,
    SIGNALS,
)
from validators.model import Attempt, Examination, Flaw, Outcome, Phase, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredExamination:
    """An examination as stored, with the logs and results of all its runs."""

    version: int
    policy: str
    outcome: str  # "instance", or the flaw that said no
    examined_at: datetime
    examination: Examination


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of an instance id. Newest first throughout; `failures` are the machinery's."""

    instance_id: str
    is_instance: bool = False  # accepted now
    candidate: Candidate | None = None
    rejections: tuple[Rejection, ...] = ()
    examinations: tuple[StoredExamination, ...] = ()
    signals: Mapping[str, str] = field(default_factory=dict)
    failures: tuple[tuple[datetime, str], ...] = ()


@anew
def evidence(sql: Sql, instance_id: str) -> Evidence | None:
    """All of it; None when the id is unknown."""
    with sql.read() as connection:
        found = Evidence(
            instance_id=instance_id,
            is_instance=_is_instance(connection, instance_id),
            candidate=_candidate(connection, instance_id),
            rejections=_rejections(connection, instance_id),
            examinations=_examinations(connection, instance_id),
            signals=_signals(connection, instance_id),
            failures=_failures(connection, instance_id),
        )
    return found if found.candidate is not None or found.rejections else None


@anew
def worst_candidate(sql: Sql, repo: str) -> str | None:
    """Of a repository's candidates the one whose recipe needs a hand the most; None without any.

    One in whose environment no test was seen, else one that waits, else one that was turned down
    otherwise, else an instance; of several the one merged last.
    """
    split = current_splits()
    turn = case(
        (EXAMINATIONS.c.outcome.in_([Flaw.BUILD_FAILED, Flaw.NO_TESTS_SEEN]), 0),
        (EXAMINATIONS.c.outcome.is_(None), 1),
        (EXAMINATIONS.c.outcome != INSTANCE, 2),
        else_=3,
    )
    query = (
        select(CANDIDATES.c.instance_id)
        .join(split, split.c.split_id == CANDIDATES.c.split_id)
        .outerjoin(EXAMINATIONS, EXAMINATIONS.c.id == newest_examination())
        .where(split.c.repo_id.in_(repo_ids(repo)))
        .order_by(turn, CANDIDATES.c.merged_at.desc(), CANDIDATES.c.id.desc())
        .limit(1)
    )
    with sql.read() as connection:
        return connection.execute(query).scalar()


def _is_instance(connection: Connection, instance_id: str) -> bool:
    query = current_instances().where(CANDIDATES.c.instance_id == instance_id)
    return connection.execute(query).first() is not None


def _candidate(connection: Connection, instance_id: str) -> Candidate | None:
    query = (
        select(CANDIDATES.c.document, CANDIDATES.c.patch, CANDIDATES.c.test_patch)
        .where(CANDIDATES.c.instance_id == instance_id)
        .order_by(CANDIDATES.c.id.desc())
        .limit(1)
    )
    row = connection.execute(query).first()
    if row is None:
        return None
    patches = blobs.read(connection, (row.patch, row.test_patch))
    return replace(
        documents.CANDIDATE.load(row.document),
        patch=patches[row.patch],
        test_patch=patches[row.test_patch],
    )


def _rejections(connection: Connection, instance_id: str) -> tuple[Rejection, ...]:
    spelt = func.replace(REJECTIONS.c.repo, "/", "__").concat("-")
    spelt = spelt.concat(REJECTIONS.c.pull_number.cast(String))
    query = (
        select(REJECTIONS)
        .where(func.lower(spelt) == instance_id.lower())
        .order_by(REJECTIONS.c.id.desc())
    )
    return tuple(
        Rejection(
            repo=row.repo,
            pull_number=row.pull_number,
            stage=Stage(row.stage),
            gate=row.gate,
            detail=row.detail,
            made_at=row.rejected_at,
        )
        for row in connection.execute(query)
    )


def _examinations(connection: Connection, instance_id: str) -> tuple[StoredExamination, ...]:
    digests = select(CANDIDATES.c.task_digest).where(CANDIDATES.c.instance_id == instance_id)
    query = (
        select(EXAMINATIONS)
        .where(EXAMINATIONS.c.task_digest.in_(digests))
        .order_by(EXAMINATIONS.c.id.desc())
    )
    return tuple(
        StoredExamination(
            version=row.version,
            policy=row.policy,
            outcome=row.outcome,
            examined_at=row.examined_at,
            examination=_examination(connection, instance_id, row),
        )
        for row in connection.execute(query).all()
    )


def _examination(
    connection: Connection, instance_id: str, row: Row[*tuple[object, ...]]
) -> Examination:
    query = select(ATTEMPTS).where(ATTEMPTS.c.examination_id == row.id).order_by(ATTEMPTS.c.number)
    attempts = tuple(_attempt(connection, attempt) for attempt in connection.execute(query).all())
    verdict = documents.VERDICT.load(row.verdict)
    last = attempts[-1].verdict if attempts else None
    runs = last.runs if last is not None else ()
    return Examination(
        instance_id=instance_id, attempts=attempts, verdict=replace(verdict, runs=runs)
    )


def _attempt(connection: Connection, row: Row[*tuple[object, ...]]) -> Attempt:
    query = select(RUNS).where(RUNS.c.attempt_id == row.id).order_by(RUNS.c.id)
    runs = tuple(_run(connection, run) for run in connection.execute(query).all())
    failure = None
    if row.failure is not None:
        log = blobs.read(connection, (row.log,))[row.log]
        failure = documents.FAILURE.load(row.failure)
        failure = replace(failure, outcome=replace(failure.outcome, output=log))
    return Attempt(
        recipe=documents.RECIPE.load(row.recipe),
        environment=(
            None if row.environment is None else documents.ENVIRONMENT.load(row.environment)
        ),
        failure=failure,
        verdict=(
            None if row.verdict is None else replace(documents.VERDICT.load(row.verdict), runs=runs)
        ),
        started_at=row.started_at,
        ended_at=row.ended_at,
    )


def _run(connection: Connection, row: Row[*tuple[object, ...]]) -> Run:
    contents = blobs.read(connection, (row.log, row.results))
    return Run(
        phase=Phase(row.phase),
        attempt=row.repeat,
        results=results.load(contents[row.results]),
        outcome=Outcome(
            exit_code=row.exit_code,
            output=contents[row.log],
            truncated=row.truncated,
            timed_out=row.timed_out,
            duration_s=row.duration_s,
            out_of_memory=row.out_of_memory,
        ),
        image_digest=row.image_digest,
        started_at=row.started_at,
        variant=row.variant,
        flaw=None if row.flaw is None else Flaw(row.flaw),
        detail=row.detail,
    )


def _signals(connection: Connection, instance_id: str) -> Mapping[str, str]:
    query: Select[str, str] = (
        select(SIGNALS.c.name, SIGNALS.c.value)
        .join(CANDIDATES, CANDIDATES.c.id == SIGNALS.c.candidate_id)
        .where(
            SIGNALS.c.instance_id == instance_id,
            SIGNALS.c.examination_id == newest_examination(),
        )
        .order_by(SIGNALS.c.name, SIGNALS.c.version, SIGNALS.c.id)
    )
    return {row.name: row.value for row in connection.execute(query)}


def _failures(connection: Connection, instance_id: str) -> tuple[tuple[datetime, str], ...]:
    query = (
        select(LEASES.c.ended_at, LEASES.c.error)
        .join(CANDIDATES, CANDIDATES.c.id == LEASES.c.candidate_id)
        .where(CANDIDATES.c.instance_id == instance_id, LEASES.c.error.is_not(None))
        .order_by(LEASES.c.id.desc())
    )
    return tuple((row.ended_at, row.error) for row in connection.execute(query))
