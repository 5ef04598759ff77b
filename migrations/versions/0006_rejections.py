"""Rejections.

Revision 0006, after 0005.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "rejections",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column("stage", sa.Text(), nullable=False, comment="Which stage said no"),
        sa.Column(
            "split_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=True,
            comment="The splitting it came from",
        ),
        sa.Column(
            "examination_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=True,
            comment="The examination it came from",
        ),
        sa.Column("repo", sa.Text(), nullable=False, comment="owner/name at that time"),
        sa.Column("pull_number", sa.BigInteger(), nullable=False, comment="The pull's number"),
        sa.Column("gate", sa.Text(), nullable=False, comment="A Gate's or a Flaw's value"),
        sa.Column("detail", sa.Text(), nullable=False, comment="A sentence with the facts"),
        sa.Column(
            "raw",
            sa.String(length=64),
            nullable=True,
            comment="The payload it is about, when no pull could be read from it",
        ),
        sa.Column(
            "rejected_at",
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
        sa.CheckConstraint(
            "stage IN ('crawl', 'split', 'verify', 'assess', 'publish', 'evaluate')",
            name=op.f("ck_rejections_stage"),
        ),
        sa.ForeignKeyConstraint(
            ["examination_id"],
            ["examinations.id"],
            name=op.f("fk_rejections_examination_id_examinations"),
        ),
        sa.ForeignKeyConstraint(["raw"], ["blobs.sha256"], name=op.f("fk_rejections_raw_blobs")),
        sa.ForeignKeyConstraint(
            ["split_id"], ["splits.id"], name=op.f("fk_rejections_split_id_splits")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rejections")),
        comment="Every recorded no, with its reason",
    )
    op.create_index(
        op.f("ix_rejections_examination_id"), "rejections", ["examination_id"], unique=False
    )
    op.create_index(op.f("ix_rejections_gate"), "rejections", ["gate"], unique=False)
    op.create_index(op.f("ix_rejections_split_id"), "rejections", ["split_id"], unique=False)


def downgrade() -> None:
    op.drop_table("rejections")
