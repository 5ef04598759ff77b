"""All the SQL: one database behind one narrow store a consumer.

Why rows are never edited: what a stage found is evidence. A pull that changes, a policy that is
set, a verifier that improves leave new rows; the newest counts and the older ones tell why it was
otherwise. So every stage may be killed at any moment and run twice: what is there already stays,
what is missing is due. Only leases and the place of a crawl under way are updated: they say what is
going on now.

    connection.py  how transactions begin             tables/       every table and column
    postgres.py, sqlite.py  how each of them is reached
    sentences.py   what a driver's error means
    migrate.py     Alembic from code                  documents.py  frozen values ↔ JSON
    ownership.py   another program's database is left alone
    repositories.py, marks.py  what is known of a repository, and how far it is crawled
    blobs.py       content-addressed bytes            newest.py     what counts now
    leases.py      claims                             examinations.py, results.py  evidence ↔ rows
    crawl.py split.py verify.py publish.py evaluate.py admin.py     one a consumer
    funnel.py evidence.py status.py passes.py                       views and nightly passes
"""

from types import TracebackType
from typing import Self

from miner.model import Clock
from miner.store.admin import AdminStore, StoredPolicy, Watch
from miner.store.connection import Sql, utc_now
from miner.store.crawl import CrawlStore
from miner.store.evaluate import EvaluateStore, KeptRun
from miner.store.evidence import Evidence, StoredExamination
from miner.store.funnel import Funnel
from miner.store.migrate import check, check_open, downgrade, upgrade
from miner.store.passes import PassStore, StoredPass
from miner.store.publish import AssessStore, PublishStore
from miner.store.split import SplitStore
from miner.store.status import Parked, Status, Work
from miner.store.verify import VerifyStore

__all__ = [
    "AdminStore",
    "AssessStore",
    "CrawlStore",
    "Database",
    "EvaluateStore",
    "Evidence",
    "Funnel",
    "KeptRun",
    "Parked",
    "PassStore",
    "PublishStore",
    "SplitStore",
    "Status",
    "StoredExamination",
    "StoredPass",
    "StoredPolicy",
    "VerifyStore",
    "Watch",
    "Work",
    "check",
    "downgrade",
    "open_store",
    "upgrade",
]


class Database:
    """An open database. Its stores may be used by several threads at once."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        self.crawl = CrawlStore(sql)
        self.split = SplitStore(sql)
        self.verify = VerifyStore(sql)
        self.assess = AssessStore(sql)
        self.publish = PublishStore(sql)
        self.evaluate = EvaluateStore(sql)
        self.admin = AdminStore(sql)

    @property
    def where(self) -> str:
        """Its name for people, never with a password."""
        return self._sql.where

    def close(self) -> None:
        """Close all connections."""
        self._sql.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_store(url: str, *, clock: Clock = utc_now) -> Database:
    """Open a database that fits this version.

    `clock` dates the rows (`made_at`). SchemaOutOfDateError: run `miner db upgrade` (which also
    makes a new one); ConfigError: the URL or the file is wrong; RetryableError: it cannot be
    reached now. No message holds a password.
    """
    sql = Sql(url, clock=clock)
    try:
        check_open(sql)
    except BaseException:
        sql.close()
        raise
    return Database(sql)
