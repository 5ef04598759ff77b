"""How far a repository is crawled: its newest mark, and the place of a crawl under way."""

from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Connection, delete, select

from miner.model import Depth, Place
from miner.store.connection import Sql
from miner.store.tables import CRAWL_PLACES, WATERMARKS


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How far a repository is crawled. `etag` is the source's own mark."""

    watermark: datetime | None = None
    etag: str | None = None
    depth: Depth = field(default_factory=Depth)


def newest_mark(connection: Connection, repo_id: int) -> Mark:
    """What was set last; an empty one when nothing was."""
    query = (
        select(WATERMARKS)
        .where(WATERMARKS.c.repo_id == repo_id)
        .order_by(WATERMARKS.c.id.desc())
        .limit(1)
    )
    row = connection.execute(query).first()
    if row is None:
        return Mark()
    depth = Depth(back_to=row.back_to, after=row.back_after)
    return Mark(watermark=row.watermark, etag=row.etag, depth=depth)


def deeper(old: Depth, new: Depth) -> Depth:
    """The one that goes further back; the new one when neither does."""
    if old.back_to is not None and (new.back_to is None or old.back_to < new.back_to):
        return old
    return new


def set_mark(sql: Sql, connection: Connection, repo_id: int, new: Mark, *, now: datetime) -> None:
    """Append it, unless it says what the newest one says."""
    if new == newest_mark(connection, repo_id):
        return
    sql.add(
        connection,
        WATERMARKS,
        repo_id=repo_id,
        watermark=new.watermark,
        etag=new.etag,
        moved_at=now,
        back_to=new.depth.back_to,
        back_after=new.depth.after,
    )


def open_place(connection: Connection, repo_id: int) -> Place | None:
    """Where a crawl that was not completed stopped."""
    query = select(CRAWL_PLACES.c.after, CRAWL_PLACES.c.newest).where(
        CRAWL_PLACES.c.repo_id == repo_id
    )
    row = connection.execute(query).first()
    return None if row is None else Place(after=row.after, newest=row.newest)


def set_place(
    sql: Sql, connection: Connection, repo_id: int, place: Place, *, now: datetime
) -> None:
    """In place of what was kept before."""
    there = {"after": place.after, "newest": place.newest, "reached_at": now}
    row = {"repo_id": repo_id, **there, **sql.stamp()}
    statement = sql.insert(CRAWL_PLACES).values(row)
    connection.execute(
        statement.on_conflict_do_update(index_elements=[CRAWL_PLACES.c.repo_id], set_=there)
    )


def end_place(connection: Connection, repo_id: int) -> None:
    """The crawl is complete."""
    connection.execute(delete(CRAWL_PLACES).where(CRAWL_PLACES.c.repo_id == repo_id))
