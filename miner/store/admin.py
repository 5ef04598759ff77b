"""What people set and look at: watch list, recipes, gate policies, requests, funnel, evidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, exists, func, select

from miner.model import Stage, StageReport, StoredRecipe
from miner.store import documents
from miner.store.connection import Sql, anew
from miner.store.evidence import Evidence, evidence, worst_candidate
from miner.store.funnel import Funnel, funnel
from miner.store.leases import VERIFY
from miner.store.passes import PassStore, StoredPass
from miner.store.publish import current_instances
from miner.store.status import Status, status
from miner.store.tables import (
    CANDIDATES,
    EXAMINATIONS,
    GATE_POLICIES,
    INSTANCES,
    RECIPES,
    REPO_FACTS,
    REQUESTS,
    SNAPSHOT_MEMBERS,
    WATCHES,
)
from miner.store.verify import read_recipes
from validators.model import Recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """A watched repository."""

    name: str
    reason: str | None
    added_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPolicy:
    """A gate policy as it was set. `document` is its JSON."""

    digest: str
    document: str
    author: str | None
    made_at: datetime


class AdminStore:
    """Rows that people leave, and views over everyone's rows."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        self.passes = PassStore(sql)

    def watch(self, name: str, *, reason: str | None = None) -> bool:
        """Put a repository on the watch list; False when it is on it."""
        return self._set_watch(name, action="add", reason=reason)

    def unwatch(self, name: str, *, reason: str | None = None) -> bool:
        """Take it off; its rows stay. False when it is not on the list."""
        return self._set_watch(name, action="remove", reason=reason)

    @anew
    def leave_out(self, name: str, *, reason: str) -> bool:
        """Record why a found repository is not watched; False when it is, or for the same reason.

        The row is the one that `unwatch` leaves: the newest of a name counts.
        """
        newest = (
            select(WATCHES.c.action, WATCHES.c.reason)
            .where(func.lower(WATCHES.c.name) == name.lower())
            .order_by(WATCHES.c.id.desc())
            .limit(1)
        )
        with self._sql.write() as connection:
            self._sql.alone(connection, "watch", name.lower())
            row = connection.execute(newest).one_or_none()
            if row is not None and (row.action == "add" or row.reason == reason):
                return False
            self._sql.add(connection, WATCHES, name=name, action="remove", reason=reason)
            return True

    def watches(self) -> Sequence[Watch]:
        """The watch list, in the order of adding."""
        return self._watches()[0]

    def left_out(self) -> Sequence[Watch]:
        """Repositories that are not watched, with the reason (`added_at`: since when)."""
        return self._watches()[1]

    @anew
    def _watches(self) -> tuple[Sequence[Watch], Sequence[Watch]]:
        with self._sql.read() as connection:
            rows = connection.execute(select(WATCHES).order_by(WATCHES.c.id)).all()
        on: dict[str, Watch] = {}
        off: dict[str, Watch] = {}
        for row in rows:
            key = row.name.lower()
            watch = Watch(name=row.name, reason=row.reason, added_at=row.made_at)
            if row.action == "add":
                on.setdefault(key, watch)
                off.pop(key, None)
            else:
                on.pop(key, None)
                off[key] = watch
        return tuple(on.values()), tuple(off.values())

    @anew
    def repo_names(self) -> Sequence[str]:
        """Every name under which a repository was crawled or watched, sorted."""
        with self._sql.read() as connection:
            crawled = connection.execute(select(REPO_FACTS.c.name).distinct()).scalars().all()
            watched = connection.execute(select(WATCHES.c.name).distinct()).scalars().all()
        return sorted({*crawled, *watched})

    @anew
    def set_recipe(self, repo: str, recipe: Recipe, *, author: str) -> None:
        """A person's recipe: the newest wins, and the repository's tasks are due again."""
        with self._sql.write() as connection:
            self._sql.add(
                connection,
                RECIPES,
                repo=repo,
                environment_key=None,
                base_image=None,
                base_commit=None,
                author=author,
                document=documents.RECIPE.dump(recipe),
            )

    def recipes(self, repo: str) -> Sequence[StoredRecipe]:
        """People's first, then learned ones, newest first."""
        return read_recipes(self._sql, repo)

    @anew
    def set_gate_policy(self, digest: str, document: str, *, author: str | None) -> bool:
        """Make a gate policy the current one: all pulls are due for splitting. False: it is."""
        with self._sql.write() as connection:
            self._sql.alone(connection, "gate policy")
            newest = select(GATE_POLICIES.c.digest).order_by(GATE_POLICIES.c.id.desc()).limit(1)
            if connection.execute(newest).scalar() == digest:
                return False
            self._sql.add(
                connection, GATE_POLICIES, digest=digest, document=document, author=author
            )
            return True

    @anew
    def gate_policy(self) -> StoredPolicy | None:
        """The current gate policy; None when nobody set one."""
        query = select(GATE_POLICIES).order_by(GATE_POLICIES.c.id.desc()).limit(1)
        with self._sql.read() as connection:
            row = connection.execute(query).first()
        if row is None:
            return None
        return StoredPolicy(
            digest=row.digest, document=row.document, author=row.author, made_at=row.made_at
        )

    @anew
    def request(self, kind: str, subject: str, *, author: str | None, reason: str) -> int:
        """Ask for work beyond what is due: "verify" an instance id once more. The request's id."""
        with self._sql.write() as connection:
            return self._sql.add(
                connection, REQUESTS, kind=kind, subject=subject, author=author, reason=reason
            )

    @anew
    def revalidate(self, *, examined_before: datetime, limit: int, reason: str) -> int:
        """Ask once more for instances whose newest answer is older; how many were asked for.

        Oldest first; those that are asked for already are left out. New work goes before them.
        """
        open_request = exists().where(
            REQUESTS.c.kind == VERIFY,
            REQUESTS.c.subject == CANDIDATES.c.instance_id,
            REQUESTS.c.id > EXAMINATIONS.c.request_id,
        )
        query = (
            current_instances()
            .where(EXAMINATIONS.c.examined_at < examined_before, ~open_request)
            .order_by(EXAMINATIONS.c.examined_at, CANDIDATES.c.instance_id)
            .limit(limit)
        )
        with self._sql.write() as connection:
            self._sql.alone(connection, "revalidate")
            ids = [row.instance_id for row in connection.execute(query).all()]
            for instance_id in ids:
                self._sql.add(
                    connection,
                    REQUESTS,
                    kind=VERIFY,
                    subject=instance_id,
                    author=None,
                    reason=reason,
                )
        return len(ids)

    def funnel(self, *, repo: str | None = None) -> Funnel:
        """Counts by stage and reason over the newest version of each pull."""
        return funnel(self._sql, repo=repo)

    def evidence(self, instance_id: str) -> Evidence | None:
        """Everything stored about an instance id; None when it is unknown."""
        return evidence(self._sql, instance_id)

    def worst_candidate(self, repo: str) -> str | None:
        """The id of a repository's candidate whose recipe needs a hand the most."""
        return worst_candidate(self._sql, repo)

    def status(self) -> Status:
        """Live work, parked tasks, failures."""
        return status(self._sql)

    def save_report(self, report: StageReport) -> None:
        """Append a stage's report."""
        self.passes.save_report(report)

    def reports(self, *, stage: Stage | None = None, limit: int = 20) -> Sequence[StageReport]:
        """The newest reports, newest first."""
        return self.passes.reports(stage=stage, limit=limit)

    def last_passes(self, *, limit: int = 10) -> Sequence[StoredPass]:
        """The newest passes, newest first."""
        return self.passes.passes(limit=limit)

    @anew
    def instance_images(self) -> frozenset[str]:
        """Content ids of the images of all instances: of those that count now, and of every one
        whose id is in a frozen snapshot."""
        now = current_instances().with_only_columns(INSTANCES.c.image_digest)
        frozen = select(INSTANCES.c.image_digest).where(
            INSTANCES.c.instance_id.in_(select(SNAPSHOT_MEMBERS.c.instance_id))
        )
        with self._sql.read() as connection:
            return frozenset(connection.execute(now.union(frozen)).scalars())

    @anew
    def _set_watch(self, name: str, *, action: str, reason: str | None) -> bool:
        with self._sql.write() as connection:
            self._sql.alone(connection, "watch", name.lower())
            if (_last_action(connection, name) == "add") is (action == "add"):
                return False
            self._sql.add(connection, WATCHES, name=name, action=action, reason=reason)
            return True


def _last_action(connection: Connection, name: str) -> str | None:
    query = (
        select(WATCHES.c.action)
        .where(func.lower(WATCHES.c.name) == name.lower())
        .order_by(WATCHES.c.id.desc())
        .limit(1)
    )
    action = connection.execute(query).scalar()
    return None if action is None else str(action)
