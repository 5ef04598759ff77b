"""Repositories.

Revision 0001, after None.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "blobs",
        sa.Column(
            "sha256",
            sa.String(length=64),
            nullable=False,
            comment="SHA-256 of the plain bytes, hex",
        ),
        sa.Column("size", sa.BigInteger(), nullable=False, comment="Length of the plain bytes"),
        sa.Column(
            "content", sa.LargeBinary(), nullable=False, comment="The bytes, compressed by zstd"
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
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_blobs")),
        comment="Payloads, diffs, patches, logs and results, by content",
    )
    op.create_table(
        "repos",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column(
            "source", sa.Text(), nullable=False, comment="Where the repository lives: github …"
        ),
        sa.Column(
            "database_id",
            sa.BigInteger(),
            nullable=False,
            comment="The source's own number, which survives renaming",
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
        sa.PrimaryKeyConstraint("id", name=op.f("pk_repos")),
        sa.UniqueConstraint("source", "database_id", name=op.f("uq_repos_source_database_id")),
        comment="Repositories seen; what is known of them is in repo_facts",
    )
    op.create_table(
        "repo_facts",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column(
            "repo_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="The repository",
        ),
        sa.Column("name", sa.Text(), nullable=False, comment="owner/name at that time"),
        sa.Column("default_branch", sa.Text(), nullable=False, comment="Its default branch"),
        sa.Column("language", sa.Text(), nullable=True, comment="Its main language"),
        sa.Column("license", sa.Text(), nullable=True, comment="SPDX id"),
        sa.Column(
            "is_archived",
            sa.Boolean(create_constraint=True, name="is_archived"),
            nullable=False,
            comment="Read-only at the source",
        ),
        sa.Column("document", sa.Text(), nullable=False, comment="miner.model.Repo"),
        sa.Column(
            "seen_at", sa.DateTime(timezone=True), nullable=False, comment="When the source said so"
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
            ["repo_id"], ["repos.id"], name=op.f("fk_repo_facts_repo_id_repos")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_repo_facts")),
        comment="What a repository looked like, one row a change; the newest counts",
    )
    op.create_index(op.f("ix_repo_facts_name"), "repo_facts", ["name"], unique=False)
    op.create_index(op.f("ix_repo_facts_repo_id"), "repo_facts", ["repo_id"], unique=False)
    op.create_table(
        "watches",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column("name", sa.Text(), nullable=False, comment="owner/name as watched"),
        sa.Column("action", sa.Text(), nullable=False, comment="add or remove"),
        sa.Column("reason", sa.Text(), nullable=True, comment="Why it is watched or not"),
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
        sa.CheckConstraint("action IN ('add', 'remove')", name=op.f("ck_watches_action")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_watches")),
        comment="The watch list as a history; the newest row of a name counts",
    )
    op.create_index(op.f("ix_watches_name"), "watches", ["name"], unique=False)
    op.create_table(
        "watermarks",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column(
            "repo_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="The repository",
        ),
        sa.Column(
            "watermark",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="Newest updated_at whose whole page is stored",
        ),
        sa.Column(
            "etag", sa.Text(), nullable=True, comment="The source's mark of the last complete crawl"
        ),
        sa.Column(
            "moved_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="When the crawl got there",
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
            ["repo_id"], ["repos.id"], name=op.f("fk_watermarks_repo_id_repos")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_watermarks")),
        comment="How far each repository is crawled; the newest row counts",
    )
    op.create_index(op.f("ix_watermarks_repo_id"), "watermarks", ["repo_id"], unique=False)
    op.create_table(
        "failures",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column("stage", sa.Text(), nullable=False, comment="The stage that failed"),
        sa.Column("subject", sa.Text(), nullable=False, comment="What it worked on"),
        sa.Column("error", sa.Text(), nullable=False, comment="One sentence, never a secret"),
        sa.Column(
            "failed_at", sa.DateTime(timezone=True), nullable=False, comment="When it failed"
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
        sa.PrimaryKeyConstraint("id", name=op.f("pk_failures")),
        comment="Failures of the machinery outside of leases; what failed stays due",
    )
    op.create_index(op.f("ix_failures_subject"), "failures", ["subject"], unique=False)
    op.create_table(
        "tombstones",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="Row id, in order of writing",
        ),
        sa.Column(
            "repo_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="The repository",
        ),
        sa.Column(
            "reason",
            sa.Text(),
            nullable=False,
            comment="Why it is gone: deleted, dmca, tos …; empty: it is back",
        ),
        sa.Column(
            "seen_at", sa.DateTime(timezone=True), nullable=False, comment="When the source said so"
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
            ["repo_id"], ["repos.id"], name=op.f("fk_tombstones_repo_id_repos")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tombstones")),
        comment="Repositories that may no longer be published; the newest row counts",
    )
    op.create_index(op.f("ix_tombstones_repo_id"), "tombstones", ["repo_id"], unique=False)


def downgrade() -> None:
    op.drop_table("tombstones")
    op.drop_table("failures")
    op.drop_table("watermarks")
    op.drop_table("watches")
    op.drop_table("repo_facts")
    op.drop_table("repos")
    op.drop_table("blobs")
