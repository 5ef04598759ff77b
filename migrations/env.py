"""Runs the migrations on the connection that `miner.store.migrate` hands over."""

from typing import Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext

from miner.store.tables import METADATA
from miner.store.tables.base import Utc, Words


def plain_type(kind: str, item: object, _context: AutogenContext) -> str | Literal[False]:
    """Migrations name SQLAlchemy's own types: ours may change, what was migrated may not."""
    if kind == "type" and isinstance(item, Utc):
        return "sa.DateTime(timezone=True)"
    if kind == "type" and isinstance(item, Words):
        return "sa.Text()"
    return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
    render_item=plain_type,
    transactional_ddl=True,
    transaction_per_migration=False,
    compare_type=True,
    compare_server_default=True,
)
with context.begin_transaction():
    context.run_migrations()
