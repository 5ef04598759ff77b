"""Nightly passes: one at a time, one scheduler at a time, and what they reported."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Connection, and_, select

from miner.model import Stage, StageReport
from miner.store import documents
from miner.store.connection import Sql, anew
from miner.store.leases import end_lost
from miner.store.tables import LEASES, PASSES, STAGE_REPORTS

LOCK_S = 120
"""How long a pass or scheduler of another machine is believed to live without a heartbeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPass:
    """A pass that came to its end."""

    exit_code: int
    summary: str
    started_at: datetime
    ended_at: datetime


class PassStore:
    """Locks named "pass" and "scheduler", pass rows and stage reports."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def lock(self, kind: str, *, holder: str, now: datetime) -> str | None:
        """Take the lock; None when it is ours now, else who holds it. A dead holder loses it."""
        clock = self._sql.going_on(now)  # else the lock could have run out when it is stored
        same = {
            "kind": kind,
            "subject": kind,
            "version": 0,
            "policy": "",
            "recipe_id": 0,
            "request_id": 0,
            "holder": holder,
        }
        live = select(LEASES.c.holder).where(LEASES.c.kind == kind, LEASES.c.ended_at.is_(None))

        def take(connection: Connection) -> str | None:
            at = clock()
            values = same | {"claimed_at": at, "heartbeat_at": at, "lease_until": _until(at)}
            end_lost(connection, now=at)
            while self._sql.add_new(connection, LEASES, **values) is None:
                other = connection.execute(live).scalar()
                if other is not None:  # else whoever was in the way has left just now
                    return str(other)
            return None

        return self._sql.transact(take)

    @anew
    def beat(self, kind: str, *, holder: str, now: datetime) -> bool:
        """Prolong the lock; False when it is no longer ours."""
        with self._sql.write() as connection:
            statement = (
                LEASES.update()
                .where(_ours(kind, holder), LEASES.c.lease_until > now)
                .values(heartbeat_at=now, lease_until=_until(now))
            )
            return connection.execute(statement).rowcount == 1

    @anew
    def unlock(self, kind: str, *, holder: str, now: datetime) -> None:
        """Give the lock back; nothing when it was lost."""
        with self._sql.write() as connection:
            connection.execute(LEASES.update().where(_ours(kind, holder)).values(ended_at=now))

    @anew
    def save_pass(
        self,
        *,
        holder: str,
        exit_code: int,
        summary: str,
        started_at: datetime,
        ended_at: datetime,
    ) -> None:
        """Append a pass that ends now; its lock's row says who made it."""
        with self._sql.write() as connection:
            self._sql.add(
                connection,
                PASSES,
                lease_id=_lease_id(connection, holder),
                exit_code=exit_code,
                summary=summary,
                started_at=started_at,
                ended_at=ended_at,
            )

    @anew
    def last_pass_at(self) -> datetime | None:
        """When the newest pass ended."""
        query = select(PASSES.c.ended_at).order_by(PASSES.c.id.desc()).limit(1)
        with self._sql.read() as connection:
            return connection.execute(query).scalar()

    @anew
    def passes(self, *, limit: int = 10) -> Sequence[StoredPass]:
        """The newest passes, newest first."""
        query = select(PASSES).order_by(PASSES.c.id.desc()).limit(limit)
        with self._sql.read() as connection:
            return tuple(
                StoredPass(
                    exit_code=row.exit_code,
                    summary=row.summary,
                    started_at=row.started_at,
                    ended_at=row.ended_at,
                )
                for row in connection.execute(query)
            )

    @anew
    def save_report(self, report: StageReport) -> None:
        """Append a stage's report."""
        with self._sql.write() as connection:
            self._sql.add(
                connection,
                STAGE_REPORTS,
                stage=report.stage.value,
                done=report.done,
                rejected=report.rejected,
                retried=report.retried,
                document=documents.REPORT.dump(report),
                started_at=report.started_at,
                ended_at=report.ended_at,
            )

    @anew
    def reports(self, *, stage: Stage | None = None, limit: int = 20) -> Sequence[StageReport]:
        """The newest reports, newest first."""
        query = select(STAGE_REPORTS.c.document).order_by(STAGE_REPORTS.c.id.desc()).limit(limit)
        if stage is not None:
            query = query.where(STAGE_REPORTS.c.stage == stage)
        with self._sql.read() as connection:
            return tuple(map(documents.REPORT.load, connection.execute(query).scalars()))


def _until(now: datetime) -> datetime:
    return now + timedelta(seconds=LOCK_S)


def _ours(kind: str, holder: str) -> ColumnElement[bool]:
    return and_(LEASES.c.kind == kind, LEASES.c.holder == holder, LEASES.c.ended_at.is_(None))


def _lease_id(connection: Connection, holder: str) -> int:
    query = select(LEASES.c.id).where(LEASES.c.kind == "pass", LEASES.c.holder == holder)
    return int(connection.execute(query.order_by(LEASES.c.id.desc()).limit(1)).scalar_one())
