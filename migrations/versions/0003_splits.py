"""Splits.

Revision 0003, after 0002.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "gate_policies",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column("digest", sa.Text(), nullable=False, comment="Digest of the policy"),
        sa.Column("document", sa.Text(), nullable=False, comment="The policy as JSON"),
        sa.Column("author", sa.Text(), nullable=True, comment="Who set it"),
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
        sa.PrimaryKeyConstraint("id", name=op.f("pk_gate_policies")),
        comment="The gates' settings as a history; the newest counts",
    )
    op.create_index(op.f("ix_gate_policies_digest"), "gate_policies", ["digest"], unique=False)
    op.create_table(
        "splits",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column(
            "pull_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="The version of the pull that was cut",
        ),
        sa.Column("policy", sa.Text(), nullable=False, comment="Digest of the gate policy"),
        sa.Column(
            "reverted",
            sa.Boolean(create_constraint=True, name="reverted"),
            nullable=False,
            comment="Was a pull known that undoes this one?",
        ),
        sa.Column(
            "outcome", sa.Text(), nullable=False, comment="candidate, or the gate that said no"
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
        sa.ForeignKeyConstraint(["pull_id"], ["pulls.id"], name=op.f("fk_splits_pull_id_pulls")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_splits")),
        sa.UniqueConstraint(
            "pull_id", "policy", "reverted", name=op.f("uq_splits_pull_id_policy_reverted")
        ),
        comment="One result of splitting for each version, policy and revert state",
    )
    op.create_table(
        "candidates",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column("instance_id", sa.Text(), nullable=False, comment="owner__name-123, stable"),
        sa.Column(
            "split_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="The result that it is",
        ),
        sa.Column(
            "task_digest",
            sa.Text(),
            nullable=False,
            comment="Digest of all that verification depends on: equal tasks are verified once",
        ),
        sa.Column("repo", sa.Text(), nullable=False, comment="owner/name at that time"),
        sa.Column("language", sa.Text(), nullable=False, comment="Language of the source files"),
        sa.Column(
            "merged_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="When the pull was merged",
        ),
        sa.Column(
            "patch_hash",
            sa.Text(),
            nullable=False,
            comment="Hash of the normalised gold patch: equal for backports",
        ),
        sa.Column("patch", sa.String(length=64), nullable=False, comment="Gold patch, bytes"),
        sa.Column("test_patch", sa.String(length=64), nullable=False, comment="Test patch, bytes"),
        sa.Column(
            "document",
            sa.Text(),
            nullable=False,
            comment="miner.model.Candidate without its patches",
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
            ["patch"], ["blobs.sha256"], name=op.f("fk_candidates_patch_blobs")
        ),
        sa.ForeignKeyConstraint(
            ["split_id"], ["splits.id"], name=op.f("fk_candidates_split_id_splits")
        ),
        sa.ForeignKeyConstraint(
            ["test_patch"], ["blobs.sha256"], name=op.f("fk_candidates_test_patch_blobs")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_candidates")),
        sa.UniqueConstraint("split_id", name=op.f("uq_candidates_split_id")),
        comment="Pulls cut into patches, not yet verified",
    )
    op.create_index(op.f("ix_candidates_instance_id"), "candidates", ["instance_id"], unique=False)
    op.create_index(op.f("ix_candidates_patch_hash"), "candidates", ["patch_hash"], unique=False)
    op.create_index(op.f("ix_candidates_split_id"), "candidates", ["split_id"], unique=False)
    op.create_index(op.f("ix_candidates_task_digest"), "candidates", ["task_digest"], unique=False)


def downgrade() -> None:
    op.drop_table("candidates")
    op.drop_table("splits")
    op.drop_table("gate_policies")
