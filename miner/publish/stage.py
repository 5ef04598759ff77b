"""Publish: instances → a dated, immutable snapshot; export it to files."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Protocol

from pydantic import ValidationError

from miner.errors import ConfigError, SnapshotFrozenError
from miner.model import Candidate, Instance, Member, Snapshot
from miner.progress import Progress
from miner.publish.row import ExportRow, canonical, complaint, export_row
from miner.publish.select import Selection, is_name, select
from validators.plural import counted


class Store(Protocol):
    """What publishing reads and leaves."""

    def instances(self, *, window: tuple[date | None, date | None]) -> Sequence[Instance]:
        """Newest accepted instance per instance id with merged_at in the window, sorted by id."""
        ...

    def earlier(self, day: date) -> Sequence[Candidate]:
        """Candidates (without patches) of the accepted instances merged before that day."""
        ...

    def signals(self, instance_ids: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
        """instance id → signal name → newest JSON value."""
        ...

    def snapshot(self, name: str) -> Snapshot | None:
        """A published snapshot."""
        ...

    def snapshots(self) -> Sequence[Snapshot]:
        """All, oldest first."""
        ...

    def freeze(self, snapshot: Snapshot, *, rows: Mapping[str, str]) -> None:
        """Store snapshot and each member's export row (canonical JSON by instance id).

        Same name and content hash: nothing happens. Same name, other content:
        SnapshotFrozenError.
        """
        ...

    def rows(self, name: str) -> Mapping[str, str]:
        """The frozen export rows of a snapshot: instance id → canonical JSON."""
        ...


def plan(
    store: Store,
    *,
    name: str,
    window: tuple[date | None, date | None],
    dockerfile: Callable[[Instance], str],
    now: datetime,
) -> tuple[Snapshot, Mapping[str, str]]:
    """The snapshot that publishing would freeze now, and its rows by instance id."""
    if not is_name(name):
        raise ConfigError(
            f"{name!r} is no snapshot name: write a date like {now:%Y-%m-%d}, "
            f"or {now:%Y-%m-%d}-b for a second one of that day."
        )
    selection = select(
        store.instances(window=window),
        window=window,
        earlier=() if window[0] is None else store.earlier(window[0]),
    )
    rows, unfit = _rows(store, selection, name=name, dockerfile=dockerfile)
    lines = {row.instance_id: canonical(row) for row in rows}
    snapshot = Snapshot(
        name=name,
        members=tuple(Member(instance_id=row.instance_id, split=row.split) for row in rows),
        content_hash=content_hash(lines),
        created_at=now,
        window=window,
        excluded=tuple(sorted((*selection.excluded, *unfit))),
    )
    return snapshot, lines


def publish(
    store: Store,
    *,
    name: str,
    window: tuple[date | None, date | None],
    dockerfile: Callable[[Instance], str],
    now: datetime,
    progress: Progress,
) -> Snapshot:
    """Freeze a snapshot; the same content under the same name changes nothing.

    Raises ConfigError (bad name, no instance), SnapshotFrozenError (name taken by other content).
    """
    progress.start("publish", total=None)
    try:
        snapshot, lines = plan(store, name=name, window=window, dockerfile=dockerfile, now=now)
        check(store, snapshot)
        store.freeze(snapshot, rows=lines)
        held = counted(len(snapshot.members), "instance")
        progress.advance("publish", f"{snapshot.name}: {held}")
    finally:
        progress.end("publish")
    return store.snapshot(name) or snapshot


def check(store: Store, snapshot: Snapshot) -> None:
    """What publishing would refuse.

    Raises ConfigError (no instance), SnapshotFrozenError (name taken by other content).
    """
    if not snapshot.members:
        raise ConfigError(
            "There is no verified instance to publish; `miner funnel` shows where they stopped."
        )
    known = store.snapshot(snapshot.name)
    if known is not None and known.content_hash != snapshot.content_hash:
        raise SnapshotFrozenError(
            f"Snapshot {snapshot.name} is published with other content; choose another name."
        )


def content_hash(lines: Mapping[str, str]) -> str:
    """sha256 over the rows in the order of their ids, one a line."""
    digest = hashlib.sha256()
    for instance_id in sorted(lines):
        digest.update(lines[instance_id].encode() + b"\n")
    return digest.hexdigest()


def read_rows(store: Store, name: str) -> tuple[ExportRow, ...]:
    """A snapshot's rows, sorted by id. ConfigError names the known snapshots when there is none."""
    if store.snapshot(name) is None:
        known = ", ".join(snapshot.name for snapshot in store.snapshots())
        raise ConfigError(
            f"There is no snapshot {name!r}; "
            + (f"published are: {known}." if known else "`miner publish` makes the first.")
        )
    rows = store.rows(name)
    return tuple(ExportRow.model_validate_json(rows[key]) for key in sorted(rows))


def _rows(
    store: Store, selection: Selection, *, name: str, dockerfile: Callable[[Instance], str]
) -> tuple[tuple[ExportRow, ...], tuple[tuple[str, str], ...]]:
    """The rows, and (instance id, reason) of what no row can hold: the others are published."""
    ids = [instance.candidate.instance_id for instance, _ in selection.members]
    signals = store.signals(ids)
    rows: list[ExportRow] = []
    unfit: list[tuple[str, str]] = []
    for (instance, split), instance_id in zip(selection.members, ids, strict=True):
        try:
            row = export_row(
                instance,
                snapshot=name,
                split=split,
                signals=signals.get(instance_id, {}),
                dockerfile=dockerfile(instance),
            )
        except ValidationError as error:
            unfit.append((instance_id, f"no row can hold it: {complaint(error)}"))
        else:
            rows.append(row)
    return tuple(rows), tuple(unfit)
