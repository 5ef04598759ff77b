"""Snapshots of instances, and how models did on them."""

from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum

from validators.model import Grade


class Split(StrEnum):
    """The label of a snapshot's member."""

    TRAIN = "train"
    DEV = "dev"
    TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """An instance in a snapshot."""

    instance_id: str
    split: Split


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A dated, immutable set. `content_hash` is sha256 over its members' export rows."""

    name: str  # YYYY-MM-DD
    members: tuple[Member, ...]
    content_hash: str
    created_at: datetime
    window: tuple[date | None, date | None] = (None, None)  # merged_at, both ends inclusive
    policy: str = "all"
    excluded: tuple[tuple[str, str], ...] = ()  # (instance_id, reason)
    supersedes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A model's answer to one instance. An empty `model_patch` is an answer."""

    instance_id: str
    model_name_or_path: str
    model_patch: bytes = field(repr=False)


class EvaluationState(StrEnum):
    """INFRASTRUCTURE is never counted as the model's failure."""

    RESOLVED = "resolved"
    UNRESOLVED = "unresolved"
    INFRASTRUCTURE = "infrastructure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """One graded prediction. `dataset` is a snapshot's name or a file's content hash."""

    dataset: str
    run_id: str
    instance_id: str
    model_name_or_path: str
    patch_hash: str  # sha256 of model_patch
    state: EvaluationState
    grade: Grade | None
    detail: str
    evaluated_at: datetime
