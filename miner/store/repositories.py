"""Repositories as rows: one by source and id, facts and tombstones appended as they change."""

from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import Connection, select

from miner.errors import FatalError
from miner.model import Repo
from miner.store import documents
from miner.store.connection import Sql
from miner.store.newest import is_newest_fact
from miner.store.tables import REPO_FACTS, REPOS, TOMBSTONES

FRESH = timedelta(days=7)
"""How long a repository's stars and bytes of code may be old."""


def found_id(connection: Connection, *, source: str, database_id: int) -> int | None:
    """The row of a repository; None when it was never saved."""
    query = select(REPOS.c.id).where(REPOS.c.source == source, REPOS.c.database_id == database_id)
    return connection.execute(query).scalar()


def row_id(sql: Sql, connection: Connection, *, source: str, database_id: int) -> int:
    """The row of a repository, made when there is none."""
    found = found_id(connection, source=source, database_id=database_id)
    if found is None:
        sql.add_new(connection, REPOS, source=source, database_id=database_id)
        found = found_id(connection, source=source, database_id=database_id)
    if found is None:
        raise FatalError(f"The repository {source} {database_id} could not be stored.")
    return found


def add_facts(sql: Sql, connection: Connection, repo_id: int, repo: Repo, *, now: datetime) -> None:
    """Append what is known of a repository, when it differs from what was known last.

    Stars and bytes of code differ every day: they alone make a row once in FRESH.
    """
    newest = (
        select(REPO_FACTS.c.document, REPO_FACTS.c.seen_at)
        .where(REPO_FACTS.c.repo_id == repo_id, is_newest_fact())
        .limit(1)
    )
    row = connection.execute(newest).first()
    if row is not None and _says_the_same(repo, row.document, age=now - row.seen_at):
        return
    sql.add(
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


def set_tombstone(
    sql: Sql, connection: Connection, repo_id: int, *, reason: str, now: datetime
) -> None:
    """Append why the source shows it no longer, "" when it does; the same again: nothing."""
    newest = (
        select(TOMBSTONES.c.reason)
        .where(TOMBSTONES.c.repo_id == repo_id)
        .order_by(TOMBSTONES.c.id.desc())
        .limit(1)
    )
    if (connection.execute(newest).scalar() or "") != reason:
        sql.add(connection, TOMBSTONES, repo_id=repo_id, reason=reason, seen_at=now)


def _says_the_same(repo: Repo, document: str, *, age: timedelta) -> bool:
    known = documents.REPO.load(document)
    if age < FRESH:
        known = replace(known, stars=repo.stars, languages=repo.languages)
    return known == repo
