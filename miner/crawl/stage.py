"""Crawl: watched repository → watermark → merged pulls, base commit and diff → store."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Protocol

from miner.crawl.base import resolve_with_diff
from miner.crawl.source import Fetched, Source, Unreadable
from miner.errors import (
    BadItemError,
    BlockedError,
    ConfigError,
    MinerError,
    NotFoundError,
    RateLimitedError,
    RetryableError,
)
from miner.git import Mirror
from miner.model import Base, Clock, Gate, PullRequest, Rejection, Repo, Stage, StageReport
from miner.progress import Progress

WHAT = "crawl"

OVERLAP = timedelta(hours=1)
"""Read again before the watermark: an index may lag behind the times it tells."""

PULLS_A_FETCH = 100
"""Pulls whose refs are fetched together: a night's pulls at once, a first crawl in steps."""

FAILURES_TOLD = 5


class Store(Protocol):
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

    def has_pull(self, repo: Repo, *, number: int, raw_digest: str) -> bool:
        """Is this very version of the pull stored already?"""
        ...

    def save_pull(self, pull: PullRequest, *, raw: bytes) -> None:
        """Append this version of the pull (same raw digest: nothing happens) and its payload."""
        ...

    def advance(
        self, repo: Repo, *, watermark: datetime | None, etag: str | None, now: datetime
    ) -> None:
        """Move the watermark after all rows up to it are stored; never backwards."""
        ...

    def record_failure(self, repo: str, *, error: str, now: datetime) -> None:
        """Append a failed attempt of the machinery; the repository stays due."""
        ...

    def reject(self, rejection: Rejection, *, raw: bytes) -> None:
        """Append a no of the crawl with the payload it is about; the same again: nothing."""
        ...

    def bury(self, repo: Repo, *, reason: str, now: datetime) -> None:
        """Append a tombstone ("deleted", "dmca", "tos" …): exports leave the repository out."""
        ...


class MirrorKeeper(Protocol):
    """Who has the repositories: `miner.git.Mirrors`, or a replay's."""

    def open(self, name: str) -> Mirror:
        """The mirror of "owner/name". ConfigError when there is none."""
        ...

    def update(
        self,
        name: str,
        clone_url: str,
        *,
        refs: Sequence[str] = (),
        credentials: tuple[str, str] | None = None,
    ) -> Mirror:
        """Create or fetch: all branches and tags, and those of `refs` that the server has."""
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

    `since` counts only where there is no watermark yet. A repository that fails is recorded and
    stays due while the rest goes on; then IncompleteError. ConfigError when the token or the only
    named repository is wrong. Safe to end at any point and to run again.
    """
    names = tuple(repos) or tuple(store.watched())
    crawl_pass = _Pass(store, source, mirrors, now)
    started_at = now()
    progress.start(WHAT, total=len(names))
    try:
        for name in names:
            note = crawl_pass.crawl(name, since=since, progress=progress)
            progress.advance(WHAT, f"{name}: {note}")
    finally:
        progress.end(WHAT)
    report = crawl_pass.report(started_at)
    if not crawl_pass.failures:
        return report
    if len(names) == 1 and isinstance(crawl_pass.failures[0][1], ConfigError):
        raise crawl_pass.failures[0][1]
    raise IncompleteError(crawl_pass.failures, report=report)


class IncompleteError(RetryableError):
    """Some repositories could not be crawled; what was stored is in `report`."""

    def __init__(self, failures: Sequence[tuple[str, MinerError]], *, report: StageReport) -> None:
        told = "; ".join(f"{name}: {error}" for name, error in failures[:FAILURES_TOLD])
        more = len(failures) - FAILURES_TOLD
        rest = f"; and {more} more" if more > 0 else ""
        super().__init__(f"{len(failures)} repositories stay due. {told}{rest}")
        self.report = report


class _Pass:
    """One pass over some repositories: what it did and what failed."""

    def __init__(self, store: Store, source: Source, mirrors: MirrorKeeper, now: Clock) -> None:
        self._store = store
        self._source = source
        self._mirrors = mirrors
        self._now = now
        self._counts: Counter[str] = Counter()
        self.failures: list[tuple[str, MinerError]] = []

    def report(self, started_at: datetime) -> StageReport:
        """What happened so far."""
        return StageReport(
            stage=Stage.CRAWL,
            done=self._counts["stored"],
            rejected=self._counts[Gate.MALFORMED_PAYLOAD.value],
            retried=len(self.failures),
            counts=dict(self._counts),
            started_at=started_at,
            ended_at=self._now(),
        )

    def crawl(self, name: str, *, since: datetime | None, progress: Progress) -> str:
        """One repository, with its failures recorded; says in a few words how it went.

        What concerns all repositories (a refused token, a limit past all waiting) is raised.
        """
        known = self._store.known(name)
        try:
            return self._crawl(name, known, since, progress)
        except (NotFoundError, BlockedError) as error:
            if known is None:
                return self._failed(name, error)
            reason = error.reason if isinstance(error, BlockedError) else "deleted"
            self._store.bury(known, reason=reason, now=self._now())
            self._counts["repositories_gone"] += 1
            return f"gone ({reason})"
        except (ConfigError, RateLimitedError) as error:
            self._failed(name, error)
            raise
        except (RetryableError, BadItemError) as error:
            return self._failed(name, error)

    def _failed(self, name: str, error: MinerError) -> str:
        self._store.record_failure(name, error=str(error), now=self._now())
        self.failures.append((name, error))
        self._counts["failed"] += 1
        return f"failed: {error}"

    def _crawl(
        self, name: str, known: Repo | None, since: datetime | None, progress: Progress
    ) -> str:
        mark: str | None = None
        if known is not None:
            etag = self._store.etag(known)
            moved, mark = self._source.changed(known, etag=etag)
            if not moved:
                return self._unchanged(known, mark if mark != etag else None)
        repo = self._source.repo(name)
        self._store.save_repo(repo, now=self._now())
        if known is None:
            _, mark = self._source.changed(repo, etag=None)
        watermark = self._store.watermark(repo)
        start = since if watermark is None else watermark - OVERLAP
        newest: datetime | None = None
        stored = 0
        for batch in _batches(self._source.pulls(repo, since=start)):
            stored += self._store_batch(repo, batch)
            newest = newest or _newest(batch)
            progress.advance(WHAT, f"{name}: {stored} new pulls", by=0)
        self._store.advance(repo, watermark=newest, etag=mark, now=self._now())
        self._counts["repositories_changed"] += 1
        return f"{stored} new pulls"

    def _unchanged(self, repo: Repo, mark: str | None) -> str:
        """Nothing moved; a lost mirror is made again, and a fresher mark kept."""
        try:
            self._mirrors.open(repo.name)
        except ConfigError:  # there is none
            self._update_mirror(repo, refs=())
        if mark is not None:
            self._store.advance(repo, watermark=None, etag=mark, now=self._now())
        self._counts["repositories_unchanged"] += 1
        return "nothing new"

    def _store_batch(self, repo: Repo, batch: Sequence[Fetched | Unreadable]) -> int:
        """Store what is new of a batch; how many that were."""
        fresh = []
        for item in batch:
            if isinstance(item, Unreadable):
                self._reject(item)
            elif self._store.has_pull(
                repo, number=item.pull.number, raw_digest=item.pull.raw_digest
            ):
                self._counts["known"] += 1
            else:
                fresh.append(item)
        if not fresh:
            return 0
        refs = [f"refs/pull/{item.pull.number}/head" for item in fresh]
        with self._update_mirror(repo, refs=refs).kept_open() as mirror:
            for item in fresh:
                pull = based(item.pull, mirror)
                self._store.save_pull(pull, raw=item.raw)
                self._counts["stored"] += 1
                self._counts["base_unresolved"] += pull.base.commit is None
        return len(fresh)

    def _update_mirror(self, repo: Repo, *, refs: Sequence[str]) -> Mirror:
        return self._mirrors.update(
            repo.name, repo.clone_url, refs=refs, credentials=self._source.git_credentials()
        )

    def _reject(self, item: Unreadable) -> None:
        rejection = Rejection(
            repo=item.repo,
            pull_number=item.number,
            stage=Stage.CRAWL,
            gate=Gate.MALFORMED_PAYLOAD.value,
            detail=item.error,
            made_at=self._now(),
        )
        self._store.reject(rejection, raw=item.raw)
        self._counts[Gate.MALFORMED_PAYLOAD.value] += 1


def based(pull: PullRequest, mirror: Mirror) -> PullRequest:
    """The pull with its base and diff; a base that git cannot read is unresolved, with why."""
    try:
        base, diff = resolve_with_diff(mirror, pull)
    except BadItemError as error:
        unresolved = Base(
            commit=None,
            merge_tree=pull.merge_commit,
            method=None,
            rule="unresolved",
            detail=str(error),
        )
        return replace(pull, base=unresolved, diff=b"")
    return replace(pull, base=base, diff=diff)


def _newest(batch: Sequence[Fetched | Unreadable]) -> datetime | None:
    """The first pull's update: what moves while we page is newer, and found next time."""
    return next((item.pull.updated_at for item in batch if isinstance(item, Fetched)), None)


def _batches(
    items: Iterable[Fetched | Unreadable],
) -> Iterator[Sequence[Fetched | Unreadable]]:
    rest = iter(items)
    while batch := list(islice(rest, PULLS_A_FETCH)):
        yield batch
