"""What assessing and publishing read and leave: their stages' Stores."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import Connection, Row, Select, exists, func, select

from miner.errors import ConfigError, FatalError, SnapshotFrozenError
from miner.model import Candidate, DueInstance, Instance, Member, Signal, Snapshot, Split
from miner.store import blobs, documents
from miner.store.connection import Sql, anew
from miner.store.newest import (
    current_splits,
    is_newest_fact,
    is_tombstoned,
    newest_examination,
)
from miner.store.tables import (
    CANDIDATES,
    EXAMINATIONS,
    INSTANCES,
    REPO_FACTS,
    SIGNALS,
    SNAPSHOT_MEMBERS,
    SNAPSHOTS,
    TOMBSTONES,
)


def current_instances() -> Select[*tuple[object, ...]]:
    """Newest accepted instance of each pull: its candidate's and examination's columns."""
    split = current_splits()
    return (
        select(
            CANDIDATES.c.id.label("candidate_id"),
            CANDIDATES.c.instance_id,
            CANDIDATES.c.document,
            CANDIDATES.c.patch,
            CANDIDATES.c.test_patch,
            EXAMINATIONS.c.id.label("examination_id"),
            EXAMINATIONS.c.verdict,
            EXAMINATIONS.c.examined_at,
            INSTANCES.c.environment,
            split.c.repo_id,
        )
        .join(split, split.c.split_id == CANDIDATES.c.split_id)
        .join(EXAMINATIONS, EXAMINATIONS.c.id == newest_examination())
        .join(INSTANCES, INSTANCES.c.examination_id == EXAMINATIONS.c.id)
        .where(~is_tombstoned(split.c.repo_id))
    )


def read_instances(
    connection: Connection, query: Select[*tuple[object, ...]]
) -> tuple[Instance, ...]:
    """Load what `current_instances` (perhaps narrowed) selects; verdicts without their runs."""
    rows = connection.execute(query).all()
    patches = _patches(connection, rows)
    return tuple(_instance(row, patches) for row in rows)


def _patches(
    connection: Connection, rows: Sequence[Row[*tuple[object, ...]]]
) -> Mapping[str, bytes]:
    return blobs.read(connection, (name for row in rows for name in (row.patch, row.test_patch)))


def _instance(row: Row[*tuple[object, ...]], patches: Mapping[str, bytes]) -> Instance:
    candidate = documents.CANDIDATE.load(row.document)
    return Instance(
        candidate=replace(candidate, patch=patches[row.patch], test_patch=patches[row.test_patch]),
        environment=documents.ENVIRONMENT.load(row.environment),
        verdict=documents.VERDICT.load(row.verdict),
        verified_at=row.examined_at,
    )


class AssessStore:
    """Instances in, signals out."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    @anew
    def due_instances(self, *, signal: str, version: int, limit: int) -> Sequence[DueInstance]:
        """Newest instances without that signal of that version (verdict runs not loaded)."""
        there = exists().where(
            SIGNALS.c.candidate_id == CANDIDATES.c.id,
            SIGNALS.c.examination_id == EXAMINATIONS.c.id,
            SIGNALS.c.name == signal,
            SIGNALS.c.version == version,
        )
        query = current_instances().where(~there).order_by(CANDIDATES.c.instance_id).limit(limit)
        with self._sql.read() as connection:
            rows = connection.execute(query).all()
            patches = _patches(connection, rows)
        return tuple(
            DueInstance(
                instance=_instance(row, patches),
                candidate_id=row.candidate_id,
                examination_id=row.examination_id,
            )
            for row in rows
        )

    @anew
    def save_signals(self, found: Sequence[tuple[DueInstance, Signal]]) -> None:
        """Append to what was measured, be it the newest still or not; the same signal of the same
        version stays as it is."""
        with self._sql.write() as connection:
            for due, signal in found:
                self._sql.add_new(
                    connection,
                    SIGNALS,
                    instance_id=signal.instance_id,
                    candidate_id=due.candidate_id,
                    examination_id=due.examination_id,
                    name=signal.name,
                    version=signal.version,
                    value=signal.value,
                )


class PublishStore:
    """Instances and signals in, frozen snapshots out."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    @anew
    def instances(self, *, window: tuple[date | None, date | None]) -> Sequence[Instance]:
        """Newest accepted instance per instance id with merged_at in the window, sorted by id.

        Instances of repositories that the source no longer shows are left out.
        """
        query = current_instances().order_by(CANDIDATES.c.instance_id)
        first, last = window
        if first is not None:
            query = query.where(CANDIDATES.c.merged_at >= _midnight(first))
        if last is not None and last < date.max:
            query = query.where(CANDIDATES.c.merged_at < _midnight(last + timedelta(days=1)))
        with self._sql.read() as connection:
            return read_instances(connection, query)

    @anew
    def earlier(self, day: date) -> Sequence[Candidate]:
        """Candidates (without patches) of the accepted instances merged before that day."""
        query = current_instances().with_only_columns(CANDIDATES.c.document)
        with self._sql.read() as connection:
            found = connection.execute(query.where(CANDIDATES.c.merged_at < _midnight(day)))
            return tuple(documents.CANDIDATE.load(row.document) for row in found)

    @anew
    def buried(self) -> Mapping[str, str]:
        """Names of the repositories that the source no longer shows → why.

        Former names too: a snapshot may hold them. Not those that another repository has now.
        """
        last = select(func.max(TOMBSTONES.c.id)).group_by(TOMBSTONES.c.repo_id)
        query = (
            select(REPO_FACTS.c.name, TOMBSTONES.c.reason)
            .join(TOMBSTONES, TOMBSTONES.c.repo_id == REPO_FACTS.c.repo_id)
            .where(TOMBSTONES.c.id.in_(last), TOMBSTONES.c.reason != "")
            .order_by(REPO_FACTS.c.name)
        )
        shown = select(REPO_FACTS.c.name_lower).where(
            is_newest_fact(), ~is_tombstoned(REPO_FACTS.c.repo_id)
        )
        with self._sql.read() as connection:
            gone = {row.name: row.reason for row in connection.execute(query)}
            names = set(connection.execute(shown).scalars()) if gone else ()
        return {name: reason for name, reason in gone.items() if name.lower() not in names}

    @anew
    def signals(self, instance_ids: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
        """Instance id → signal name → newest JSON value, of the newest instance."""
        split = current_splits()
        query = (
            select(SIGNALS.c.instance_id, SIGNALS.c.name, SIGNALS.c.value)
            .join(CANDIDATES, CANDIDATES.c.id == SIGNALS.c.candidate_id)
            .join(split, split.c.split_id == CANDIDATES.c.split_id)
            .where(SIGNALS.c.examination_id == newest_examination())
            .order_by(SIGNALS.c.version, SIGNALS.c.id)
        )
        wanted = set(instance_ids)
        found: dict[str, dict[str, str]] = {}
        with self._sql.read() as connection:
            for row in connection.execute(query):
                if row.instance_id in wanted:
                    found.setdefault(row.instance_id, {})[row.name] = row.value
        return found

    @anew
    def snapshot(self, name: str) -> Snapshot | None:
        """A published snapshot."""
        with self._sql.read() as connection:
            return self._snapshot(connection, name)

    @anew
    def snapshots(self) -> Sequence[Snapshot]:
        """All, oldest first."""
        with self._sql.read() as connection:
            names = connection.execute(select(SNAPSHOTS.c.name).order_by(SNAPSHOTS.c.id)).scalars()
            found = [self._snapshot(connection, name) for name in names.all()]
        return tuple(snapshot for snapshot in found if snapshot is not None)

    @anew
    def freeze(self, snapshot: Snapshot, *, rows: Mapping[str, str]) -> None:
        """Store snapshot and each member's export row (canonical JSON by instance id).

        Same name and content hash: nothing happens. Same name, other content: SnapshotFrozenError.
        """
        if {member.instance_id for member in snapshot.members} != set(rows):
            raise FatalError(f"Snapshot {snapshot.name}: members and export rows do not fit.")
        bundle = blobs.Bundle()
        packed = {name: bundle.add(_bytes(row)) for name, row in rows.items()}
        with self._sql.write() as connection:
            bundle.save(self._sql, connection)
            snapshot_id = self._sql.add_new(
                connection,
                SNAPSHOTS,
                name=snapshot.name,
                content_hash=snapshot.content_hash,
                policy=snapshot.policy,
                window_from=snapshot.window[0],
                window_to=snapshot.window[1],
                supersedes=snapshot.supersedes,
                created_at=snapshot.created_at,
                excluded=json.dumps(snapshot.excluded, separators=(",", ":")),
            )
            if snapshot_id is None:
                self._refuse_other(connection, snapshot)
                return
            for position, member in enumerate(snapshot.members):
                self._sql.add(
                    connection,
                    SNAPSHOT_MEMBERS,
                    snapshot_id=snapshot_id,
                    instance_id=member.instance_id,
                    split=member.split,
                    position=position,
                    row=packed[member.instance_id],
                )

    @anew
    def rows(self, name: str) -> Mapping[str, str]:
        """The frozen export rows of a snapshot, in its order: instance id → canonical JSON.

        ConfigError for an unknown snapshot.
        """
        query = (
            select(SNAPSHOT_MEMBERS.c.instance_id, SNAPSHOT_MEMBERS.c.row)
            .join(SNAPSHOTS, SNAPSHOTS.c.id == SNAPSHOT_MEMBERS.c.snapshot_id)
            .where(SNAPSHOTS.c.name == name)
            .order_by(SNAPSHOT_MEMBERS.c.position)
        )
        with self._sql.read() as connection:
            if self._snapshot(connection, name) is None:
                raise ConfigError(f"There is no snapshot {name}; `miner publish` makes one.")
            members = connection.execute(query).all()
            contents = blobs.read(connection, (member.row for member in members))
        return {member.instance_id: _text(contents[member.row]) for member in members}

    @staticmethod
    def _refuse_other(connection: Connection, snapshot: Snapshot) -> None:
        query = select(SNAPSHOTS.c.content_hash).where(SNAPSHOTS.c.name == snapshot.name)
        if connection.execute(query).scalar_one() != snapshot.content_hash:
            raise SnapshotFrozenError(
                f"Snapshot {snapshot.name} is published with other content; choose another name."
            )

    @staticmethod
    def _snapshot(connection: Connection, name: str) -> Snapshot | None:
        row = connection.execute(select(SNAPSHOTS).where(SNAPSHOTS.c.name == name)).first()
        if row is None:
            return None
        query = (
            select(SNAPSHOT_MEMBERS.c.instance_id, SNAPSHOT_MEMBERS.c.split)
            .where(SNAPSHOT_MEMBERS.c.snapshot_id == row.id)
            .order_by(SNAPSHOT_MEMBERS.c.position)
        )
        return Snapshot(
            name=row.name,
            members=tuple(
                Member(instance_id=member.instance_id, split=Split(member.split))
                for member in connection.execute(query)
            ),
            content_hash=row.content_hash,
            created_at=row.created_at,
            window=(row.window_from, row.window_to),
            policy=row.policy,
            excluded=tuple((name, reason) for name, reason in json.loads(row.excluded)),
            supersedes=row.supersedes,
        )


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")
