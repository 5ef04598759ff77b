"""Crawl: watched repository → watermark → merged pulls, base commit and diff → store."""

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from miner.crawl.keeping import Keeper
from miner.crawl.reading import Places, Reader
from miner.crawl.source import Source
from miner.crawl.storing import MirrorKeeper, Rows, Shelf, Tally
from miner.errors import (
    BadItemError,
    BlockedError,
    ConfigError,
    MinerError,
    NotFoundError,
    RateLimitedError,
    RetryableError,
)
from miner.model import EVER, Clock, Gate, IncompleteError, Repo, Stage, StageReport
from miner.progress import Progress
from validators.plural import counted

WHAT = "crawl"

OPEN_AT_MOST = 4
"""Repositories asked about and not yet stored: bounds what is held in memory."""

FAILURES_TOLD = 5


class Store(Rows, Places, Protocol):
    """What crawling reads and leaves. A watermark moves only after its rows are safe."""

    def watched(self) -> Sequence[str]:
        """Names of the watched repositories, in the order they were added."""
        ...

    def known(self, name: str) -> Repo | None:
        """A repository as last saved, by its present name, else by one it had before."""
        ...

    def save_repo(self, repo: Repo, *, now: datetime) -> None:
        """Insert or update by (source, database_id); a new name keeps the old rows.

        Ends a tombstone: the repository is there again.
        """
        ...

    def etag(self, repo: Repo) -> str | None:
        """The source's mark of the last complete crawl."""
        ...

    def record_failure(self, repo: str, *, error: str, now: datetime) -> None:
        """Append a failed attempt of the machinery; the repository stays due."""
        ...

    def bury(self, repo: Repo, *, reason: str, now: datetime) -> None:
        """Append a tombstone ("deleted", "dmca", "tos" …): exports leave the repository out."""
        ...


def crawl(  # noqa: PLR0913 - a stage is handed what it works with
    store: Store,
    *,
    source: Source,
    mirrors: MirrorKeeper,
    repos: Sequence[str],
    since: datetime | None,
    now: Clock,
    progress: Progress,
) -> StageReport:
    """Store what was merged in `repos` (none named: all watched) since each one's watermark.

    `since` says how far back a first crawl reads; a later one reads what is missing, where it is
    earlier than ever before, also when nothing moved. A repository that fails is recorded and
    stays due while the rest goes on; then IncompleteError. ConfigError when the token is wrong;
    the error itself when there is but one repository and trying again would not help. Safe to end
    at any point and to run again.
    """
    names = tuple(dict.fromkeys(repos)) or tuple(store.watched())
    started_at = now()
    tally = Tally()
    shelf = Shelf(store, mirrors=mirrors, credentials=source.git_credentials, now=now, tally=tally)
    reader = Reader(marks=store, source=source, progress=progress, what=WHAT)
    progress.start(WHAT, total=len(names))
    try:
        with Keeper(store, shelf=shelf, now=now) as keeper:
            crawl_pass = _Pass(
                store=store,
                source=source,
                shelf=shelf,
                keeper=keeper,
                reader=reader,
                tally=tally,
                now=now,
                progress=progress,
            )
            try:
                for name in names:
                    crawl_pass.ask(name, since=since)
            except MinerError:
                crawl_pass.settle_all()  # what was told so far is paid for
                raise
            crawl_pass.settle_all()
    finally:
        progress.end(WHAT)
    failures = crawl_pass.failures
    if len(names) == len(failures) == 1 and not isinstance(failures[0][1], RetryableError):
        raise failures[0][1]
    report = _report(tally, failed=len(failures), started_at=started_at, ended_at=now())
    if failures:
        raise IncompleteError(_told(failures), report=report)
    return report


def _report(tally: Tally, *, failed: int, started_at: datetime, ended_at: datetime) -> StageReport:
    counts = tally.counts
    return StageReport(
        stage=Stage.CRAWL,
        done=counts.get("stored", 0),
        rejected=counts.get(Gate.MALFORMED_PAYLOAD.value, 0),
        retried=failed,
        counts=counts,
        started_at=started_at,
        ended_at=ended_at,
    )


def _told(failures: Sequence[tuple[str, MinerError]]) -> str:
    """Which repositories could not be crawled, and why: the first few."""
    told = "; ".join(f"{name}: {error}" for name, error in failures[:FAILURES_TOLD])
    more = len(failures) - FAILURES_TOLD
    rest = f"; and {more} more" if more > 0 else ""
    return f"Not crawled, and still due: {told}{rest}"


@dataclass(frozen=True, slots=True)
class _Asked:
    """A repository that was asked about and is being stored."""

    name: str
    known: Repo | None
    start: datetime | None
    stored: Future[int]


@dataclass(slots=True, kw_only=True)
class _Pass:
    """One pass over some repositories: asks one after the other, settles what was stored."""

    store: Store
    source: Source
    shelf: Shelf
    keeper: Keeper
    reader: Reader
    tally: Tally
    now: Clock
    progress: Progress
    asked: deque[_Asked] = field(default_factory=deque)
    failures: list[tuple[str, MinerError]] = field(default_factory=list)

    def ask(self, name: str, *, since: datetime | None) -> None:
        """Ask about one repository; a failure is recorded.

        What concerns all repositories (a refused token, a limit past all waiting) is raised.
        """
        known = self.store.known(name)
        try:
            asked = self._ask(name, known, since)
        except MinerError as error:
            self._settled(name, self._judged(name, known, error))
            return
        if asked is None:
            self._settled(name, "nothing new")
        else:
            self.asked.append(asked)
        while len(self.asked) > OPEN_AT_MOST or (self.asked and self.asked[0].stored.done()):
            self._settle(self.asked.popleft())

    def settle_all(self) -> None:
        """Wait for everything that is being stored."""
        while self.asked:
            self._settle(self.asked.popleft())

    def _settle(self, asked: _Asked) -> None:
        try:
            window = f" updated since {asked.start:%Y-%m-%d %H:%M} UTC" if asked.start else ""
            note = f"{counted(asked.stored.result(), 'new pull')}{window}"
            self.tally.add("repositories_changed")
        except MinerError as error:
            note = self._judged(asked.name, asked.known, error)
        self._settled(asked.name, note)

    def _settled(self, name: str, note: str) -> None:
        self.progress.advance(WHAT, f"{name}: {note}")

    def _ask(self, name: str, known: Repo | None, since: datetime | None) -> _Asked | None:
        """The repository while it is being stored; None when nothing has moved."""
        mark: str | None = None
        if known is not None:
            etag = None if self.reader.is_unread(known, since) else self.store.etag(known)
            moved, mark = self.source.changed(known, etag=etag)
            if not moved:
                self._unchanged(known, mark if mark != etag else None)
                return None
        repo = self.source.repo(name)
        self.store.save_repo(repo, now=self.now())
        if known is None:
            _, mark = self.source.changed(repo, etag=None)
        errand, stored = self.keeper.begin(repo)
        try:
            start = self.reader.start(repo, since)
            newest, depth = self.reader.tell_all(errand, start, since)
        except MinerError:
            errand.abandon()
            wait([stored])  # what was told is paid for
            raise
        except BaseException:
            errand.abandon()
            raise
        errand.finish(watermark=newest, mark=self.source.sealed(repo, mark), depth=depth)
        told_since = start if depth is None else depth.back_to
        return _Asked(name, known, None if told_since == EVER else told_since, stored)

    def _unchanged(self, repo: Repo, mark: str | None) -> None:
        """Nothing moved; a lost mirror is made again, and a fresher mark kept."""
        self.shelf.ensure_mirror(repo)
        if mark is not None:
            self.store.advance(repo, watermark=None, etag=mark, now=self.now())
        self.tally.add("repositories_unchanged")

    def _judged(self, name: str, known: Repo | None, error: MinerError) -> str:
        """Record a failure or a tombstone; how it went in a few words."""
        if known is not None and isinstance(error, NotFoundError | BlockedError):
            reason = error.reason if isinstance(error, BlockedError) else "deleted"
            self.store.bury(known, reason=reason, now=self.now())
            self.tally.add("repositories_gone")
            return f"gone ({reason})"
        self.store.record_failure(name, error=str(error), now=self.now())
        self.failures.append((name, error))
        self.tally.add("failed")
        if isinstance(error, ConfigError | RateLimitedError) and not isinstance(
            error, NotFoundError
        ):
            raise error
        if not isinstance(error, RetryableError | BadItemError):
            raise error
        return f"failed: {error}"
