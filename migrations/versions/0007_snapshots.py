"""Snapshots.

Revision 0007, after 0006.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "signals",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column("instance_id", sa.Text(), nullable=False, comment="owner__name-123"),
        sa.Column(
            "candidate_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="The candidate it was read from",
        ),
        sa.Column(
            "examination_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="The examination it was read from",
        ),
        sa.Column("name", sa.Text(), nullable=False, comment="Which signal"),
        sa.Column(
            "version", sa.BigInteger(), nullable=False, comment="Version of the signal's rule"
        ),
        sa.Column("value", sa.Text(), nullable=False, comment="JSON"),
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
            ["candidate_id"], ["candidates.id"], name=op.f("fk_signals_candidate_id_candidates")
        ),
        sa.ForeignKeyConstraint(
            ["examination_id"],
            ["examinations.id"],
            name=op.f("fk_signals_examination_id_examinations"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_signals")),
        sa.UniqueConstraint(
            "candidate_id",
            "examination_id",
            "name",
            "version",
            name=op.f("uq_signals_candidate_id_examination_id_name_version"),
        ),
        comment="Facts about how good a task is; the newest version counts",
    )
    op.create_index(op.f("ix_signals_candidate_id"), "signals", ["candidate_id"], unique=False)
    op.create_index(op.f("ix_signals_examination_id"), "signals", ["examination_id"], unique=False)
    op.create_index(op.f("ix_signals_instance_id"), "signals", ["instance_id"], unique=False)
    op.create_table(
        "snapshots",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column("name", sa.Text(), nullable=False, comment="YYYY-MM-DD"),
        sa.Column(
            "content_hash",
            sa.Text(),
            nullable=False,
            comment="sha256 over the members' export rows",
        ),
        sa.Column("policy", sa.Text(), nullable=False, comment="How members were chosen"),
        sa.Column("window_from", sa.Date(), nullable=True, comment="First merge date, inclusive"),
        sa.Column("window_to", sa.Date(), nullable=True, comment="Last merge date, inclusive"),
        sa.Column("supersedes", sa.Text(), nullable=True, comment="The snapshot it corrects"),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), nullable=False, comment="When it was frozen"
        ),
        sa.Column("excluded", sa.Text(), nullable=False, comment="[[instance id, reason], …]"),
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
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshots")),
        sa.UniqueConstraint("name", name=op.f("uq_snapshots_name")),
        comment="Dated, immutable sets",
    )
    op.create_table(
        "snapshot_members",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column(
            "snapshot_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="The snapshot",
        ),
        sa.Column("instance_id", sa.Text(), nullable=False, comment="owner__name-123"),
        sa.Column("split", sa.Text(), nullable=False, comment="train, dev or test"),
        sa.Column(
            "position", sa.BigInteger(), nullable=False, comment="Place in the snapshot, from 0"
        ),
        sa.Column(
            "row",
            sa.String(length=64),
            nullable=False,
            comment="The frozen export row: canonical JSON",
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
            "split IN ('train', 'dev', 'test')", name=op.f("ck_snapshot_members_split")
        ),
        sa.ForeignKeyConstraint(
            ["row"], ["blobs.sha256"], name=op.f("fk_snapshot_members_row_blobs")
        ),
        sa.ForeignKeyConstraint(
            ["snapshot_id"],
            ["snapshots.id"],
            name=op.f("fk_snapshot_members_snapshot_id_snapshots"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshot_members")),
        sa.UniqueConstraint(
            "snapshot_id", "instance_id", name=op.f("uq_snapshot_members_snapshot_id_instance_id")
        ),
        comment="Members of snapshots with their export rows as published",
    )
    op.create_index(
        op.f("ix_snapshot_members_instance_id"), "snapshot_members", ["instance_id"], unique=False
    )


def downgrade() -> None:
    op.drop_table("snapshot_members")
    op.drop_table("snapshots")
    op.drop_table("signals")
