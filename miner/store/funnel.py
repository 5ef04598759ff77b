"""Counts by stage and reason, always over the newest version of each pull."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, Connection, Select, Subquery, exists, func, select

from miner.model import Stage
from miner.store.connection import Sql, anew
from miner.store.examinations import INSTANCE
from miner.store.newest import current_splits, is_newest_pull, newest_examination, repo_ids
from miner.store.split import CANDIDATE
from miner.store.tables import (
    CANDIDATES,
    EXAMINATIONS,
    PULLS,
    REJECTIONS,
    REPO_FACTS,
    SIGNALS,
    SNAPSHOT_MEMBERS,
    SNAPSHOTS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Funnel:
    """From pulls to published instances. Reasons: gate or flaw → how many, most frequent first.

    `crawl_rejections`: pulls of which no version could be read, so none of `pulls`.
    `pulls` = `waiting_split` + `candidates` + all `split_rejections`; `candidates` =
    `waiting_verify` + `instances` + all `verify_rejections`. `left_out`: of the newest snapshot.
    """

    crawl_rejections: Mapping[str, int] = field(default_factory=dict)
    pulls: int = 0
    linked: int = 0
    waiting_split: int = 0
    candidates: int = 0
    split_rejections: Mapping[str, int] = field(default_factory=dict)
    waiting_verify: int = 0
    instances: int = 0
    verify_rejections: Mapping[str, int] = field(default_factory=dict)
    assessed: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    published: int = 0  # in the newest snapshot


@anew
def funnel(sql: Sql, *, repo: str | None = None) -> Funnel:
    """The counts now, of all repositories or of one."""
    with sql.read() as connection:
        split = current_splits()
        outcomes = _split_outcomes(connection, split, repo)
        answers = _answers(connection, split, repo)
        pulls = _count(connection, _pulls(repo))
        candidates = outcomes.pop(CANDIDATE, 0)
        instances = answers.pop(INSTANCE, 0)
        waiting = answers.pop("", 0)
        return Funnel(
            crawl_rejections=_unread(connection, repo),
            pulls=pulls,
            linked=_count(connection, _pulls(repo).where(PULLS.c.linked)),
            waiting_split=pulls - candidates - sum(outcomes.values()),
            candidates=candidates,
            split_rejections=outcomes,
            waiting_verify=waiting,
            instances=instances,
            verify_rejections=answers,
            assessed=_assessed(connection, split, repo),
            left_out=_left_out(connection, split, repo),
            published=_published(connection, split, repo),
        )


def _unread(connection: Connection, repo: str | None) -> dict[str, int]:
    """Why pulls could not be read when they were crawled, and not since."""
    named = REPO_FACTS.c.name_lower == func.lower(REJECTIONS.c.repo)
    read = exists().where(
        named, PULLS.c.repo_id == REPO_FACTS.c.repo_id, PULLS.c.number == REJECTIONS.c.pull_number
    )
    query = (
        select(REJECTIONS.c.gate, REJECTIONS.c.repo, REJECTIONS.c.pull_number)
        .where(REJECTIONS.c.stage == Stage.CRAWL, ~read)
        .distinct()
    )
    if repo is not None:
        query = query.where(exists().where(named, REPO_FACTS.c.repo_id.in_(repo_ids(repo))))
    return _sorted(Counter(row.gate for row in connection.execute(query)))


def _pulls(repo: str | None) -> Select[int]:
    query = select(func.count()).select_from(PULLS).where(is_newest_pull())
    return query if repo is None else query.where(PULLS.c.repo_id.in_(repo_ids(repo)))


def _count(connection: Connection, query: Select[int]) -> int:
    return int(connection.execute(query).scalar_one())


def _of(split: Subquery, repo: str | None) -> ColumnElement[bool]:
    if repo is None:
        return split.c.repo_id.is_not(None)
    return split.c.repo_id.in_(repo_ids(repo))


def _split_outcomes(connection: Connection, split: Subquery, repo: str | None) -> dict[str, int]:
    query = (
        select(split.c.outcome, func.count().label("number"))
        .where(_of(split, repo))
        .group_by(split.c.outcome)
    )
    return _sorted({row.outcome: row.number for row in connection.execute(query)})


def _answers(connection: Connection, split: Subquery, repo: str | None) -> dict[str, int]:
    """Outcome of the newest examination, "" where there is none, → how many candidates."""
    outcome = func.coalesce(EXAMINATIONS.c.outcome, "")
    query = (
        select(outcome.label("outcome"), func.count().label("number"))
        .select_from(CANDIDATES)
        .join(split, split.c.split_id == CANDIDATES.c.split_id)
        .outerjoin(EXAMINATIONS, EXAMINATIONS.c.id == newest_examination())
        .where(_of(split, repo))
        .group_by(outcome)
    )
    return _sorted({row.outcome: row.number for row in connection.execute(query)})


def _assessed(connection: Connection, split: Subquery, repo: str | None) -> int:
    query = (
        select(func.count())
        .select_from(CANDIDATES)
        .join(split, split.c.split_id == CANDIDATES.c.split_id)
        .join(EXAMINATIONS, EXAMINATIONS.c.id == newest_examination())
        .where(
            _of(split, repo),
            EXAMINATIONS.c.outcome == INSTANCE,
            exists().where(
                SIGNALS.c.candidate_id == CANDIDATES.c.id,
                SIGNALS.c.examination_id == EXAMINATIONS.c.id,
            ),
        )
    )
    return _count(connection, query)


def _published(connection: Connection, split: Subquery, repo: str | None) -> int:
    newest = select(func.max(SNAPSHOTS.c.id)).scalar_subquery()
    query = (
        select(func.count(func.distinct(SNAPSHOT_MEMBERS.c.instance_id)))
        .join(CANDIDATES, CANDIDATES.c.instance_id == SNAPSHOT_MEMBERS.c.instance_id)
        .join(split, split.c.split_id == CANDIDATES.c.split_id)
        .where(SNAPSHOT_MEMBERS.c.snapshot_id == newest, _of(split, repo))
    )
    return _count(connection, query)


def _left_out(connection: Connection, split: Subquery, repo: str | None) -> dict[str, int]:
    """Why instances are not in the newest snapshot ("same patch", …) → how many."""
    newest = select(SNAPSHOTS.c.excluded).order_by(SNAPSHOTS.c.id.desc()).limit(1)
    excluded = json.loads(connection.execute(newest).scalar() or "[]")
    of_repo = (
        select(CANDIDATES.c.instance_id)
        .join(split, split.c.split_id == CANDIDATES.c.split_id)
        .where(_of(split, repo))
    )
    ids = set(connection.execute(of_repo).scalars()) if excluded else set()
    return _sorted(Counter(_kind(reason) for instance_id, reason in excluded if instance_id in ids))


def _kind(reason: str) -> str:
    """A reason without the facts of its instance: "same patch as …", "not accepted: …"."""
    return reason.partition(": ")[0].partition(" as ")[0]


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
