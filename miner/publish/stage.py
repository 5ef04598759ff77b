"""Publish: instances → a dated, immutable snapshot; export it to files."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Protocol

from miner.model import Instance, Snapshot


class Store(Protocol):
    """What publishing reads and leaves."""

    def instances(self, *, window: tuple[date | None, date | None]) -> Sequence[Instance]:
        """Newest accepted instance per instance id with merged_at in the window, sorted by id."""
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
