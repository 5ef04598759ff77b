"""What counts now, computed from the rows: the newest version, under the newest policy.

A pull has versions (payload digests). Each was split under policies and with or without knowing a
pull that undoes it. A candidate's task was examined under versions, policies, recipes, requests.
"""

from sqlalchemy import (
    ColumnElement,
    Exists,
    FromClause,
    Select,
    Subquery,
    and_,
    case,
    exists,
    func,
    or_,
    select,
)

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
    return ~exists().where(_is_later_version(later))


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
    return select(REPO_FACTS.c.repo_id).where(REPO_FACTS.c.name_lower == name.lower())


def is_newest_fact() -> ColumnElement[bool]:
    """Nothing later is known of the same repository."""
    later = REPO_FACTS.alias("later_facts")
    return ~exists().where(later.c.repo_id == REPO_FACTS.c.repo_id, later.c.id > REPO_FACTS.c.id)


def current_splits() -> Subquery:
    """One row a pull (its newest version that was split): split_id, pull_id, repo_id, number.

    Of several results of that version the one for today's revert state and the newest gate policy
    counts, else the latest. Said by absence rather than by ranking all rows, so that a query which
    wants few candidates looks at few.
    """
    return (
        select(
            SPLITS.c.id.label("split_id"),
            SPLITS.c.outcome,
            PULLS.c.id.label("pull_id"),
            PULLS.c.repo_id,
            PULLS.c.number,
        )
        .join(PULLS, PULLS.c.id == SPLITS.c.pull_id)
        .where(~_newer_version_was_split(), ~_better_split_of_this_version())
        .subquery("current_splits")
    )


def _newer_version_was_split() -> Exists:
    newer, its = PULLS.alias("newer"), SPLITS.alias("its")
    return exists(
        select(its.c.id)
        .join(newer, newer.c.id == its.c.pull_id)
        .where(_is_later_version(newer))
        .correlate(PULLS)
    )


def _is_later_version(later: FromClause) -> ColumnElement[bool]:
    """Of the same pull, with a later update; of equal ones what was stored last.

    What is stored last need not be what was read last: two crawls may cross each other, and a tape
    may be older than what is here.
    """
    same_update = later.c.updated_at == PULLS.c.updated_at
    return and_(
        later.c.repo_id == PULLS.c.repo_id,
        later.c.number == PULLS.c.number,
        or_(
            later.c.updated_at > PULLS.c.updated_at,
            and_(same_update, later.c.id > PULLS.c.id),
        ),
    )


def _better_split_of_this_version() -> Exists:
    other = SPLITS.alias("other")
    policy = select(GATE_POLICIES.c.digest).order_by(GATE_POLICIES.c.id.desc()).limit(1)

    def rank(of: FromClause) -> ColumnElement[int]:
        fits_revert = case((of.c.reverted == is_reverted(), 2), else_=0)
        fits_policy = case((of.c.policy == policy.scalar_subquery(), 1), else_=0)
        return fits_revert + fits_policy

    better = or_(
        rank(other) > rank(SPLITS),
        and_(rank(other) == rank(SPLITS), other.c.id > SPLITS.c.id),
    )
    return exists(
        select(other.c.id)
        .where(other.c.pull_id == SPLITS.c.pull_id, other.c.id != SPLITS.c.id, better)
        .correlate(SPLITS, PULLS)
    )


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
