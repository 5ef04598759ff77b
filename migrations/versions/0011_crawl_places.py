"""Places: a crawl that was not completed goes on where it stopped.

Revision 0011, after 0010.
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "crawl_places",
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
            "after", sa.Text(), nullable=False, comment="The source's own mark of where to go on"
        ),
        sa.Column(
            "newest",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="Newest update when the crawl began: what is newer was not read",
        ),
        sa.Column(
            "reached_at",
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
            ["repo_id"], ["repos.id"], name=op.f("fk_crawl_places_repo_id_repos")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crawl_places")),
        sa.UniqueConstraint("repo_id", name=op.f("uq_crawl_places_repo_id")),
        comment="Where a crawl that is not complete goes on: one row, updated, and gone in the end",
    )


def downgrade() -> None:
    op.drop_table("crawl_places")
