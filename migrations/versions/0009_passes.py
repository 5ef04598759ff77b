"""Passes.

Revision 0009, after 0008.
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "passes",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column(
            "lease_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="The lock under which it ran",
        ),
        sa.Column(
            "exit_code", sa.BigInteger(), nullable=False, comment="0, or the worst of its stages"
        ),
        sa.Column("summary", sa.Text(), nullable=False, comment="One line for people"),
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
            ["lease_id"], ["leases.id"], name=op.f("fk_passes_lease_id_leases")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_passes")),
        comment="Nightly rounds of all stages that came to their end",
    )
    op.create_index(op.f("ix_passes_lease_id"), "passes", ["lease_id"], unique=False)
    op.create_table(
        "stage_reports",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column("stage", sa.Text(), nullable=False, comment="Which stage"),
        sa.Column("done", sa.BigInteger(), nullable=False, comment="Items with a result"),
        sa.Column("rejected", sa.BigInteger(), nullable=False, comment="Items rejected"),
        sa.Column("retried", sa.BigInteger(), nullable=False, comment="Items that stay due"),
        sa.Column("document", sa.Text(), nullable=False, comment="miner.model.StageReport"),
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
        sa.CheckConstraint(
            "stage IN ('crawl', 'split', 'verify', 'assess', 'publish', 'evaluate')",
            name=op.f("ck_stage_reports_stage"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stage_reports")),
        comment="What each call of a stage did",
    )


def downgrade() -> None:
    op.drop_table("stage_reports")
    op.drop_table("passes")
