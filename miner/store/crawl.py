"""What crawling reads and leaves: miner.crawl.stage.Store."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, select

from miner.errors import FatalError
from miner.model import Depth, LinkStrength, Place, PullRequest, Rejection, Repo, Stage
from miner.store import blobs, documents
from miner.store.connection import Sql
from miner.store.newest import is_newest_fact, repo_ids
from miner.store.split import add_rejection
from miner.store.tables import (
    CRAWL_PLACES,
    FAILURES,
    PULL_REVERTS,
    PULLS,
    REJECTIONS,
    REPO_FACTS,
    REPOS,
    TOMBSTONES,
    WATCHES,
    WATERMARKS,
)

FRESH = timedelta(days=7)
"""How long a repository's stars and bytes of code may be old."""


class CrawlStore:
    """Repositories, pulls, watermarks. Rows first, watermark after."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def watched(self) -> Sequence[str]:
        """Names of the watched repositories, in the order they were added."""
        with self._sql.read() as connection:
            rows = connection.execute(select(WATCHES).order_by(WATCHES.c.id)).all()
        names: dict[str, str] = {}
        for row in rows:
            if row.action == "add":
                names.setdefault(row.name.lower(), row.name)
            else:
                names.pop(row.name.lower(), None)
        return tuple(names.values())

    def known(self, name: str) -> Repo | None:
        """A repository as last saved, by its present name, else by one it had before."""
        facts = select(REPO_FACTS.c.document).where(is_newest_fact())
        present = facts.where(REPO_FACTS.c.name_lower == name.lower())
        former = facts.where(REPO_FACTS.c.repo_id.in_(repo_ids(name)))
        with self._sql.read() as connection:
            for query in (present, former):
                order = query.order_by(REPO_FACTS.c.id.desc()).limit(1)
                document = connection.execute(order).scalar()
                if document is not None:
                    return documents.REPO.load(document)
        return None

    def save_repo(self, repo: Repo, *, now: datetime) -> None:
        """Append what is known of a repository, when it differs from what was known last.

        Stars and bytes of code differ every day: they alone make a row once in FRESH. Ends a
        tombstone: the repository is there again.
        """
        with self._sql.write() as connection:
            repo_id = self._repo_id(connection, repo.source, repo.database_id)
            self._set_tombstone(connection, repo_id, reason="", now=now)
            newest = (
                select(REPO_FACTS.c.document, REPO_FACTS.c.seen_at)
                .where(REPO_FACTS.c.repo_id == repo_id, is_newest_fact())
                .limit(1)
            )
            row = connection.execute(newest).first()
            if row is not None and _says_the_same(repo, row.document, age=now - row.seen_at):
                return
            self._sql.add(
                connection,
                REPO_FACTS,
                repo_id=repo_id,
                name=repo.name,
                default_branch=repo.default_branch,
                language=repo.language,
                license=repo.license,
                is_archived=repo.is_archived,
                document=documents.REPO.dump(repo),
                seen_at=now,
                name_lower=repo.name.lower(),
            )

    def watermark(self, repo: Repo) -> datetime | None:
        """`updated_at` of the newest pull whose whole page was stored."""
        return self._mark(repo).watermark

    def etag(self, repo: Repo) -> str | None:
        """The source's mark of the last complete crawl."""
        return self._mark(repo).etag

    def depth(self, repo: Repo) -> Depth:
        """How far back the repository was read."""
        return self._mark(repo).depth

    def stored_pulls(self, repo: Repo, raw_digests: Sequence[str]) -> Set[tuple[int, str]]:
        """(number, raw digest) of the versions among these that are stored already."""
        query = (
            select(PULLS.c.number, PULLS.c.raw_digest)
            .join(REPOS, REPOS.c.id == PULLS.c.repo_id)
            .where(
                REPOS.c.source == repo.source,
                REPOS.c.database_id == repo.database_id,
                PULLS.c.raw_digest.in_(sorted(raw_digests)),
            )
        )
        with self._sql.read() as connection:
            return {(row.number, row.raw_digest) for row in connection.execute(query)}

    def save_pull(self, pull: PullRequest, *, raw: bytes) -> None:
        """`save_pulls` of one."""
        self.save_pulls([(pull, raw)])

    def save_pulls(self, pulls: Sequence[tuple[PullRequest, bytes]]) -> None:
        """Append these versions of one repository's pulls and their payloads, all or none.

        A version that is there stays.
        """
        if not pulls:
            return
        bundle = blobs.Bundle()
        rows = [_pull_row(pull, raw, bundle) for pull, raw in pulls]
        reverts = {(pull.number, pull.raw_digest): pull.reverts for pull, _ in pulls}
        first = pulls[0][0]
        with self._sql.write() as connection:
            bundle.save(self._sql, connection)
            repo_id = self._repo_id(connection, first.source, first.repo_id)
            fixed = {"repo_id": repo_id, **self._sql.stamp()}
            statement = self._sql.insert(PULLS).on_conflict_do_nothing()
            new = connection.execute(
                statement.returning(PULLS.c.id, PULLS.c.number, PULLS.c.raw_digest),
                [row | fixed for row in rows],
            ).all()
            for row in new:
                for number in reverts[row.number, row.raw_digest]:
                    self._sql.add(
                        connection, PULL_REVERTS, pull_id=row.id, repo_id=repo_id, number=number
                    )

    def place(self, repo: Repo) -> Place | None:
        """Where a crawl that was not completed stopped; None after a complete one."""
        query = (
            select(CRAWL_PLACES.c.after, CRAWL_PLACES.c.newest)
            .join(REPOS, REPOS.c.id == CRAWL_PLACES.c.repo_id)
            .where(REPOS.c.source == repo.source, REPOS.c.database_id == repo.database_id)
        )
        with self._sql.read() as connection:
            row = connection.execute(query).first()
        return None if row is None else Place(after=row.after, newest=row.newest)

    def reach(self, repo: Repo, place: Place, *, now: datetime) -> None:
        """Keep where a crawl that ends here is to go on, in place of what was kept before."""
        with self._sql.write() as connection:
            repo_id = self._repo_id(connection, repo.source, repo.database_id)
            there = {"after": place.after, "newest": place.newest, "reached_at": now}
            row = {"repo_id": repo_id, **there, **self._sql.stamp()}
            statement = self._sql.insert(CRAWL_PLACES).values(row)
            connection.execute(
                statement.on_conflict_do_update(index_elements=[CRAWL_PLACES.c.repo_id], set_=there)
            )

    def deepen(self, repo: Repo, depth: Depth, *, now: datetime) -> None:
        """Keep how far back the repository is read; every row before it is stored."""
        with self._sql.write() as connection:
            repo_id = self._repo_id(connection, repo.source, repo.database_id)
            old = _newest_mark(connection, repo_id)
            self._set_mark(connection, repo_id, old, replace(old, depth=depth), now=now)

    def advance(
        self,
        repo: Repo,
        *,
        watermark: datetime | None,
        etag: str | None,
        depth: Depth | None = None,
        now: datetime,
    ) -> None:
        """Move the watermark, never backwards; `watermark` and `depth` None leave theirs as it is.

        The crawl is complete: its place goes.
        """
        with self._sql.write() as connection:
            repo_id = self._repo_id(connection, repo.source, repo.database_id)
            connection.execute(delete(CRAWL_PLACES).where(CRAWL_PLACES.c.repo_id == repo_id))
            old = _newest_mark(connection, repo_id)
            newest = max(filter(None, (watermark, old.watermark)), default=None)
            new = _Mark(watermark=newest, etag=etag, depth=depth or old.depth)
            self._set_mark(connection, repo_id, old, new, now=now)

    def _set_mark(
        self, connection: Connection, repo_id: int, old: "_Mark", new: "_Mark", *, now: datetime
    ) -> None:
        if new != old:
            self._sql.add(
                connection,
                WATERMARKS,
                repo_id=repo_id,
                watermark=new.watermark,
                etag=new.etag,
                moved_at=now,
                back_to=new.depth.back_to,
                back_after=new.depth.after,
            )

    def record_failure(self, repo: str, *, error: str, now: datetime) -> None:
        """Append a failed attempt of the machinery; the repository stays due."""
        with self._sql.write() as connection:
            self._sql.add(
                connection,
                FAILURES,
                stage=Stage.CRAWL,
                subject=repo,
                error=error,
                failed_at=now,
            )

    def reject(self, rejection: Rejection, *, raw: bytes) -> None:
        """Append a no of the crawl with the payload it is about; the same again: nothing."""
        bundle = blobs.Bundle()
        sha256 = bundle.add(raw)
        same = select(REJECTIONS.c.id).where(
            REJECTIONS.c.stage == rejection.stage,
            REJECTIONS.c.repo == rejection.repo,
            REJECTIONS.c.pull_number == rejection.pull_number,
            REJECTIONS.c.gate == rejection.gate,
            REJECTIONS.c.raw == sha256,
        )
        with self._sql.write() as connection:
            if connection.execute(same).first() is None:
                bundle.save(self._sql, connection)
                add_rejection(self._sql, connection, rejection, raw=sha256)

    def bury(self, repo: Repo, *, reason: str, now: datetime) -> None:
        """Append a tombstone ("deleted", "dmca", "tos" …): exports leave the repository out."""
        with self._sql.write() as connection:
            repo_id = self._repo_id(connection, repo.source, repo.database_id)
            self._set_tombstone(connection, repo_id, reason=reason, now=now)

    def _set_tombstone(
        self, connection: Connection, repo_id: int, *, reason: str, now: datetime
    ) -> None:
        newest = (
            select(TOMBSTONES.c.reason)
            .where(TOMBSTONES.c.repo_id == repo_id)
            .order_by(TOMBSTONES.c.id.desc())
            .limit(1)
        )
        if (connection.execute(newest).scalar() or "") != reason:
            self._sql.add(connection, TOMBSTONES, repo_id=repo_id, reason=reason, seen_at=now)

    def _repo_id(self, connection: Connection, source: str, database_id: int) -> int:
        query = select(REPOS.c.id).where(
            REPOS.c.source == source, REPOS.c.database_id == database_id
        )
        found = connection.execute(query).scalar()
        if found is None:
            self._sql.add_new(connection, REPOS, source=source, database_id=database_id)
            found = connection.execute(query).scalar()
        if found is None:
            raise FatalError(f"The repository {source} {database_id} could not be stored.")
        return int(found)

    def _mark(self, repo: Repo) -> "_Mark":
        query = select(REPOS.c.id).where(
            REPOS.c.source == repo.source, REPOS.c.database_id == repo.database_id
        )
        with self._sql.read() as connection:
            repo_id = connection.execute(query).scalar()
            return _Mark() if repo_id is None else _newest_mark(connection, repo_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    """How far a repository is crawled, in both directions."""

    watermark: datetime | None = None
    etag: str | None = None
    depth: Depth = field(default_factory=Depth)


def _newest_mark(connection: Connection, repo_id: int) -> _Mark:
    query = (
        select(WATERMARKS)
        .where(WATERMARKS.c.repo_id == repo_id)
        .order_by(WATERMARKS.c.id.desc())
        .limit(1)
    )
    row = connection.execute(query).first()
    if row is None:
        return _Mark()
    depth = Depth(back_to=row.back_to, after=row.back_after)
    return _Mark(watermark=row.watermark, etag=row.etag, depth=depth)


def _pull_row(pull: PullRequest, raw: bytes, bundle: blobs.Bundle) -> dict[str, object]:
    return {
        "number": pull.number,
        "raw_digest": pull.raw_digest,
        "merged_at": pull.merged_at,
        "updated_at": pull.updated_at,
        "linked": any(link.strength is LinkStrength.CLOSES for link in pull.links),
        "diff": bundle.add(pull.diff),
        "raw": bundle.add(raw),
        "document": documents.PULL.dump(replace(pull, diff=b"")),
    }


def _says_the_same(repo: Repo, document: str, *, age: timedelta) -> bool:
    known = documents.REPO.load(document)
    if age < FRESH:
        known = replace(known, stars=repo.stars, languages=repo.languages)
    return known == repo
