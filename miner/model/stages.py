"""The stages and what they report; the clock they are given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

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
