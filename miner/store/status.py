"""What goes on and what needs a person: for `miner status`."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, exists, func, select

from miner.store.connection import Sql, anew
from miner.store.leases import MAX_ATTEMPTS, VERIFY
from miner.store.tables import (
    CANDIDATES,
    EXAMINATIONS,
    FAILURES,
    LEASES,
    PULLS,
    REPOS,
    REQUESTS,
    SNAPSHOTS,
)

FAILURES_TOLD = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A live lease. `subject`: an instance id, "pass" or "scheduler"."""

    kind: str
    subject: str
    holder: str
    claimed_at: datetime
    lease_until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Parked:
    """A task whose machinery failed too often; a request or a new recipe makes it due again."""

    instance_id: str
    failures: int
    last_error: str
    policy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Counts, live work, and what is parked. Newest first."""

    repos: int
    pulls: int
    snapshots: int
    open_requests: int
    work: tuple[Work, ...]
    parked: tuple[Parked, ...]
    failures: tuple[tuple[datetime, str, str], ...]  # (when, subject, error): the last twenty


@anew
def status(sql: Sql) -> Status:
    """As of now."""
    with sql.read() as connection:
        return Status(
            repos=_rows(connection, REPOS.c.id),
            pulls=_rows(connection, PULLS.c.id),
            snapshots=_rows(connection, SNAPSHOTS.c.id),
            open_requests=_open_requests(connection),
            work=_work(connection),
            parked=_parked(connection),
            failures=_failures(connection),
        )


def _rows(connection: Connection, column: ColumnElement[int]) -> int:
    return int(connection.execute(select(func.count(column))).scalar_one())


def _open_requests(connection: Connection) -> int:
    # the answer to a newer request of the same instance answers this one too
    answered = exists(
        select(EXAMINATIONS.c.id)
        .join(CANDIDATES, CANDIDATES.c.id == EXAMINATIONS.c.candidate_id)
        .where(
            CANDIDATES.c.instance_id == REQUESTS.c.subject,
            EXAMINATIONS.c.request_id >= REQUESTS.c.id,
        )
        .correlate(REQUESTS)
    )
    query = select(func.count(REQUESTS.c.id)).where(REQUESTS.c.kind == VERIFY, ~answered)
    return int(connection.execute(query).scalar_one())


def _work(connection: Connection) -> tuple[Work, ...]:
    query = (
        select(LEASES, CANDIDATES.c.instance_id)
        .outerjoin(CANDIDATES, CANDIDATES.c.id == LEASES.c.candidate_id)
        .where(LEASES.c.ended_at.is_(None))
        .order_by(LEASES.c.id.desc())
    )
    return tuple(
        Work(
            kind=row.kind,
            subject=row.instance_id or row.subject,
            holder=row.holder,
            claimed_at=row.claimed_at,
            lease_until=row.lease_until,
        )
        for row in connection.execute(query)
    )


def _parked(connection: Connection) -> tuple[Parked, ...]:
    inputs = ("version", "policy", "recipe_id", "request_id")
    answered = exists().where(
        EXAMINATIONS.c.task_digest == LEASES.c.subject,
        *(EXAMINATIONS.c[name] == LEASES.c[name] for name in inputs),
    )
    # a newer claim of the same task under newer inputs means that it is no longer parked
    later = LEASES.alias("later")
    superseded = exists().where(
        later.c.kind == VERIFY,
        later.c.subject == LEASES.c.subject,
        later.c.policy == LEASES.c.policy,
        later.c.id > LEASES.c.id,
        ~and_(*(later.c[name] == LEASES.c[name] for name in inputs)),
    )
    failed = func.count(LEASES.c.id)
    groups = (
        select(failed.label("failures"), func.max(LEASES.c.id).label("last"))
        .where(LEASES.c.kind == VERIFY, LEASES.c.error.is_not(None), ~answered, ~superseded)
        .group_by(LEASES.c.subject, *(LEASES.c[name] for name in inputs))
        .having(failed >= MAX_ATTEMPTS)
        .subquery()
    )
    query = (
        select(groups.c.failures, LEASES.c.error, LEASES.c.policy, CANDIDATES.c.instance_id)
        .join(LEASES, LEASES.c.id == groups.c.last)
        .join(CANDIDATES, CANDIDATES.c.id == LEASES.c.candidate_id)
        .order_by(LEASES.c.id.desc())
    )
    return tuple(
        Parked(
            instance_id=row.instance_id,
            failures=row.failures,
            last_error=row.error,
            policy=row.policy,
        )
        for row in connection.execute(query)
    )


def _failures(connection: Connection) -> tuple[tuple[datetime, str, str], ...]:
    """What failed in crawls, and what ended a lease without a result."""
    crawls = select(FAILURES).order_by(FAILURES.c.id.desc()).limit(FAILURES_TOLD)
    leases = (
        select(LEASES.c.ended_at, LEASES.c.kind, LEASES.c.error, CANDIDATES.c.instance_id)
        .outerjoin(CANDIDATES, CANDIDATES.c.id == LEASES.c.candidate_id)
        .where(LEASES.c.error.is_not(None), LEASES.c.ended_at.is_not(None))
        .order_by(LEASES.c.id.desc())
        .limit(FAILURES_TOLD)
    )
    found = [(row.failed_at, row.subject, row.error) for row in connection.execute(crawls)]
    found += [
        (row.ended_at, row.instance_id or row.kind, row.error) for row in connection.execute(leases)
    ]
    return tuple(sorted(found, key=lambda failure: failure[0], reverse=True)[:FAILURES_TOLD])
