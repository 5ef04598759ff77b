"""Assess: an instance → signals about how good a task it is."""

from collections.abc import Sequence
from typing import Protocol

from miner.model import Instance, Signal


class Store(Protocol):
    """What assessing reads and leaves."""

    def due_instances(self, *, signal: str, version: int, limit: int) -> Sequence[Instance]:
        """Newest instances without that signal of that version (verdict runs not loaded)."""
        ...

    def save_signals(self, signals: Sequence[Signal]) -> None:
        """Append."""
        ...
