"""Leases, recipes and what the tests said."""

from sqlalchemy import Column, Float, Index, UniqueConstraint
from sqlalchemy import text as sql

from miner.store.tables.base import (
    blob,
    document,
    flag,
    may_refer,
    maybe_blob,
    maybe_document,
    maybe_text,
    maybe_time,
    number,
    one_of,
    refers,
    table,
    text,
    time,
)
from validators.model import Phase

RECIPES = table(
    "recipes",
    text("repo", "owner/name", index=True),
    maybe_text("environment_key", "Of the environment it was learned in; none: set by a person"),
    maybe_text("base_image", "Content id of the base image it was learned on"),
    maybe_text("base_commit", "The commit it was learned at"),
    maybe_text("author", "A person; none: learned from a verification"),
    document("document", "validators.model.Recipe"),
    comment="How to build and test; a person's newest wins over learned ones",
)

REQUESTS = table(
    "requests",
    text("kind", "What is asked for: verify, publish …"),
    text("subject", "Instance id or name", index=True),
    maybe_text("author", "Who asks; none: revalidation"),
    text("reason", "Why"),
    comment="Work asked for beyond what is due by itself; answered by a row that names it",
)

LEASES = table(
    "leases",
    text("kind", "verify, pass or scheduler"),
    text("subject", "What is held: a task digest or a name"),
    number("version", "Verifier version"),
    text("policy", "Verification policy"),
    number("recipe_id", "Newest recipe of a person when claimed, 0: none"),
    number("request_id", "Newest request when claimed, 0: none"),
    may_refer("candidate_id", "candidates.id", "The candidate"),
    text("holder", "Who works on it", index=True),
    time("claimed_at", "When it was claimed"),
    time("heartbeat_at", "Last sign of life"),
    time("lease_until", "Until when it holds without another sign"),
    maybe_time("ended_at", "When it ended; none: live"),
    maybe_text("error", "Why it ended without a result; none: it did not fail"),
    maybe_time("not_before", "After a failure: when to try again"),
    one_of("kind", ("verify", "pass", "scheduler")),
    Index(
        "uq_leases_live",
        "kind",
        "subject",
        unique=True,
        sqlite_where=sql("ended_at IS NULL"),
        postgresql_where=sql("ended_at IS NULL"),
    ),
    Index(None, "subject", "policy"),
    comment="Claims, the only rows that are updated: one live claim a subject",
)

EXAMINATIONS = table(
    "examinations",
    text("task_digest", "The task that was examined"),
    number("version", "Verifier version"),
    text("policy", "Verification policy"),
    number("recipe_id", "Newest recipe of a person at that time, 0: none"),
    number("request_id", "The request it answers, 0: none"),
    refers("candidate_id", "candidates.id", "The candidate it was claimed for"),
    refers("lease_id", "leases.id", "The claim under which it was done"),
    text("outcome", "instance, or the flaw that said no"),
    document("verdict", "validators.model.Verdict without runs"),
    time("examined_at", "When the stage decided"),
    UniqueConstraint("task_digest", "version", "policy", "recipe_id", "request_id"),
    comment="One answer of the tests for each task, version, policy, recipe and request",
)

INSTANCES = table(
    "instances",
    refers("examination_id", "examinations.id", "The examination that accepted it", index=False),
    text("instance_id", "owner__name-123", index=True),
    number("fail_to_pass", "How many tests the fix turns"),
    number("pass_to_pass", "How many tests it keeps"),
    text("environment_key", "Key of its environment"),
    text("image_digest", "Content id of its image"),
    document("environment", "validators.model.Environment"),
    UniqueConstraint("examination_id"),
    comment="Accepted examinations",
)

ATTEMPTS = table(
    "attempts",
    refers("examination_id", "examinations.id", "The examination"),
    number("number", "Counts from 1; the last one decides"),
    text("reason", "Why the next recipe was tried, or accepted"),
    document("recipe", "validators.model.Recipe"),
    maybe_document("environment", "validators.model.Environment, when it was built"),
    maybe_text("failure_class", "Why it could not be built"),
    maybe_document("failure", "validators.model.BuildFailure without its output"),
    maybe_blob("log", "Output of the failed build"),
    maybe_document("verdict", "validators.model.Verdict without runs"),
    time("started_at", "Start"),
    time("ended_at", "End"),
    comment="Recipes tried in an examination",
)

RUNS = table(
    "runs",
    refers("attempt_id", "attempts.id", "The attempt"),
    text("phase", "State of the tree"),
    number("repeat", "Counts repeats from 1"),
    text("variant", "Which probe"),
    maybe_text("flaw", "Why this run says nothing"),
    text("detail", "More about the flaw"),
    number("exit_code", "Of the test command"),
    flag("timed_out", "The deadline ended it"),
    flag("truncated", "Output was cut in the middle"),
    flag("out_of_memory", "The kernel ended it"),
    Column("duration_s", Float(), nullable=False, comment="Wall time in seconds"),
    text("image_digest", "Image it ran in"),
    time("started_at", "Start"),
    blob("log", "Output"),
    blob("results", "Result of each test, compact JSON (results.py)"),
    one_of("phase", tuple(Phase)),
    comment="Test runs with their logs and per-test results",
)
