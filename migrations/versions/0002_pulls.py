"""Pulls.

Revision 0002, after 0001.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pulls",
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
            "number", sa.BigInteger(), nullable=False, comment="The pull's number in its repository"
        ),
        sa.Column(
            "raw_digest",
            sa.Text(),
            nullable=False,
            comment="Digest of the payload: names this version of the pull",
        ),
        sa.Column(
            "merged_at", sa.DateTime(timezone=True), nullable=False, comment="When it was merged"
        ),
        sa.Column(
            "updated_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="The source's last change",
        ),
        sa.Column(
            "linked",
            sa.Boolean(create_constraint=True, name="linked"),
            nullable=False,
            comment="A link says that it closes an issue",
        ),
        sa.Column(
            "diff",
            sa.String(length=64),
            nullable=False,
            comment="git diff from base to merge, bytes",
        ),
        sa.Column("raw", sa.String(length=64), nullable=False, comment="The payload as received"),
        sa.Column(
            "document",
            sa.Text(),
            nullable=False,
            comment="miner.model.PullRequest without its diff",
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
        sa.ForeignKeyConstraint(["diff"], ["blobs.sha256"], name=op.f("fk_pulls_diff_blobs")),
        sa.ForeignKeyConstraint(["raw"], ["blobs.sha256"], name=op.f("fk_pulls_raw_blobs")),
        sa.ForeignKeyConstraint(["repo_id"], ["repos.id"], name=op.f("fk_pulls_repo_id_repos")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pulls")),
        sa.UniqueConstraint(
            "repo_id", "number", "raw_digest", name=op.f("uq_pulls_repo_id_number_raw_digest")
        ),
        comment="Merged pulls, one row a version; the newest counts",
    )
    op.create_table(
        "pull_reverts",
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
            comment="The pull that undoes another",
        ),
        sa.Column("repo_id", sa.BigInteger(), nullable=False, comment="Its repository"),
        sa.Column(
            "number", sa.BigInteger(), nullable=False, comment="The number of the pull it undoes"
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
            ["pull_id"], ["pulls.id"], name=op.f("fk_pull_reverts_pull_id_pulls")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pull_reverts")),
        comment="Which pull undoes which",
    )
    op.create_index(op.f("ix_pull_reverts_pull_id"), "pull_reverts", ["pull_id"], unique=False)
    op.create_index(
        op.f("ix_pull_reverts_repo_id_number"), "pull_reverts", ["repo_id", "number"], unique=False
    )


def downgrade() -> None:
    op.drop_table("pull_reverts")
    op.drop_table("pulls")
