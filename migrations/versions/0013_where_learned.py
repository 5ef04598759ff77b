"""Where a recipe was learned, so that it is told which commits would have the same environment.

Revision 0013, after 0012.
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("recipes") as batch:
        batch.add_column(
            sa.Column(
                "base_image",
                sa.Text(),
                nullable=True,
                comment="Content id of the base image it was learned on",
            )
        )
        batch.add_column(
            sa.Column(
                "base_commit", sa.Text(), nullable=True, comment="The commit it was learned at"
            )
        )


def downgrade() -> None:
    with op.batch_alter_table("recipes") as batch:
        batch.drop_column("base_commit")
        batch.drop_column("base_image")
