"""An issue's title and body as they stood over time, from its edit history. Pure.

GitHub's schema calls an edit's `diff` "a summary of the changes"; in practice it is the whole text
after the edit. So the history is believed only when its newest text is the text of today.
"""

from collections.abc import Sequence
from datetime import datetime

from miner.crawl.github.nodes import (
    CommentNode,
    Connection,
    Edit,
    EditsNode,
    HistoryEvent,
    Rename,
    TargetNode,
)
from miner.model import TextVersion


def renames_of(node: TargetNode) -> tuple[HistoryEvent, ...]:
    """The title changes among an issue's newest events."""
    events = node.history.nodes if node.history else ()
    return tuple(event for event in events if event.typename == "RenamedTitleEvent")


def edited_after(node: TargetNode, moment: datetime) -> bool:
    """Was the body or the title changed later than `moment`?"""
    body = node.last_edited_at is not None and node.last_edited_at > moment
    return body or any(event.created_at > moment for event in renames_of(node))


def text_versions(
    node: TargetNode, edits: EditsNode | None
) -> tuple[tuple[TextVersion, ...], bool]:
    """(versions oldest first, is that all of them). Never edited: ((), True)."""
    if edits is None:
        return (), node.last_edited_at is None and not renames_of(node)
    known = edits.user_content_edits.nodes if edits.user_content_edits else ()
    renames = sorted(edits.renames.nodes if edits.renames else (), key=lambda r: r.created_at)
    bodies = sorted(
        ((e.edited_at, e.diff) for e in known if e.deleted_at is None and e.diff is not None),
        key=lambda version: version[0],
    )
    if not known:
        bodies = [(node.created_at, node.body)]
    if not bodies or _lines(bodies[-1][1]) != _lines(node.body):
        return (), False
    if node.includes_created_edit and len(bodies) == len(known):
        bodies[0] = (min(bodies[0][0], node.created_at), bodies[0][1])
    first = bodies[0][0]
    all_told = _is_whole(edits.user_content_edits) and _is_whole(edits.renames)
    complete = all_told and first <= node.created_at and len(bodies) == max(len(known), 1)
    moments = sorted({*(at for at, _ in bodies), *(r.created_at for r in renames)})
    return tuple(
        TextVersion(title=_title(node, renames, at), body=_body(bodies, at), edited_at=at)
        for at in moments
        if at >= first
    ), complete


def was_edited_since(comment: CommentNode, moment: datetime) -> bool:
    """Was it written before `moment` and changed after?"""
    edited = comment.last_edited_at
    return edited is not None and comment.created_at < moment <= edited


def comment_text(
    comment: CommentNode, edits: EditsNode | None, *, moment: datetime
) -> tuple[str, datetime | None]:
    """Its text as it stood before `moment`, and that text's edit time (None: as first written).

    Without a history that can be believed: today's text and today's edit time.
    """
    today = comment.body, comment.last_edited_at
    known = edits.user_content_edits.nodes if edits and edits.user_content_edits else ()
    texts = sorted(
        ((e.edited_at, e.diff) for e in known if e.deleted_at is None and e.diff is not None),
        key=lambda version: version[0],
    )
    if not texts or _lines(texts[-1][1]) != _lines(comment.body):
        return today
    then = [(at, text) for at, text in texts if at < moment]
    if not then:
        return today
    at, text = then[-1]
    return text, None if len(then) == 1 else at


def _is_whole(told: Connection[Edit] | Connection[Rename] | None) -> bool:
    return told is None or told.total_count in (None, len(told.nodes))


def _title(node: TargetNode, renames: Sequence[Rename], at: datetime) -> str:
    later = [rename for rename in renames if rename.created_at > at]
    return later[0].previous_title if later else node.title


def _body(bodies: Sequence[tuple[datetime, str]], at: datetime) -> str:
    return [body for moment, body in bodies if moment <= at][-1]


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").strip()
