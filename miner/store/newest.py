"""What counts now, computed from the rows: the newest version, under the newest policy.

A pull has versions (payload digests). Each was split under policies and with or without knowing a
pull that undoes it. A candidate's task was examined under versions, policies, recipes, requests.
"""

from sqlalchemy import ColumnElement, Exists, Select, Subquery, and_, case, exists, func, select

from miner.store.tables import (
    CANDIDATES,
    EXAMINATIONS,
    GATE_POLICIES,
    PULL_REVERTS,
    PULLS,
    REPO_FACTS,
    SPLITS,
    TOMBSTONES,
)


def is_newest_pull() -> ColumnElement[bool]:
    """No later version of the same pull is stored."""
    later = PULLS.alias("later")
    return ~exists().where(
        later.c.repo_id == PULLS.c.repo_id,
        later.c.number == PULLS.c.number,
        later.c.id > PULLS.c.id,
    )


def is_reverted() -> Exists:
    """A stored pull undoes this one, and none undoes that one in turn."""
    undoing = PULLS.alias("undoing")
    undone = PULL_REVERTS.alias("undone")
    return exists(
        select(PULL_REVERTS.c.id)
        .join(undoing, undoing.c.id == PULL_REVERTS.c.pull_id)
        .where(
            PULL_REVERTS.c.repo_id == PULLS.c.repo_id,
            PULL_REVERTS.c.number == PULLS.c.number,
            ~exists().where(
                undone.c.repo_id == undoing.c.repo_id, undone.c.number == undoing.c.number
            ),
        )
        .correlate(PULLS)
    )


def repo_ids(name: str) -> Select[int]:
    """Rows of the repositories that bear, or once bore, this name."""
    return select(REPO_FACTS.c.repo_id).where(func.lower(REPO_FACTS.c.name) == name.lower())


def current_splits() -> Subquery:
    """One row a pull (its newest version that was split): split_id, pull_id, repo_id, number.

    Of several results of that version the one for today's revert state and the newest gate policy
    counts, else the latest.
    """
    policy = select(GATE_POLICIES.c.digest).order_by(GATE_POLICIES.c.id.desc()).limit(1)
    fits = and_(SPLITS.c.policy == policy.scalar_subquery())
    place = func.row_number().over(
        partition_by=(PULLS.c.repo_id, PULLS.c.number),
        order_by=(
            PULLS.c.id.desc(),
            case((SPLITS.c.reverted == is_reverted(), 0), else_=1),
            case((fits, 0), else_=1),
            SPLITS.c.id.desc(),
        ),
    )
    ranked = (
        select(
            SPLITS.c.id.label("split_id"),
            SPLITS.c.outcome,
            PULLS.c.id.label("pull_id"),
            PULLS.c.repo_id,
            PULLS.c.number,
            place.label("place"),
        )
        .join(PULLS, PULLS.c.id == SPLITS.c.pull_id)
        .subquery("ranked_splits")
    )
    columns = [column for column in ranked.c if column.name != "place"]
    return select(*columns).where(ranked.c.place == 1).subquery("current_splits")


def newest_examination() -> ColumnElement[int]:
    """Id of the newest examination of a candidate's task."""
    return (
        select(func.max(EXAMINATIONS.c.id))
        .where(EXAMINATIONS.c.task_digest == CANDIDATES.c.task_digest)
        .correlate(CANDIDATES)
        .scalar_subquery()
    )


def is_tombstoned(repo_id: ColumnElement[int]) -> ColumnElement[bool]:
    """The source no longer shows the repository."""
    later = TOMBSTONES.alias("later_tombstones")
    return exists().where(
        TOMBSTONES.c.repo_id == repo_id,
        TOMBSTONES.c.reason != "",
        ~exists().where(later.c.repo_id == TOMBSTONES.c.repo_id, later.c.id > TOMBSTONES.c.id),
    )
