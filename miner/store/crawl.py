"""What crawling reads and leaves: miner.crawl.stage.Store."""

from collections.abc import Sequence, Set
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, select

from miner.model import Depth, LinkStrength, Place, PullRequest, Rejection, Repo, Stage
from miner.store import blobs, documents, marks, repositories
from miner.store.connection import Sql, anew
from miner.store.newest import is_newest_fact, repo_ids
from miner.store.split import add_rejection
from miner.store.tables import (
    FAILURES,
    PULL_REVERTS,
    PULLS,
    REJECTIONS,
    REPO_FACTS,
    REPOS,
    WATCHES,
)


class CrawlStore:
    """Repositories, pulls, watermarks. Rows first, watermark after."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def interrupt(self) -> None:
        """What other threads ask of the database now fails: it may be silent for minutes."""
        self._sql.interrupt()

    @anew
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

    @anew
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

    @anew
    def save_repo(self, repo: Repo, *, now: datetime) -> None:
        """Append what is known of a repository, when it differs from what was known last.

        Ends a tombstone: the repository is there again.
        """
        with self._sql.write() as connection:
            repo_id = self._row_id(connection, repo)
            repositories.set_tombstone(self._sql, connection, repo_id, reason="", now=now)
            repositories.add_facts(self._sql, connection, repo_id, repo, now=now)

    def watermark(self, repo: Repo) -> datetime | None:
        """`updated_at` of the newest pull whose whole page was stored."""
        return self._mark(repo).watermark

    def etag(self, repo: Repo) -> str | None:
        """The source's mark of the last complete crawl."""
        return self._mark(repo).etag

    def depth(self, repo: Repo) -> Depth:
        """How far back the repository was read."""
        return self._mark(repo).depth

    @anew
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

        def save(connection: Connection) -> None:
            bundle.save(self._sql, connection)
            repo_id = repositories.row_id(
                self._sql, connection, source=first.source, database_id=first.repo_id
            )
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

        self._sql.transact(save)

    @anew
    def place(self, repo: Repo) -> Place | None:
        """Where a crawl that was not completed stopped; None after a complete one."""
        with self._sql.read() as connection:
            repo_id = _found_id(connection, repo)
            return None if repo_id is None else marks.open_place(connection, repo_id)

    @anew
    def reach(self, repo: Repo, place: Place, *, now: datetime) -> None:
        """Keep where a crawl that ends here is to go on, in place of what was kept before."""
        with self._sql.write() as connection:
            repo_id = self._row_id(connection, repo)
            marks.set_place(self._sql, connection, repo_id, place, now=now)

    @anew
    def deepen(self, repo: Repo, depth: Depth, *, now: datetime) -> None:
        """Keep how far back the repository is read; every row before it is stored."""
        with self._sql.write() as connection:
            repo_id = self._row_id(connection, repo)
            old = marks.newest_mark(connection, repo_id)
            new = replace(old, depth=marks.deeper(old.depth, depth))
            marks.set_mark(self._sql, connection, repo_id, new, now=now)

    @anew
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
        Nor does the depth shrink: a crawl that began before another's end knows less than that.

        The crawl is complete: its place goes.
        """
        with self._sql.write() as connection:
            repo_id = self._row_id(connection, repo)
            marks.end_place(connection, repo_id)
            old = marks.newest_mark(connection, repo_id)
            newest = max(filter(None, (watermark, old.watermark)), default=None)
            reached = old.depth if depth is None else marks.deeper(old.depth, depth)
            new = marks.Mark(watermark=newest, etag=etag, depth=reached)
            marks.set_mark(self._sql, connection, repo_id, new, now=now)

    @anew
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

    @anew
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
            self._sql.alone(connection, "reject", rejection.repo, rejection.pull_number)
            if connection.execute(same).first() is None:
                bundle.save(self._sql, connection)
                add_rejection(self._sql, connection, rejection, raw=sha256)

    @anew
    def bury(self, repo: Repo, *, reason: str, now: datetime) -> None:
        """Append a tombstone ("deleted", "dmca", "tos" …): exports leave the repository out."""
        with self._sql.write() as connection:
            repo_id = self._row_id(connection, repo)
            repositories.set_tombstone(self._sql, connection, repo_id, reason=reason, now=now)

    def _row_id(self, connection: Connection, repo: Repo) -> int:
        """The repository's row, for one crawl at a time to add to what is known of it."""
        self._sql.alone(connection, "repo", repo.source, repo.database_id)
        return repositories.row_id(
            self._sql, connection, source=repo.source, database_id=repo.database_id
        )

    @anew
    def _mark(self, repo: Repo) -> marks.Mark:
        with self._sql.read() as connection:
            repo_id = _found_id(connection, repo)
            return marks.Mark() if repo_id is None else marks.newest_mark(connection, repo_id)


def _found_id(connection: Connection, repo: Repo) -> int | None:
    return repositories.found_id(connection, source=repo.source, database_id=repo.database_id)


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
