"""Claims: who works on what. Of all rows only these, and a crawl's place, are ever updated.

A partial unique index allows one live lease a subject. A lease ends by its holder (with a result,
an error, or neither), by running out, or when its holder is seen to be dead.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, Row, Select, Subquery, and_, case, exists, func, select
from sqlalchemy.sql.elements import ColumnElement

from miner.holder import is_dead
from miner.store.connection import Sql
from miner.store.newest import current_splits, repo_ids
from miner.store.tables import (
    CANDIDATES,
    EXAMINATIONS,
    LEASES,
    RECIPES,
    REPO_FACTS,
    REQUESTS,
)

LEASE_S = 300
"""How long a lease holds without a heartbeat: ten are missed before another worker may take it."""

MAX_ATTEMPTS = 5
"""After so many failures of the machinery a task is parked until a person asks for it again."""

BACKOFF_S = 60
"""Wait after the second failure, four times as long after each further one. After the first there
is none: most are a hiccup, and a pass should not end for want of one task."""

VERIFY = "verify"
LOST = "lost: the holder gave no sign of life"
DEAD = "lost: the holder died"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a verifier asks for: tasks without an answer of this version under this policy."""

    version: int
    policy: str
    repo: str | None = None
    limit: int = 1


def end_lost(connection: Connection, *, now: datetime) -> None:
    """End leases that ran out, and those whose holder died on this machine."""
    live = LEASES.c.ended_at.is_(None)
    connection.execute(
        LEASES.update().where(live, LEASES.c.lease_until < now).values(ended_at=now, error=LOST)
    )
    holders = connection.execute(select(LEASES.c.holder).where(live).distinct()).scalars().all()
    dead = sorted(holder for holder in holders if is_dead(holder))
    if dead:
        connection.execute(
            LEASES.update().where(live, LEASES.c.holder.in_(dead)).values(ended_at=now, error=DEAD)
        )


def newest_person_recipe(repo_id: ColumnElement[int]) -> ColumnElement[int]:
    """Id of the newest recipe that a person set for a repository, under any of its names; or 0."""
    newest = (
        select(func.max(RECIPES.c.id))
        .join(REPO_FACTS, REPO_FACTS.c.name_lower == func.lower(RECIPES.c.repo))
        .where(REPO_FACTS.c.repo_id == repo_id, RECIPES.c.author.is_not(None))
        .scalar_subquery()
    )
    return func.coalesce(newest, 0)


def newest_request(instance_id: ColumnElement[str]) -> ColumnElement[int]:
    """Id of the newest request to verify an instance; or 0."""
    newest = (
        select(func.max(REQUESTS.c.id))
        .where(REQUESTS.c.kind == VERIFY, REQUESTS.c.subject == instance_id)
        .scalar_subquery()
    )
    return func.coalesce(newest, 0)


def tasks(*, repo: str | None) -> Subquery:
    """The newest candidates with the inputs that their next examination would have."""
    split = current_splits()
    query = select(
        CANDIDATES.c.id.label("candidate_id"),
        CANDIDATES.c.instance_id,
        CANDIDATES.c.task_digest,
        CANDIDATES.c.merged_at,
        split.c.repo_id,
        newest_person_recipe(split.c.repo_id).label("recipe_id"),
        newest_request(CANDIDATES.c.instance_id).label("request_id"),
    ).join(split, split.c.split_id == CANDIDATES.c.split_id)
    if repo is not None:
        query = query.where(split.c.repo_id.in_(repo_ids(repo)))
    return query.subquery("tasks")


def is_examined(task: Subquery, wanted: Wanted) -> ColumnElement[bool]:
    """There is an answer for exactly these inputs."""
    return exists().where(
        EXAMINATIONS.c.task_digest == task.c.task_digest,
        EXAMINATIONS.c.version == wanted.version,
        EXAMINATIONS.c.policy == wanted.policy,
        EXAMINATIONS.c.recipe_id == task.c.recipe_id,
        EXAMINATIONS.c.request_id == task.c.request_id,
    )


def failures(task: Subquery, wanted: Wanted) -> ColumnElement[int]:
    """How often the machinery failed on exactly these inputs."""
    return (
        select(func.count())
        .select_from(LEASES)
        .where(_same_inputs(task, wanted), LEASES.c.error.is_not(None))
        .scalar_subquery()
    )


def is_parked(task: Subquery, wanted: Wanted) -> ColumnElement[bool]:
    """The machinery failed too often."""
    return failures(task, wanted) >= MAX_ATTEMPTS


def claim(
    sql: Sql, connection: Connection, wanted: Wanted, *, holder: str, now: datetime
) -> Sequence[int]:
    """Lease up to `wanted.limit` due tasks; the candidates' ids. Call it in a write transaction.

    On PostgreSQL the due rows are locked as they are read, which spares collisions. Two are left:
    a row that was only locked is not looked at again, neither for a lease (the unique index refuses
    a second one) nor for a result (those are dropped here) that was written since it was read. A
    claim that lost all it picked picks again: nothing comes back only when nothing is due.
    """
    end_lost(connection, now=now)
    # SQLite has no row locks and needs none: it has one writer. NO KEY (`key_share`), so that a
    # result that refers to a candidate is not kept waiting by a claim that waits for its lease.
    locked = _due(wanted, now=now).with_for_update(of=CANDIDATES, key_share=True, skip_locked=True)
    same = {
        "kind": VERIFY,
        "version": wanted.version,
        "policy": wanted.policy,
        "holder": holder,
        "claimed_at": now,
        "heartbeat_at": now,
        "lease_until": until(now),
    } | sql.stamp()
    while picked := connection.execute(locked).all():
        statement = (
            sql.insert(LEASES)
            .values([same | _inputs(row) for row in picked])
            .on_conflict_do_nothing()
            .returning(LEASES.c.id, LEASES.c.candidate_id)
        )
        claimed = {row.id: int(row.candidate_id) for row in connection.execute(statement)}
        if sql.is_postgres and claimed:
            claimed = _drop_answered(connection, claimed)
        if claimed:
            return tuple(claimed[lease_id] for lease_id in sorted(claimed))
    return ()


def _inputs(row: Row[*tuple[object, ...]]) -> dict[str, object]:
    return {
        "subject": row.task_digest,
        "recipe_id": row.recipe_id,
        "request_id": row.request_id,
        "candidate_id": row.candidate_id,
    }


def until(now: datetime) -> datetime:
    """When a lease that lives now runs out."""
    return now + timedelta(seconds=LEASE_S)


def back_off(now: datetime, *, failed: int) -> datetime:
    """When to try again after `failed` failures (at least 1)."""
    wait_s = 0 if failed == 1 else BACKOFF_S * 4 ** (failed - 2)
    return now + timedelta(seconds=wait_s)


def due(connection: Connection, wanted: Wanted, *, now: datetime) -> Sequence[int]:
    """The candidates' ids that `claim` would lease, but for leases that are lost."""
    return tuple(row.candidate_id for row in connection.execute(_due(wanted, now=now)))


def count_due(connection: Connection, wanted: Wanted, *, now: datetime) -> int:
    """How many `claim` could lease, up to the limit. Call it in a write transaction."""
    end_lost(connection, now=now)
    query = select(func.count()).select_from(_due(wanted, now=now).subquery("due"))
    return int(connection.execute(query).scalar_one())


def count_unanswered(
    connection: Connection, wanted: Wanted, *, merged: tuple[datetime, datetime]
) -> int:
    """How many tasks merged from then until before then have no answer of any kind, in somebody's
    hands or not; those that are parked are not waited for."""
    task = tasks(repo=wanted.repo)
    answered = exists().where(EXAMINATIONS.c.task_digest == task.c.task_digest)
    query = (
        select(func.count())
        .select_from(task)
        .where(
            task.c.merged_at >= merged[0],
            task.c.merged_at < merged[1],
            ~answered,
            ~is_parked(task, wanted),
        )
    )
    return int(connection.execute(query).scalar_one())


def _due(wanted: Wanted, *, now: datetime) -> Select[*tuple[object, ...]]:
    task = tasks(repo=wanted.repo)
    held = exists().where(
        LEASES.c.kind == VERIFY,
        LEASES.c.subject == task.c.task_digest,
        LEASES.c.ended_at.is_(None),
    )
    waiting = exists().where(_same_inputs(task, wanted), LEASES.c.not_before > now)
    return (
        select(task.c.candidate_id, task.c.task_digest, task.c.recipe_id, task.c.request_id)
        .join(CANDIDATES, CANDIDATES.c.id == task.c.candidate_id)
        .where(
            ~is_examined(task, wanted),
            ~held,
            ~waiting,
            ~is_parked(task, wanted),
        )
        .order_by(_turn(task), task.c.merged_at.desc(), CANDIDATES.c.id)
        .limit(wanted.limit)
    )


def _turn(task: Subquery) -> ColumnElement[int]:
    """What people ask for first, then what is new, then revalidation."""
    asked_by = select(REQUESTS.c.author).where(REQUESTS.c.id == task.c.request_id)
    return case((task.c.request_id == 0, 1), (asked_by.scalar_subquery().is_not(None), 0), else_=2)


def _same_inputs(task: Subquery, wanted: Wanted) -> ColumnElement[bool]:
    return and_(
        LEASES.c.kind == VERIFY,
        LEASES.c.subject == task.c.task_digest,
        LEASES.c.version == wanted.version,
        LEASES.c.policy == wanted.policy,
        LEASES.c.recipe_id == task.c.recipe_id,
        LEASES.c.request_id == task.c.request_id,
    )


def _drop_answered(connection: Connection, claimed: dict[int, int]) -> dict[int, int]:
    answered = exists().where(
        EXAMINATIONS.c.task_digest == LEASES.c.subject,
        EXAMINATIONS.c.version == LEASES.c.version,
        EXAMINATIONS.c.policy == LEASES.c.policy,
        EXAMINATIONS.c.recipe_id == LEASES.c.recipe_id,
        EXAMINATIONS.c.request_id == LEASES.c.request_id,
    )
    statement = (
        LEASES.delete().where(LEASES.c.id.in_(sorted(claimed)), answered).returning(LEASES.c.id)
    )
    dropped = set(connection.execute(statement).scalars())
    return {lease: candidate for lease, candidate in claimed.items() if lease not in dropped}
