"""Evaluations.

Revision 0008, after 0007.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "evaluations",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column(
            "dataset", sa.Text(), nullable=False, comment="Snapshot name, or content hash of a file"
        ),
        sa.Column("run_id", sa.Text(), nullable=False, comment="The run's name"),
        sa.Column("instance_id", sa.Text(), nullable=False, comment="owner__name-123"),
        sa.Column("model_name_or_path", sa.Text(), nullable=False, comment="The model"),
        sa.Column("patch_hash", sa.Text(), nullable=False, comment="sha256 of the model's patch"),
        sa.Column(
            "row_hash", sa.Text(), nullable=False, comment="sha256 of the instance's export row"
        ),
        sa.Column(
            "grader_version",
            sa.BigInteger(),
            nullable=False,
            comment="Version of the grading rules",
        ),
        sa.Column(
            "state", sa.Text(), nullable=False, comment="resolved, unresolved or infrastructure"
        ),
        sa.Column("detail", sa.Text(), nullable=False, comment="A sentence with the facts"),
        sa.Column(
            "document",
            sa.Text(),
            nullable=False,
            comment="miner.model.Evaluation without its run's log and results",
        ),
        sa.Column("log", sa.String(length=64), nullable=True, comment="Output of the run"),
        sa.Column(
            "results",
            sa.String(length=64),
            nullable=True,
            comment="Result of each test, compact JSON (results.py)",
        ),
        sa.Column(
            "evaluated_at", sa.DateTime(timezone=True), nullable=False, comment="When it was graded"
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
            "state IN ('resolved', 'unresolved', 'infrastructure')",
            name=op.f("ck_evaluations_state"),
        ),
        sa.ForeignKeyConstraint(["log"], ["blobs.sha256"], name=op.f("fk_evaluations_log_blobs")),
        sa.ForeignKeyConstraint(
            ["results"], ["blobs.sha256"], name=op.f("fk_evaluations_results_blobs")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evaluations")),
        comment="Graded predictions; the newest of a run, instance and model counts",
    )
    op.create_index(
        op.f("ix_evaluations_dataset_run_id"), "evaluations", ["dataset", "run_id"], unique=False
    )
    op.create_index(
        op.f("ix_evaluations_row_hash_patch_hash_grader_version"),
        "evaluations",
        ["row_hash", "patch_hash", "grader_version"],
        unique=False,
    )


def downgrade() -> None:
    op.drop_table("evaluations")
