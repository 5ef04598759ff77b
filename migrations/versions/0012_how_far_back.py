"""How far back a repository is read, so that a wider --since later reads what is missing.

Revision 0012, after 0011. The comment of recipes.environment_key described an option that is gone.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_KEY = "Of the environment it was learned in; none: set by a person"
_KEY_BEFORE = "Only for this environment; none: for the repository"


def upgrade() -> None:
    with op.batch_alter_table("watermarks") as batch:
        batch.add_column(
            sa.Column(
                "back_to",
                sa.DateTime(timezone=True),
                nullable=True,
                comment="All pulls updated since then are stored; none: not known",
            )
        )
        batch.add_column(
            sa.Column(
                "back_after",
                sa.Text(),
                nullable=True,
                comment="The source's own mark of where to read on further back",
            )
        )
    _comment(_KEY_BEFORE, _KEY)


def downgrade() -> None:
    _comment(_KEY, _KEY_BEFORE)
    with op.batch_alter_table("watermarks") as batch:
        batch.drop_column("back_after")
        batch.drop_column("back_to")


def _comment(before: str, after: str) -> None:
    """SQLite keeps no comments."""
    if op.get_context().dialect.name == "sqlite":
        return
    op.alter_column(
        "recipes",
        "environment_key",
        existing_type=sa.Text(),
        existing_nullable=True,
        existing_comment=before,
        comment=after,
    )
