"""Signals, snapshots and graded predictions."""

from sqlalchemy import Column, Date, Index, UniqueConstraint

from miner.model import EvaluationState, Split
from miner.store.tables.base import (
    blob,
    document,
    maybe_blob,
    maybe_text,
    number,
    one_of,
    refers,
    table,
    text,
    time,
)

SIGNALS = table(
    "signals",
    text("instance_id", "owner__name-123", index=True),
    refers("candidate_id", "candidates.id", "The candidate it was read from"),
    refers("examination_id", "examinations.id", "The examination it was read from"),
    text("name", "Which signal"),
    number("version", "Version of the signal's rule"),
    document("value", "JSON"),
    UniqueConstraint("candidate_id", "examination_id", "name", "version"),
    comment="Facts about how good a task is; the newest version counts",
)

SNAPSHOTS = table(
    "snapshots",
    text("name", "YYYY-MM-DD"),
    text("content_hash", "sha256 over the members' export rows"),
    text("policy", "How members were chosen"),
    Column("window_from", Date(), nullable=True, comment="First merge date, inclusive"),
    Column("window_to", Date(), nullable=True, comment="Last merge date, inclusive"),
    maybe_text("supersedes", "The snapshot it corrects"),
    time("created_at", "When it was frozen"),
    document("excluded", "[[instance id, reason], …]"),
    UniqueConstraint("name"),
    comment="Dated, immutable sets",
)

SNAPSHOT_MEMBERS = table(
    "snapshot_members",
    refers("snapshot_id", "snapshots.id", "The snapshot", index=False),
    text("instance_id", "owner__name-123", index=True),
    text("split", "train, dev or test"),
    number("position", "Place in the snapshot, from 0"),
    blob("row", "The frozen export row: canonical JSON"),
    one_of("split", tuple(Split)),
    UniqueConstraint("snapshot_id", "instance_id"),
    comment="Members of snapshots with their export rows as published",
)

EVALUATIONS = table(
    "evaluations",
    text("dataset", "Snapshot name, or content hash of a file"),
    text("run_id", "The run's name"),
    text("instance_id", "owner__name-123"),
    text("model_name_or_path", "The model"),
    text("patch_hash", "sha256 of the model's patch"),
    text("row_hash", "sha256 of the instance's export row"),
    number("grader_version", "Version of the grading rules"),
    text("state", "resolved, unresolved or infrastructure"),
    text("detail", "A sentence with the facts"),
    document("document", "miner.model.Evaluation without its run's log and results"),
    maybe_blob("log", "Output of the run"),
    maybe_blob("results", "Result of each test, compact JSON (results.py)"),
    time("evaluated_at", "When it was graded"),
    one_of("state", tuple(EvaluationState)),
    Index(None, "dataset", "run_id"),
    Index(None, "row_hash", "patch_hash", "grader_version"),
    comment="Graded predictions; the newest of a run, instance and model counts",
)
