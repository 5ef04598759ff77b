"""What a signal is: a name, a version and a pure function of an instance."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from miner.model import Instance

Value = Mapping[str, object]
"""JSON-able facts. The key `flag` (bool) says whether a reader should be warned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One signal. Raise `version` when its rule changes: every instance is then due again."""

    name: str
    version: int
    measure: Callable[[Instance], Value]
