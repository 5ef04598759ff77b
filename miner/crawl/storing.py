"""A batch of told pulls → rows: what is new, its commits from the mirror, its base and diff."""

import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from datetime import datetime
from typing import Protocol

from miner.crawl.base import based
from miner.crawl.source import Fetched, Told, Unreadable
from miner.errors import BadItemError, ConfigError, NotFoundError
from miner.git import Mirror
from miner.model import Clock, Depth, Gate, Place, PullRequest, Rejection, Repo, Stage

ROWS_TOGETHER = 25
BYTES_TOGETHER = 4 << 20
"""What one transaction takes at most: beginning one costs more than a pull's rows, and what is not
yet stored is held in memory."""

_OID = re.compile(r"[0-9a-f]{40}")


class Rows(Protocol):
    """What storing reads and leaves."""

    def interrupt(self) -> None:
        """What other threads ask of the database now fails: it may be silent for minutes."""
        ...

    def stored_pulls(self, repo: Repo, raw_digests: Sequence[str]) -> Set[tuple[int, str]]:
        """(number, raw digest) of the versions among these that are stored already."""
        ...

    def save_pulls(self, pulls: Sequence[tuple[PullRequest, bytes]]) -> None:
        """Append these versions of one repository's pulls with their payloads, all or none.

        A version that is there stays as it is.
        """
        ...

    def reject(self, rejection: Rejection, *, raw: bytes) -> None:
        """Append a no of the crawl with the payload it is about; the same again: nothing."""
        ...

    def reach(self, repo: Repo, place: Place, *, now: datetime) -> None:
        """Keep where a crawl that ends here is to go on; every row before it is stored."""
        ...

    def deepen(self, repo: Repo, depth: Depth, *, now: datetime) -> None:
        """Keep how far back the repository is read; every row before it is stored."""
        ...

    def advance(
        self,
        repo: Repo,
        *,
        watermark: datetime | None,
        etag: str | None,
        depth: Depth | None = None,
        now: datetime,
    ) -> None:
        """Move the watermark after all rows up to it are stored; never backwards.

        The crawl is complete: no place is kept any more. `depth` None leaves it as it is.
        """
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


class Tally:
    """Counts by outcome, from several threads."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def add(self, outcome: str, by: int = 1) -> None:
        """`by` more of it."""
        with self._lock:
            self._counts[outcome] += by

    @property
    def counts(self) -> Mapping[str, int]:
        """So far."""
        with self._lock:
            return dict(self._counts)


class Shelf:
    """Where batches are put: the store, and the mirrors that complete what was told."""

    def __init__(
        self,
        store: Rows,
        *,
        mirrors: MirrorKeeper,
        credentials: Callable[[], tuple[str, str] | None],
        now: Clock,
        tally: Tally,
    ) -> None:
        self._store = store
        self._mirrors = mirrors
        self._credentials = credentials
        self._now = now
        self._tally = tally

    def ensure_mirror(self, repo: Repo) -> None:
        """Make the mirror when there is none."""
        try:
            self._mirrors.open(repo.name)
        except ConfigError:
            self._update_mirror(repo, refs=())

    def put(self, repo: Repo, items: Sequence[Told], *, stopped: Callable[[], bool]) -> int:
        """Store what is new of a batch; how many that were.

        Once `stopped`, it ends before the next pull.
        """
        fresh = self._new(repo, [item for item in items if isinstance(item, Fetched)])
        for item in items:
            if isinstance(item, Unreadable):
                self._reject(item)
        if not fresh:
            return 0
        refs = [f"refs/pull/{item.pull.number}/head" for item in fresh]
        with self._update_mirror(repo, refs=refs).kept_open() as mirror:
            lost = _lost_merges(mirror, fresh)
            if not lost:
                return self._save(mirror, fresh, stopped)
        with self._update_mirror(repo, refs=lost).kept_open() as mirror:
            return self._save(mirror, fresh, stopped)

    def _save(self, mirror: Mirror, fresh: Sequence[Fetched], stopped: Callable[[], bool]) -> int:
        """A few pulls a transaction; how many were stored before the end was called."""
        stored = 0
        rows: list[tuple[PullRequest, bytes]] = []
        size = 0
        for item in fresh:
            if stopped():
                break
            pull = based(item.pull, mirror)
            rows.append((pull, item.raw))
            size += len(pull.diff) + len(item.raw)
            if len(rows) == ROWS_TOGETHER or size > BYTES_TOGETHER:
                stored += self._save_rows(rows)
                rows, size = [], 0
        return stored + self._save_rows(rows)

    def _save_rows(self, rows: Sequence[tuple[PullRequest, bytes]]) -> int:
        if rows:
            self._store.save_pulls(rows)
        self._tally.add("stored", by=len(rows))
        unresolved = sum(pull.base.commit is None for pull, _ in rows)
        self._tally.add("base_unresolved", by=unresolved)
        return len(rows)

    def _new(self, repo: Repo, items: Sequence[Fetched]) -> Sequence[Fetched]:
        """Those whose very version is not stored yet."""
        known = self._store.stored_pulls(repo, [item.pull.raw_digest for item in items])
        fresh = [i for i in items if (i.pull.number, i.pull.raw_digest) not in known]
        if len(fresh) < len(items):
            self._tally.add("known", by=len(items) - len(fresh))
        return fresh

    def _update_mirror(self, repo: Repo, *, refs: Sequence[str]) -> Mirror:
        try:
            return self._mirrors.update(
                repo.name, repo.clone_url, refs=refs, credentials=self._credentials()
            )
        except NotFoundError as error:  # the API has the repository: no reason to bury it
            raise BadItemError(str(error)) from error

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
        self._tally.add(Gate.MALFORMED_PAYLOAD.value)


def _lost_merges(mirror: Mirror, fresh: Sequence[Fetched]) -> Sequence[str]:
    """Merge commits that no branch holds any more."""
    merges = [item.pull.merge_commit for item in fresh]
    return mirror.missing([oid for oid in merges if _OID.fullmatch(oid)])
