"""Pulls cut into candidates, and every recorded no."""

from sqlalchemy import Index, UniqueConstraint

from miner.model import Stage
from miner.store.tables.base import (
    blob,
    document,
    flag,
    may_refer,
    maybe_blob,
    maybe_text,
    number,
    one_of,
    refers,
    table,
    text,
    time,
)

GATE_POLICIES = table(
    "gate_policies",
    text("digest", "Digest of the policy", index=True),
    document("document", "The policy as JSON"),
    maybe_text("author", "Who set it"),
    comment="The gates' settings as a history; the newest counts",
)

SPLITS = table(
    "splits",
    refers("pull_id", "pulls.id", "The version of the pull that was cut", index=False),
    text("policy", "Digest of the gate policy"),
    flag("reverted", "Was a pull known that undoes this one?"),
    text("outcome", "candidate, or the gate that said no"),
    UniqueConstraint("pull_id", "policy", "reverted"),
    comment="One result of splitting for each version, policy and revert state",
)

CANDIDATES = table(
    "candidates",
    text("instance_id", "owner__name-123, stable", index=True),
    refers("split_id", "splits.id", "The result that it is"),
    text(
        "task_digest",
        "Digest of all that verification depends on: equal tasks are verified once",
        index=True,
    ),
    text("repo", "owner/name at that time"),
    text("language", "Language of the source files"),
    time("merged_at", "When the pull was merged"),
    text("patch_hash", "Hash of the normalised gold patch: equal for backports", index=True),
    blob("patch", "Gold patch, bytes"),
    blob("test_patch", "Test patch, bytes"),
    document("document", "miner.model.Candidate without its patches"),
    UniqueConstraint("split_id"),
    comment="Pulls cut into patches, not yet verified",
)

REJECTIONS = table(
    "rejections",
    text("stage", "Which stage said no"),
    may_refer("split_id", "splits.id", "The splitting it came from"),
    may_refer("examination_id", "examinations.id", "The examination it came from"),
    text("repo", "owner/name at that time"),
    number("pull_number", "The pull's number"),
    text("gate", "A Gate's or a Flaw's value"),
    text("detail", "A sentence with the facts"),
    maybe_blob("raw", "The payload it is about, when no pull could be read from it"),
    time("rejected_at", "When the stage decided"),
    one_of("stage", tuple(Stage)),
    Index(None, "gate"),
    comment="Every recorded no, with its reason",
)
