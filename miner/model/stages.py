"""The stages and what they report; the clock they are given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from miner.errors import RetryableError

Clock = Callable[[], datetime]
"""The time, aware and UTC: an argument, never ambient."""


class Stage(StrEnum):
    """The six stages, in order."""

    CRAWL = "crawl"
    SPLIT = "split"
    VERIFY = "verify"
    ASSESS = "assess"
    PUBLISH = "publish"
    EVALUATE = "evaluate"


@dataclass(frozen=True, slots=True, kw_only=True)
class StageReport:
    """What one call of a stage did. `counts`: outcome or rejection reason → how many."""

    stage: Stage
    done: int = 0
    rejected: int = 0
    retried: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    started_at: datetime
    ended_at: datetime


class IncompleteError(RetryableError):
    """A stage could not do all of its work; what it did is in `report`, the rest stays due."""

    def __init__(self, message: str, *, report: StageReport) -> None:
        super().__init__(message)
        self.report = report
