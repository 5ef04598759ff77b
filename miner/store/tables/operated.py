"""What the nightly pass and each stage reported."""

from sqlalchemy import BigInteger, Column

from miner.model import Stage
from miner.store.tables.base import (
    document,
    number,
    one_of,
    refers,
    table,
    text,
    time,
)

PASSES = table(
    "passes",
    refers("lease_id", "leases.id", "The lock under which it ran"),
    number("exit_code", "0, or the worst of its stages"),
    text("summary", "One line for people"),
    time("started_at", "Start"),
    time("ended_at", "End"),
    comment="Nightly rounds of all stages that came to their end",
)

STAGE_REPORTS = table(
    "stage_reports",
    text("stage", "Which stage"),
    Column("done", BigInteger(), nullable=False, comment="Items with a result"),
    Column("rejected", BigInteger(), nullable=False, comment="Items rejected"),
    Column("retried", BigInteger(), nullable=False, comment="Items that stay due"),
    document("document", "miner.model.StageReport"),
    time("started_at", "Start"),
    time("ended_at", "End"),
    one_of("stage", tuple(Stage)),
    comment="What each call of a stage did",
)
