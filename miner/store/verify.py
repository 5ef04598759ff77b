"""What verification reads and leaves: miner.verify.stage.Store."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Row, and_, func, or_, select

from miner.errors import FatalError
from miner.model import Candidate, Examined, StoredRecipe
from miner.store import blobs, documents, leases
from miner.store.connection import Sql, anew
from miner.store.examinations import Packed, pack
from miner.store.newest import repo_ids
from miner.store.split import add_rejection, task_digest
from miner.store.tables import CANDIDATES, LEASES, RECIPES, REPO_FACTS

LEARNED = frozenset({"repaired", "advisor"})
"""Origins worth remembering: what a tree proposes by itself is proposed again for the next one."""


class VerifyStore:
    """Leases, recipes, and results that only their holder may write."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def claim(  # noqa: PLR0913  (for whom, of what, and when)
        self,
        *,
        holder: str,
        version: int,
        policy: str,
        limit: int,
        repo: str | None,
        now: datetime,
        unread: Callable[[str, FatalError], object] = lambda _name, _error: None,
    ) -> Sequence[Candidate]:
        """Lease due candidates, in one transaction; see `leases.claim`.

        What is stored of one may be damaged: its lease ends with that error, `unread` is told its
        instance id and the error, and others are leased instead.
        """
        wanted = leases.Wanted(version=version, policy=policy, repo=repo, limit=limit)
        clock = self._sql.going_on(now)  # else a lease could have run out when it is stored

        def claim(connection: Connection) -> tuple[Sequence[Candidate], dict[str, FatalError]]:
            damaged: dict[str, FatalError] = {}
            at = clock()
            while ids := leases.claim(self._sql, connection, wanted, holder=holder, now=at):
                found, errors = _readable(connection, ids)
                for candidate_id, error in errors.items():
                    damaged[_end_unread(connection, candidate_id, holder, error, at)] = error
                if found:
                    return found, damaged
            return (), damaged

        # persist: else what is under way would be given up with the pass
        claimed, damaged = self._sql.persist(claim)
        for instance_id, error in damaged.items():
            unread(instance_id, error)
        return claimed

    @anew
    def due(
        self, *, version: int, policy: str, limit: int, repo: str | None, now: datetime
    ) -> Sequence[Candidate]:
        """What `claim` would lease, in its order; nothing is leased."""
        wanted = leases.Wanted(version=version, policy=policy, repo=repo, limit=limit)
        with self._sql.read() as connection:
            return _candidates(connection, leases.due(connection, wanted, now=now))

    def count_due(
        self, *, version: int, policy: str, limit: int, repo: str | None, now: datetime
    ) -> int:
        """How many `claim` could lease until `limit` is reached, once lost leases are ended."""
        wanted = leases.Wanted(version=version, policy=policy, repo=repo, limit=limit)
        return self._sql.transact(lambda connection: leases.count_due(connection, wanted, now=now))

    @anew
    def count_unanswered(
        self, *, version: int, policy: str, merged: tuple[datetime, datetime]
    ) -> int:
        """How many tasks of that time of merging (until before its end) wait for their answer."""
        wanted = leases.Wanted(version=version, policy=policy)
        with self._sql.read() as connection:
            return leases.count_unanswered(connection, wanted, merged=merged)

    @anew
    def heartbeat(self, candidate: Candidate, *, holder: str, now: datetime) -> bool:
        """Prolong the lease; False when it is no longer ours."""
        with self._sql.write() as connection:
            statement = (
                LEASES.update()
                .where(_ours(candidate, holder), LEASES.c.lease_until > now)
                .values(heartbeat_at=now, lease_until=leases.until(now))
            )
            return connection.execute(statement).rowcount == 1

    def recipes(self, repo: str) -> Sequence[StoredRecipe]:
        """Stored recipes of a repository: people's first, then learned ones, newest first."""
        return read_recipes(self._sql, repo)

    def save_examined(self, examined: Examined, *, holder: str, now: datetime) -> bool:
        """Write all of it and end the lease, in one transaction and only if it is still ours."""
        packed = pack(examined)

        def save(connection: Connection) -> bool:
            lease = _end(connection, examined.candidate, holder, now)
            if lease is None:
                return False
            packed.bundle.save(self._sql, connection)
            return self._save(connection, examined, packed, lease, now)

        return self._sql.persist(save)

    @anew
    def release(
        self, candidate: Candidate, *, holder: str, error: str | None, now: datetime
    ) -> None:
        """End the lease without a result. An error counts as a failure and backs off."""
        with self._sql.write() as connection:
            row = connection.execute(select(LEASES).where(_ours(candidate, holder))).first()
            if row is None:
                return
            values: dict[str, object] = {"ended_at": now, "error": error}
            if error is not None:
                failed = 1 + _failures(connection, row)
                values["not_before"] = leases.back_off(now, failed=failed)
            _set(connection, row, values)

    def _save(
        self,
        connection: Connection,
        examined: Examined,
        packed: Packed,
        lease: Row[*tuple[object, ...]],
        now: datetime,
    ) -> bool:
        examination_id = packed.save(
            self._sql, connection, task=task_digest(examined.candidate), lease=lease, now=now
        )
        if examination_id is None:
            return False
        if examined.rejection is not None:
            add_rejection(self._sql, connection, examined.rejection, examination_id=examination_id)
        self._learn(connection, examined)
        return True

    def _learn(self, connection: Connection, examined: Examined) -> None:
        instance = examined.instance
        if instance is None or instance.environment.recipe.origin not in LEARNED:
            return
        repo = examined.candidate.repo
        self._sql.alone(connection, "learn", repo)
        document = documents.RECIPE.dump(instance.environment.recipe)
        query = (
            select(RECIPES.c.document)
            .where(RECIPES.c.repo == repo, RECIPES.c.author.is_(None))
            .order_by(RECIPES.c.id.desc())
            .limit(1)
        )
        if connection.execute(query).scalar() != document:
            self._sql.add(
                connection,
                RECIPES,
                repo=repo,
                environment_key=instance.environment.key,
                base_image=instance.environment.base_image.digest,
                base_commit=examined.candidate.base_commit,
                author=None,
                document=document,
            )


@anew
def read_recipes(sql: Sql, repo: str) -> Sequence[StoredRecipe]:
    """Recipes set or learned under any name of the repository; people's first, newest first."""
    names = select(REPO_FACTS.c.name_lower).where(REPO_FACTS.c.repo_id.in_(repo_ids(repo)))
    query = (
        select(RECIPES)
        .where(
            or_(func.lower(RECIPES.c.repo) == repo.lower(), func.lower(RECIPES.c.repo).in_(names))
        )
        .order_by(RECIPES.c.author.is_(None), RECIPES.c.id.desc())
    )
    with sql.read() as connection:
        rows = connection.execute(query).all()
    return tuple(
        StoredRecipe(
            repo=row.repo,
            recipe=documents.RECIPE.load(row.document),
            environment_key=row.environment_key,
            base_image=row.base_image,
            base_commit=row.base_commit,
            author=row.author,
            made_at=row.made_at,
        )
        for row in rows
    )


def _candidates(connection: Connection, ids: Sequence[int]) -> tuple[Candidate, ...]:
    query = select(
        CANDIDATES.c.id, CANDIDATES.c.document, CANDIDATES.c.patch, CANDIDATES.c.test_patch
    ).where(CANDIDATES.c.id.in_(ids))
    rows = {row.id: row for row in connection.execute(query)}
    patches = blobs.read(
        connection, (name for row in rows.values() for name in (row.patch, row.test_patch))
    )
    return tuple(
        replace(
            documents.CANDIDATE.load(rows[wanted].document),
            patch=patches[rows[wanted].patch],
            test_patch=patches[rows[wanted].test_patch],
        )
        for wanted in ids
    )


def _readable(
    connection: Connection, ids: Sequence[int]
) -> tuple[Sequence[Candidate], dict[int, FatalError]]:
    """Those that can be read, in the order of the ids, and by id what is wrong with the others."""
    with suppress(FatalError):
        return _candidates(connection, ids), {}
    found: list[Candidate] = []
    damaged: dict[int, FatalError] = {}
    for each in ids:
        try:
            found += _candidates(connection, [each])
        except FatalError as error:
            damaged[each] = error
    return found, damaged


def _end_unread(
    connection: Connection, candidate_id: int, holder: str, error: FatalError, now: datetime
) -> str:
    """End the lease of a candidate that cannot be read, as failed; its instance id.

    It waits from the first failure on: this is no hiccup, and others come first.
    """
    query = (
        select(LEASES, CANDIDATES.c.instance_id)
        .join(CANDIDATES, CANDIDATES.c.id == LEASES.c.candidate_id)
        .where(
            LEASES.c.kind == leases.VERIFY,
            LEASES.c.candidate_id == candidate_id,
            LEASES.c.holder == holder,
            LEASES.c.ended_at.is_(None),
        )
    )
    row = connection.execute(query).one()
    wait = leases.back_off(now, failed=2 + _failures(connection, row))
    _set(connection, row, {"ended_at": now, "error": str(error), "not_before": wait})
    return str(row.instance_id)


def _set(
    connection: Connection, row: Row[*tuple[object, ...]], values: Mapping[str, object]
) -> None:
    connection.execute(LEASES.update().where(LEASES.c.id == row.id).values(values))


def _ours(candidate: Candidate, holder: str) -> ColumnElement[bool]:
    return and_(
        LEASES.c.kind == leases.VERIFY,
        LEASES.c.subject == task_digest(candidate),
        LEASES.c.holder == holder,
        LEASES.c.ended_at.is_(None),
    )


def _end(
    connection: Connection, candidate: Candidate, holder: str, now: datetime
) -> Row[*tuple[object, ...]] | None:
    """The fence: ends our lease, or tells that it is no longer ours."""
    statement = (
        LEASES.update()
        .where(_ours(candidate, holder), LEASES.c.lease_until > now)
        .values(ended_at=now)
        .returning(*LEASES.c)
    )
    return connection.execute(statement).first()


def _failures(connection: Connection, row: Row[*tuple[object, ...]]) -> int:
    same = ("kind", "subject", "version", "policy", "recipe_id", "request_id")
    query = (
        select(func.count())
        .select_from(LEASES)
        .where(
            *(LEASES.c[name] == getattr(row, name) for name in same), LEASES.c.error.is_not(None)
        )
    )
    return int(connection.execute(query).scalar_one())
