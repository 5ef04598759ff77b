"""What splitting reads and leaves: miner.split.stage.Store."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import ColumnElement, Connection, exists, false, select, true

from miner.errors import FatalError
from miner.model import Candidate, PullRequest, Rejection, Stage
from miner.store import blobs, documents
from miner.store.connection import Sql, anew
from miner.store.newest import is_newest_pull, is_reverted, repo_ids
from miner.store.tables import CANDIDATES, PULL_REVERTS, PULLS, REJECTIONS, REPOS, SPLITS

CANDIDATE = "candidate"
"""A split's outcome when no gate said no."""


def task_digest(candidate: Candidate) -> str:
    """Names all that verification depends on: a new comment does not verify a task again."""
    parts = (
        candidate.instance_id,
        candidate.base_commit,
        blobs.address(candidate.patch),
        blobs.address(candidate.test_patch),
        candidate.merged_at.isoformat(),
        candidate.language,
    )
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()


class SplitStore:
    """Due pulls in, candidates and rejections out."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    @anew
    def due_pulls(self, *, policy: str, limit: int, repo: str | None) -> Sequence[PullRequest]:
        """Newest version of each pull without a result for (version, policy, revert state).

        One repository after the other (each has one mirror to open), newest merge first.
        """
        query = (
            select(PULLS.c.document, PULLS.c.diff)
            .where(is_newest_pull(), ~_is_split(policy))
            .order_by(PULLS.c.repo_id, PULLS.c.merged_at.desc(), PULLS.c.id)
            .limit(limit)
        )
        if repo is not None:
            query = query.where(PULLS.c.repo_id.in_(repo_ids(repo)))
        with self._sql.read() as connection:
            rows = connection.execute(query).all()
            diffs = blobs.read(connection, (row.diff for row in rows))
        return tuple(
            replace(documents.PULL.load(row.document), diff=diffs[row.diff]) for row in rows
        )

    @anew
    def reverted_by(self, pull: PullRequest) -> int | None:
        """The number of a stored pull that undoes this one and is not undone itself."""
        undoing = PULLS.alias("undoing")
        undone = PULL_REVERTS.alias("undone")
        query = (
            select(undoing.c.number)
            .join(PULL_REVERTS, PULL_REVERTS.c.pull_id == undoing.c.id)
            .join(REPOS, REPOS.c.id == undoing.c.repo_id)
            .where(
                REPOS.c.source == pull.source,
                REPOS.c.database_id == pull.repo_id,
                PULL_REVERTS.c.number == pull.number,
                ~exists().where(
                    undone.c.repo_id == undoing.c.repo_id, undone.c.number == undoing.c.number
                ),
            )
            .order_by(undoing.c.number)
            .limit(1)
        )
        with self._sql.read() as connection:
            number = connection.execute(query).scalar()
        return None if number is None else int(number)

    @anew
    def save_split(
        self,
        pull: PullRequest,
        result: Candidate | Rejection,
        *,
        policy: str,
        reverted: bool = False,
    ) -> None:
        """Append the result; one that is there already stays.

        `reverted`: whether a pull that undoes this one was known when it was judged. It may have
        come, or been undone itself, since: the pull is due again then, and judged by what is known.
        """
        bundle = blobs.Bundle()
        patches = (
            {"patch": bundle.add(result.patch), "test_patch": bundle.add(result.test_patch)}
            if isinstance(result, Candidate)
            else {}
        )
        with self._sql.write() as connection:
            bundle.save(self._sql, connection)
            split_id = self._sql.add_new(
                connection,
                SPLITS,
                pull_id=_pull_id(connection, pull),
                policy=policy,
                reverted=reverted,
                outcome=CANDIDATE if isinstance(result, Candidate) else result.gate,
            )
            if split_id is None:
                return
            if isinstance(result, Candidate):
                self._add_candidate(connection, split_id, result, patches)
            else:
                add_rejection(self._sql, connection, result, split_id=split_id)

    def _add_candidate(
        self,
        connection: Connection,
        split_id: int,
        candidate: Candidate,
        patches: dict[str, str],
    ) -> None:
        self._sql.add(
            connection,
            CANDIDATES,
            split_id=split_id,
            instance_id=candidate.instance_id,
            task_digest=task_digest(candidate),
            repo=candidate.repo,
            language=candidate.language,
            merged_at=candidate.merged_at,
            patch_hash=candidate.patch_hash,
            document=documents.CANDIDATE.dump(replace(candidate, patch=b"", test_patch=b"")),
            **patches,
        )


def add_rejection(
    sql: Sql,
    connection: Connection,
    rejection: Rejection,
    *,
    split_id: int | None = None,
    examination_id: int | None = None,
    raw: str | None = None,
) -> None:
    """Append a recorded no, with the blob of the payload it is about, if any."""
    sql.add(
        connection,
        REJECTIONS,
        stage=Stage(rejection.stage),
        split_id=split_id,
        examination_id=examination_id,
        repo=rejection.repo,
        pull_number=rejection.pull_number,
        gate=rejection.gate,
        detail=rejection.detail,
        raw=raw,
        rejected_at=rejection.made_at,
    )


def _pull_id(connection: Connection, pull: PullRequest) -> int:
    query = (
        select(PULLS.c.id)
        .join(REPOS, REPOS.c.id == PULLS.c.repo_id)
        .where(
            REPOS.c.source == pull.source,
            REPOS.c.database_id == pull.repo_id,
            PULLS.c.number == pull.number,
            PULLS.c.raw_digest == pull.raw_digest,
        )
    )
    found = connection.execute(query).scalar()
    if found is None:
        raise FatalError(f"{pull.repo}#{pull.number} is not stored, so it cannot be split.")
    return int(found)


def _is_split(policy: str) -> ColumnElement[bool]:
    same = (SPLITS.c.pull_id == PULLS.c.id, SPLITS.c.policy == policy)
    known = exists().where(*same, SPLITS.c.reverted == true()).correlate(PULLS)
    unknown = exists().where(*same, SPLITS.c.reverted == false()).correlate(PULLS)
    return (is_reverted() & known) | (~is_reverted() & unknown)
