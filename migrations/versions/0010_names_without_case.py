"""Names without case: a repository is found by name through an index.

Revision 0010, after 0009.
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("repo_facts") as batch:
        batch.add_column(
            sa.Column(
                "name_lower",
                sa.Text(),
                nullable=False,
                server_default="",
                comment="The name in lower case, to be found by",
            )
        )
    op.execute("UPDATE repo_facts SET name_lower = lower(name)")
    with op.batch_alter_table("repo_facts") as batch:
        batch.alter_column(
            "name_lower",
            existing_type=sa.Text(),
            existing_nullable=False,
            existing_comment="The name in lower case, to be found by",
            server_default=None,
        )
        batch.create_index("ix_repo_facts_name_lower", ["name_lower"])
        batch.drop_index("ix_repo_facts_name")


def downgrade() -> None:
    with op.batch_alter_table("repo_facts") as batch:
        batch.create_index("ix_repo_facts_name", ["name"])
        batch.drop_index("ix_repo_facts_name_lower")
        batch.drop_column("name_lower")
