"""Crawl: watched repository → watermark → merged pulls, base commit and diff → store."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from miner.crawl.depth import OVERLAP, lacks
from miner.crawl.keeping import Batch, Errand, Keeper, MirrorKeeper, Rows, Tally
from miner.crawl.paging import Trail, batches, newest_of, placeless
from miner.crawl.source import Page, Source, Told
from miner.errors import (
    BadItemError,
    BlockedError,
    ConfigError,
    MinerError,
    NotFoundError,
    RateLimitedError,
    RetryableError,
)
from miner.model import EVER, Clock, Depth, Gate, Place, Repo, Stage, StageReport
from miner.progress import Progress

WHAT = "crawl"

OPEN_AT_MOST = 4
"""Repositories asked about and not yet stored: bounds what is held in memory."""

FAILURES_TOLD = 5


class Store(Rows, Protocol):
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

    def watermark(self, repo: Repo) -> datetime | None:
        """`updated_at` of the newest pull whose whole page was stored."""
        ...

    def etag(self, repo: Repo) -> str | None:
        """The source's mark of the last complete crawl."""
        ...

    def place(self, repo: Repo) -> Place | None:
        """Where a crawl that was not completed stopped; None after a complete one."""
        ...

    def depth(self, repo: Repo) -> Depth:
        """How far back the repository was read."""
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
    progress.start(WHAT, total=len(names))
    try:
        with Keeper(
            store, mirrors=mirrors, credentials=source.git_credentials, now=now, tally=tally
        ) as keeper:
            crawl_pass = _Pass(store, source, keeper, tally, now, progress)
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
    report = StageReport(
        stage=Stage.CRAWL,
        done=tally.counts.get("stored", 0),
        rejected=tally.counts.get(Gate.MALFORMED_PAYLOAD.value, 0),
        retried=len(failures),
        counts=tally.counts,
        started_at=started_at,
        ended_at=now(),
    )
    if not failures:
        return report
    if len(names) == 1 and not isinstance(failures[0][1], RetryableError):
        raise failures[0][1]
    raise IncompleteError(failures, report=report)


class IncompleteError(RetryableError):
    """Some repositories could not be crawled; what was stored is in `report`."""

    def __init__(self, failures: Sequence[tuple[str, MinerError]], *, report: StageReport) -> None:
        told = "; ".join(f"{name}: {error}" for name, error in failures[:FAILURES_TOLD])
        more = len(failures) - FAILURES_TOLD
        rest = f"; and {more} more" if more > 0 else ""
        super().__init__(f"Not crawled, and still due: {told}{rest}")
        self.report = report


@dataclass(frozen=True, slots=True)
class _Asked:
    """A repository that was asked about and is being stored."""

    name: str
    known: Repo | None
    start: datetime | None
    stored: Future[int]


@dataclass(slots=True)
class _Pass:
    """One pass over some repositories: asks one after the other, settles what was stored."""

    _store: Store
    _source: Source
    _keeper: Keeper
    _tally: Tally
    _now: Clock
    _progress: Progress
    _asked: deque[_Asked] = field(default_factory=deque)
    failures: list[tuple[str, MinerError]] = field(default_factory=list)

    def ask(self, name: str, *, since: datetime | None) -> None:
        """Ask about one repository; a failure is recorded.

        What concerns all repositories (a refused token, a limit past all waiting) is raised.
        """
        known = self._store.known(name)
        try:
            asked = self._ask(name, known, since)
        except MinerError as error:
            self._settled(name, self._judged(name, known, error))
            return
        if asked is None:
            self._settled(name, "nothing new")
        else:
            self._asked.append(asked)
        while len(self._asked) > OPEN_AT_MOST or (self._asked and self._asked[0].stored.done()):
            self._settle(self._asked.popleft())

    def settle_all(self) -> None:
        """Wait for everything that is being stored."""
        while self._asked:
            self._settle(self._asked.popleft())

    def _settle(self, asked: _Asked) -> None:
        try:
            window = f" updated since {asked.start:%Y-%m-%d %H:%M} UTC" if asked.start else ""
            note = f"{asked.stored.result()} new pulls{window}"
            self._tally.add("repositories_changed")
        except MinerError as error:
            note = self._judged(asked.name, asked.known, error)
        self._settled(asked.name, note)

    def _settled(self, name: str, note: str) -> None:
        self._progress.advance(WHAT, f"{name}: {note}")

    def _ask(self, name: str, known: Repo | None, since: datetime | None) -> _Asked | None:
        """The repository while it is being stored; None when nothing has moved."""
        mark: str | None = None
        if known is not None:
            etag = None if self._is_unread(known, since) else self._store.etag(known)
            moved, mark = self._source.changed(known, etag=etag)
            if not moved:
                self._unchanged(known, mark if mark != etag else None)
                return None
        repo = self._source.repo(name)
        self._store.save_repo(repo, now=self._now())
        if known is None:
            _, mark = self._source.changed(repo, etag=None)
        errand, stored = self._keeper.begin(repo)
        try:
            start = self._start(repo, since)
            newest, depth = self._tell_all(errand, start, since)
        except MinerError:
            errand.abandon()
            wait([stored])  # what was told is paid for
            raise
        except BaseException:
            errand.abandon()
            raise
        errand.finish(watermark=newest, mark=self._source.sealed(repo, mark), depth=depth)
        told_since = start if depth is None else depth.back_to
        return _Asked(name, known, None if told_since == EVER else told_since, stored)

    def _is_unread(self, repo: Repo, since: datetime | None) -> bool:
        """Is there something to read though nothing moved?

        What an ended crawl left, or what an earlier, later `since` left out.
        """
        return self._store.place(repo) is not None or lacks(self._store, repo, since=since)

    def _start(self, repo: Repo, since: datetime | None) -> datetime | None:
        """Where the reading of what is new ends."""
        watermark = self._store.watermark(repo)
        if watermark is not None:
            return watermark - OVERLAP
        empty_since = self._store.depth(repo).back_to  # an earlier crawl found nothing so late
        return min(filter(None, (since, empty_since)), default=None)

    def _tell_all(
        self, errand: Errand, start: datetime | None, since: datetime | None
    ) -> tuple[datetime | None, Depth | None]:
        """Hand over what is new, then what is missing further back.

        The newest update, and how far back the repository is read then; None: as far as before.
        """
        repo = errand.repo
        watermark, before = self._store.watermark(repo), self._store.depth(repo)
        is_lacking = lacks(self._store, repo, since=since)
        trail = Trail()
        newest = self._tell(errand, start, trail)
        if watermark is None:
            return newest, Depth(back_to=start or EVER, after=trail.last or before.after)
        if not is_lacking or errand.failed:
            return newest, None
        trail = Trail(before.after)
        rest = trail.along(self._source.pages(repo, since=since, after=before.after))
        for items, after in self._read(repo, rest):
            depth = replace(before, after=after) if after else None
            if not errand.put(Batch(items, depth=depth)):
                break
        return newest, Depth(back_to=since, after=trail.last)

    def _tell(self, errand: Errand, start: datetime | None, trail: Trail) -> datetime | None:
        """Hand over everything since `start`; the newest update.

        A crawl that was not completed goes on where it stopped, after what was updated since.
        """
        place = self._store.place(errand.repo)
        if place is None:
            pages = self._source.pages(errand.repo, since=start)
            return self._hand_over(errand, trail.along(pages))
        since_then = place.newest - OVERLAP
        top = since_then if start is None else max(start, since_then)
        moved = placeless(self._source.pages(errand.repo, since=top))
        newest = max(self._hand_over(errand, moved) or place.newest, place.newest)
        if errand.failed:
            return newest
        trail.last = place.after
        rest = self._source.pages(errand.repo, since=start, after=place.after)
        return self._hand_over(errand, trail.along(rest), newest=newest)

    def _hand_over(
        self, errand: Errand, pages: Iterable[Page], *, newest: datetime | None = None
    ) -> datetime | None:
        """Hand over all pages; the newest update, which is their first one unless it is given."""
        for items, after in self._read(errand.repo, pages):
            newest = newest or newest_of(items)
            place = Place(after=after, newest=newest) if after and newest else None
            if not errand.put(Batch(items, place)):
                break
        return newest

    def _read(
        self, repo: Repo, pages: Iterable[Page]
    ) -> Iterator[tuple[Sequence[Told], str | None]]:
        """Batches, each of them told."""
        read = 0
        for items, after in batches(pages):
            read += len(items)
            self._progress.advance(WHAT, f"{repo.name}: {read} pulls read", by=0)
            yield items, after

    def _unchanged(self, repo: Repo, mark: str | None) -> None:
        """Nothing moved; a lost mirror is made again, and a fresher mark kept."""
        self._keeper.ensure_mirror(repo)
        if mark is not None:
            self._store.advance(repo, watermark=None, etag=mark, now=self._now())
        self._tally.add("repositories_unchanged")

    def _judged(self, name: str, known: Repo | None, error: MinerError) -> str:
        """Record a failure or a tombstone; how it went in a few words."""
        if known is not None and isinstance(error, NotFoundError | BlockedError):
            reason = error.reason if isinstance(error, BlockedError) else "deleted"
            self._store.bury(known, reason=reason, now=self._now())
            self._tally.add("repositories_gone")
            return f"gone ({reason})"
        self._store.record_failure(name, error=str(error), now=self._now())
        self.failures.append((name, error))
        self._tally.add("failed")
        if isinstance(error, ConfigError | RateLimitedError) and not isinstance(
            error, NotFoundError
        ):
            raise error
        if not isinstance(error, RetryableError | BadItemError):
            raise error
        return f"failed: {error}"
