"""Leases.

Revision 0004, after 0003.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "recipes",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column("repo", sa.Text(), nullable=False, comment="owner/name"),
        sa.Column(
            "environment_key",
            sa.Text(),
            nullable=True,
            comment="Only for this environment; none: for the repository",
        ),
        sa.Column(
            "author",
            sa.Text(),
            nullable=True,
            comment="A person; none: learned from a verification",
        ),
        sa.Column("document", sa.Text(), nullable=False, comment="validators.model.Recipe"),
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
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recipes")),
        comment="How to build and test; a person's newest wins over learned ones",
    )
    op.create_index(op.f("ix_recipes_repo"), "recipes", ["repo"], unique=False)
    op.create_table(
        "requests",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column(
            "kind", sa.Text(), nullable=False, comment="What is asked for: verify, publish …"
        ),
        sa.Column("subject", sa.Text(), nullable=False, comment="Instance id or name"),
        sa.Column("author", sa.Text(), nullable=True, comment="Who asks; none: revalidation"),
        sa.Column("reason", sa.Text(), nullable=False, comment="Why"),
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
        sa.PrimaryKeyConstraint("id", name=op.f("pk_requests")),
        comment="Work asked for beyond what is due by itself; answered by a row that names it",
    )
    op.create_index(op.f("ix_requests_subject"), "requests", ["subject"], unique=False)
    op.create_table(
        "leases",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column("kind", sa.Text(), nullable=False, comment="verify, pass or scheduler"),
        sa.Column(
            "subject", sa.Text(), nullable=False, comment="What is held: a task digest or a name"
        ),
        sa.Column("version", sa.BigInteger(), nullable=False, comment="Verifier version"),
        sa.Column("policy", sa.Text(), nullable=False, comment="Verification policy"),
        sa.Column(
            "recipe_id",
            sa.BigInteger(),
            nullable=False,
            comment="Newest recipe of a person when claimed, 0: none",
        ),
        sa.Column(
            "request_id",
            sa.BigInteger(),
            nullable=False,
            comment="Newest request when claimed, 0: none",
        ),
        sa.Column(
            "candidate_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=True,
            comment="The candidate",
        ),
        sa.Column("holder", sa.Text(), nullable=False, comment="Who works on it"),
        sa.Column(
            "claimed_at", sa.DateTime(timezone=True), nullable=False, comment="When it was claimed"
        ),
        sa.Column(
            "heartbeat_at", sa.DateTime(timezone=True), nullable=False, comment="Last sign of life"
        ),
        sa.Column(
            "lease_until",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="Until when it holds without another sign",
        ),
        sa.Column(
            "ended_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When it ended; none: live",
        ),
        sa.Column(
            "error",
            sa.Text(),
            nullable=True,
            comment="Why it ended without a result; none: it did not fail",
        ),
        sa.Column(
            "not_before",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="After a failure: when to try again",
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
        sa.CheckConstraint("kind IN ('verify', 'pass', 'scheduler')", name=op.f("ck_leases_kind")),
        sa.ForeignKeyConstraint(
            ["candidate_id"], ["candidates.id"], name=op.f("fk_leases_candidate_id_candidates")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_leases")),
        comment="Claims, the only rows that are updated: one live claim a subject",
    )
    op.create_index(op.f("ix_leases_candidate_id"), "leases", ["candidate_id"], unique=False)
    op.create_index(op.f("ix_leases_holder"), "leases", ["holder"], unique=False)
    op.create_index(op.f("ix_leases_subject_policy"), "leases", ["subject", "policy"], unique=False)
    op.create_index(
        "uq_leases_live",
        "leases",
        ["kind", "subject"],
        unique=True,
        sqlite_where=sa.text("ended_at IS NULL"),
        postgresql_where=sa.text("ended_at IS NULL"),
    )


def downgrade() -> None:
    op.drop_table("leases")
    op.drop_table("requests")
    op.drop_table("recipes")
