"""Runs the migrations on the connection that `miner.store.migrate` hands over."""

from alembic import context
from miner.store.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
    transactional_ddl=True,
    transaction_per_migration=False,
    compare_type=True,
    compare_server_default=True,
)
with context.begin_transaction():
    context.run_migrations()
