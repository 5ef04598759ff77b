"""A crawl store in memory, that can be killed at any write."""
# ruff: noqa: ARG002 - a store's methods take what the Protocol hands them

from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from miner.model import Depth, Place, PullRequest, Rejection, Repo

FETCHED_AT = datetime(2000, 1, 1, tzinfo=UTC)


class KilledError(BaseException):
    """As abrupt as kill -9: nothing of ours catches it."""


@dataclass
class MemoryStore:
    """What a crawl left. `kill_at`: the write before which the process dies (counted from 1)."""

    names: list[str] = field(default_factory=list)
    repos: dict[int, Repo] = field(default_factory=dict)
    former: dict[str, int] = field(default_factory=dict)
    pulls: dict[tuple[int, int, str], PullRequest] = field(default_factory=dict)
    raws: dict[str, bytes] = field(default_factory=dict)
    marks: dict[int, tuple[datetime | None, str | None]] = field(default_factory=dict)
    places: dict[int, Place] = field(default_factory=dict)
    depths: dict[int, Depth] = field(default_factory=dict)
    failures: list[tuple[str, str]] = field(default_factory=list)
    rejections: dict[tuple[str, int, str], Rejection] = field(default_factory=dict)
    tombs: dict[int, str] = field(default_factory=dict)
    writes: int = 0
    kill_at: int | None = None

    def interrupt(self) -> None:
        """Nobody waits for anything."""

    def _write(self) -> None:
        self.writes += 1
        if self.writes == self.kill_at:
            raise KilledError

    def content(self) -> object:
        """What must be equal after a rerun: times of fetching, failures and cursors aside."""
        back_to = {number: depth.back_to for number, depth in self.depths.items()}
        pulls = {key: replace(pull, fetched_at=FETCHED_AT) for key, pull in self.pulls.items()}
        made = {k: replace(r, made_at=FETCHED_AT) for k, r in self.rejections.items()}
        return self.repos, pulls, self.raws, self.marks, back_to, self.places, made, self.tombs

    def watched(self) -> Sequence[str]:
        """See Store."""
        return self.names

    def known(self, name: str) -> Repo | None:
        """See Store."""
        number = self.former.get(name.lower())
        return None if number is None else self.repos[number]

    def save_repo(self, repo: Repo, *, now: datetime) -> None:
        """See Store."""
        self._write()
        self.repos[repo.database_id] = repo
        self.former[repo.name.lower()] = repo.database_id
        self.tombs.pop(repo.database_id, None)

    def watermark(self, repo: Repo) -> datetime | None:
        """See Store."""
        return self.marks.get(repo.database_id, (None, None))[0]

    def etag(self, repo: Repo) -> str | None:
        """See Store."""
        return self.marks.get(repo.database_id, (None, None))[1]

    def stored_pulls(self, repo: Repo, raw_digests: Sequence[str]) -> Set[tuple[int, str]]:
        """See Store."""
        keys = {(number, digest) for of, number, digest in self.pulls if of == repo.database_id}
        return {key for key in keys if key[1] in raw_digests}

    def save_pulls(self, pulls: Sequence[tuple[PullRequest, bytes]]) -> None:
        """See Store."""
        self._write()
        for pull, raw in pulls:
            self.pulls.setdefault((pull.repo_id, pull.number, pull.raw_digest), pull)
            self.raws[pull.raw_digest] = raw

    def place(self, repo: Repo) -> Place | None:
        """See Store."""
        return self.places.get(repo.database_id)

    def reach(self, repo: Repo, place: Place, *, now: datetime) -> None:
        """See Store."""
        self._write()
        self.places[repo.database_id] = place

    def depth(self, repo: Repo) -> Depth:
        """See Store."""
        return self.depths.get(repo.database_id, Depth())

    def deepen(self, repo: Repo, depth: Depth, *, now: datetime) -> None:
        """See Store."""
        self._write()
        self.depths[repo.database_id] = depth

    def advance(
        self,
        repo: Repo,
        *,
        watermark: datetime | None,
        etag: str | None,
        depth: Depth | None = None,
        now: datetime,
    ) -> None:
        """See Store."""
        self._write()
        self.depths[repo.database_id] = depth or self.depth(repo)
        old = self.watermark(repo)
        newest = max((m for m in (watermark, old) if m), default=None)
        self.marks[repo.database_id] = (newest, etag)
        self.places.pop(repo.database_id, None)

    def record_failure(self, repo: str, *, error: str, now: datetime) -> None:
        """See Store."""
        self._write()
        self.failures.append((repo, error))

    def reject(self, rejection: Rejection, *, raw: bytes) -> None:
        """See Store."""
        self._write()
        key = (rejection.repo, rejection.pull_number, rejection.detail)
        self.rejections.setdefault(key, rejection)

    def bury(self, repo: Repo, *, reason: str, now: datetime) -> None:
        """See Store."""
        if self.tombs.get(repo.database_id) != reason:
            self._write()
            self.tombs[repo.database_id] = reason
