"""Examinations.

Revision 0005, after 0004.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "examinations",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column("task_digest", sa.Text(), nullable=False, comment="The task that was examined"),
        sa.Column("version", sa.BigInteger(), nullable=False, comment="Verifier version"),
        sa.Column("policy", sa.Text(), nullable=False, comment="Verification policy"),
        sa.Column(
            "recipe_id",
            sa.BigInteger(),
            nullable=False,
            comment="Newest recipe of a person at that time, 0: none",
        ),
        sa.Column(
            "request_id", sa.BigInteger(), nullable=False, comment="The request it answers, 0: none"
        ),
        sa.Column(
            "candidate_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="The candidate it was claimed for",
        ),
        sa.Column(
            "lease_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="The claim under which it was done",
        ),
        sa.Column(
            "outcome", sa.Text(), nullable=False, comment="instance, or the flaw that said no"
        ),
        sa.Column(
            "verdict", sa.Text(), nullable=False, comment="validators.model.Verdict without runs"
        ),
        sa.Column(
            "examined_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="When the stage decided",
        ),
        sa.Column(
            "made_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="When this row was written, UTC",
        ),
        sa.Column(
            "miner_version",
            sa.String(length=40),
            nullable=False,
            comment="Version that wrote the row",
        ),
        sa.ForeignKeyConstraint(
            ["candidate_id"],
            ["candidates.id"],
            name=op.f("fk_examinations_candidate_id_candidates"),
        ),
        sa.ForeignKeyConstraint(
            ["lease_id"], ["leases.id"], name=op.f("fk_examinations_lease_id_leases")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_examinations")),
        sa.UniqueConstraint(
            "task_digest",
            "version",
            "policy",
            "recipe_id",
            "request_id",
            name=op.f("uq_examinations_task_digest_version_policy_recipe_id_request_id"),
        ),
        comment="One answer of the tests for each task, version, policy, recipe and request",
    )
    op.create_index(
        op.f("ix_examinations_candidate_id"), "examinations", ["candidate_id"], unique=False
    )
    op.create_index(op.f("ix_examinations_lease_id"), "examinations", ["lease_id"], unique=False)
    op.create_table(
        "instances",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column(
            "examination_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="The examination that accepted it",
        ),
        sa.Column("instance_id", sa.Text(), nullable=False, comment="owner__name-123"),
        sa.Column(
            "fail_to_pass", sa.BigInteger(), nullable=False, comment="How many tests the fix turns"
        ),
        sa.Column(
            "pass_to_pass", sa.BigInteger(), nullable=False, comment="How many tests it keeps"
        ),
        sa.Column("environment_key", sa.Text(), nullable=False, comment="Key of its environment"),
        sa.Column("image_digest", sa.Text(), nullable=False, comment="Content id of its image"),
        sa.Column("environment", sa.Text(), nullable=False, comment="validators.model.Environment"),
        sa.Column(
            "made_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="When this row was written, UTC",
        ),
        sa.Column(
            "miner_version",
            sa.String(length=40),
            nullable=False,
            comment="Version that wrote the row",
        ),
        sa.ForeignKeyConstraint(
            ["examination_id"],
            ["examinations.id"],
            name=op.f("fk_instances_examination_id_examinations"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_instances")),
        sa.UniqueConstraint("examination_id", name=op.f("uq_instances_examination_id")),
        comment="Accepted examinations",
    )
    op.create_index(op.f("ix_instances_instance_id"), "instances", ["instance_id"], unique=False)
    op.create_table(
        "attempts",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column(
            "examination_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="The examination",
        ),
        sa.Column(
            "number", sa.BigInteger(), nullable=False, comment="Counts from 1; the last one decides"
        ),
        sa.Column(
            "reason",
            sa.Text(),
            nullable=False,
            comment="Why the next recipe was tried, or accepted",
        ),
        sa.Column("recipe", sa.Text(), nullable=False, comment="validators.model.Recipe"),
        sa.Column(
            "environment",
            sa.Text(),
            nullable=True,
            comment="validators.model.Environment, when it was built",
        ),
        sa.Column("failure_class", sa.Text(), nullable=True, comment="Why it could not be built"),
        sa.Column(
            "failure",
            sa.Text(),
            nullable=True,
            comment="validators.model.BuildFailure without its output",
        ),
        sa.Column("log", sa.String(length=64), nullable=True, comment="Output of the failed build"),
        sa.Column(
            "verdict", sa.Text(), nullable=True, comment="validators.model.Verdict without runs"
        ),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False, comment="Start"),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False, comment="End"),
        sa.Column(
            "made_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="When this row was written, UTC",
        ),
        sa.Column(
            "miner_version",
            sa.String(length=40),
            nullable=False,
            comment="Version that wrote the row",
        ),
        sa.ForeignKeyConstraint(
            ["examination_id"],
            ["examinations.id"],
            name=op.f("fk_attempts_examination_id_examinations"),
        ),
        sa.ForeignKeyConstraint(["log"], ["blobs.sha256"], name=op.f("fk_attempts_log_blobs")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempts")),
        comment="Recipes tried in an examination",
    )
    op.create_index(
        op.f("ix_attempts_examination_id"), "attempts", ["examination_id"], unique=False
    )
    op.create_table(
        "runs",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column(
            "attempt_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="The attempt",
        ),
        sa.Column("phase", sa.Text(), nullable=False, comment="State of the tree"),
        sa.Column("repeat", sa.BigInteger(), nullable=False, comment="Counts repeats from 1"),
        sa.Column("variant", sa.Text(), nullable=False, comment="Which probe"),
        sa.Column("flaw", sa.Text(), nullable=True, comment="Why this run says nothing"),
        sa.Column("detail", sa.Text(), nullable=False, comment="More about the flaw"),
        sa.Column("exit_code", sa.BigInteger(), nullable=False, comment="Of the test command"),
        sa.Column(
            "timed_out",
            sa.Boolean(create_constraint=True, name="timed_out"),
            nullable=False,
            comment="The deadline ended it",
        ),
        sa.Column(
            "truncated",
            sa.Boolean(create_constraint=True, name="truncated"),
            nullable=False,
            comment="Output was cut in the middle",
        ),
        sa.Column(
            "out_of_memory",
            sa.Boolean(create_constraint=True, name="out_of_memory"),
            nullable=False,
            comment="The kernel ended it",
        ),
        sa.Column("duration_s", sa.Float(), nullable=False, comment="Wall time in seconds"),
        sa.Column("image_digest", sa.Text(), nullable=False, comment="Image it ran in"),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False, comment="Start"),
        sa.Column("log", sa.String(length=64), nullable=False, comment="Output"),
        sa.Column(
            "results",
            sa.String(length=64),
            nullable=False,
            comment="Result of each test, compact JSON (results.py)",
        ),
        sa.Column(
            "made_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="When this row was written, UTC",
        ),
        sa.Column(
            "miner_version",
            sa.String(length=40),
            nullable=False,
            comment="Version that wrote the row",
        ),
        sa.CheckConstraint(
            "phase IN ('base', 'before', 'after', 'probe', 'model')", name=op.f("ck_runs_phase")
        ),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempts.id"], name=op.f("fk_runs_attempt_id_attempts")
        ),
        sa.ForeignKeyConstraint(["log"], ["blobs.sha256"], name=op.f("fk_runs_log_blobs")),
        sa.ForeignKeyConstraint(["results"], ["blobs.sha256"], name=op.f("fk_runs_results_blobs")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
        comment="Test runs with their logs and per-test results",
    )
    op.create_index(op.f("ix_runs_attempt_id"), "runs", ["attempt_id"], unique=False)


def downgrade() -> None:
    op.drop_table("runs")
    op.drop_table("attempts")
    op.drop_table("instances")
    op.drop_table("examinations")
