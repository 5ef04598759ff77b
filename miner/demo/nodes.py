"""Bricks of GraphQL answers: a node is a mapping of field names to values or to lazy resolvers."""

import base64
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from graphql import GraphQLError

from miner.demo.pulls import Edit, Person

Node = Mapping[str, object]
Arguments = Mapping[str, object]
Resolver = Callable[..., object]
T = TypeVar("T")

_ASSOCIATIONS = {"maintainer": "MEMBER", "contributor": "CONTRIBUTOR"}


def lazy(resolve: Callable[[Arguments], object]) -> Resolver:
    """A field that is worked out when asked for; `resolve` gets the field's arguments."""

    def field(_info: object, **arguments: object) -> object:
        return resolve(arguments)

    return field


def moment(at: datetime | None) -> str | None:
    """GitHub's DateTime: UTC, whole seconds."""
    return None if at is None else at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def account_id(login: str) -> int:
    """A number for an account, made from its name."""
    return int.from_bytes(base64.b16encode(login.encode())[:6], "big") % 90_000_000 + 1000


def actor(person: Person | None, web_url: str) -> Node | None:
    """An account, or None when it was deleted."""
    if person is None:
        return None
    path = f"apps/{person.login}" if person.kind == "Bot" else person.login
    return {
        "__typename": person.kind,
        "id": f"U_{person.login}",
        "login": person.login,
        "name": person.login,
        "databaseId": account_id(person.login),
        "url": f"{web_url}/{path}",
    }


def association(person: Person | None) -> str:
    """What the author is to the repository."""
    return _ASSOCIATIONS.get(person.login, "NONE") if person else "NONE"


def connection(
    items: Sequence[T],
    arguments: Arguments,
    make: Callable[[T], Node],
    *,
    key: Callable[[T], str] | None = None,
    **extra: object,
) -> Node:
    """A page of items. A cursor remembers the last item itself and its place.

    So a page goes on after the same item when others were put before it meanwhile; when the item
    is gone, after its place. What is no cursor is an error of GitHub's type.
    """
    keys = [key(item) for item in items] if key else [str(place) for place in range(len(items))]
    start, end = 0, len(items)
    if isinstance(arguments.get("after"), str):
        start = _place(str(arguments["after"]), keys) + 1
    if isinstance(arguments.get("before"), str):
        end = min(end, _place(str(arguments["before"]), keys))
    first, last = arguments.get("first"), arguments.get("last")
    if isinstance(first, int):
        end = min(end, start + first)
    if isinstance(last, int):
        start = max(start, end - last)
    places = range(start, max(start, end))
    cursors = [_cursor(place, keys[place]) for place in places]
    nodes = [make(items[place]) for place in places]
    return {
        "totalCount": len(items),
        "nodes": nodes,
        "edges": [
            {"cursor": cursor, "node": node} for cursor, node in zip(cursors, nodes, strict=True)
        ],
        "pageInfo": {
            "hasNextPage": end < len(items),
            "hasPreviousPage": start > 0,
            "startCursor": cursors[0] if cursors else None,
            "endCursor": cursors[-1] if cursors else None,
        },
        **extra,
    }


def _cursor(place: int, key: str) -> str:
    return base64.b64encode(f"cursor:{place}:{key}".encode()).decode()


def _place(cursor: str, keys: Sequence[str]) -> int:
    try:
        _, place, key = base64.b64decode(cursor).decode().split(":", 2)
        return keys.index(key) if key in keys else int(place)
    except ValueError:
        message = f"`{cursor}` does not appear to be a valid cursor."
        raise GraphQLError(message, extensions={"type": "INVALID_CURSOR_ARGUMENTS"}) from None


def last_edit(edits: Sequence[Edit], created_at: datetime) -> datetime | None:
    """When a text was last changed after it was written."""
    times = [edit.edited_at for edit in edits if edit.edited_at > created_at]
    return max(times, default=None)


def content_edits(edits: Sequence[Edit], name: str, web_url: str) -> Resolver:
    """`userContentEdits`, newest first; `diff` holds the whole text after the edit."""

    def make(numbered: tuple[int, Edit]) -> Node:
        place, edit = numbered
        return {
            "__typename": "UserContentEdit",
            "id": f"UCE_{name}_{place}",
            "createdAt": moment(edit.edited_at),
            "editedAt": moment(edit.edited_at),
            "deletedAt": None,
            "diff": edit.body,
            "editor": actor(edit.editor, web_url),
        }

    newest_first = list(enumerate(edits))[::-1]
    return lazy(lambda arguments: connection(newest_first, arguments, make))


def labels(names: Sequence[str]) -> Resolver:
    """A labels connection."""

    def make(name: str) -> Node:
        return {"__typename": "Label", "id": f"LA_{name}", "name": name, "color": "ededed"}

    return lazy(lambda arguments: connection(names, arguments, make))


def timeline(events: Sequence[tuple[str, datetime, Node]], *, kind: str) -> Resolver:
    """`timelineItems` over (item type, time, node): filtered by `itemTypes` and `since`."""

    def resolve(arguments: Arguments) -> Node:
        wanted = arguments.get("itemTypes")
        chosen = sorted(
            (event for event in events if not isinstance(wanted, list) or event[0] in wanted),
            key=lambda event: event[1],
        )
        page = connection(chosen, arguments, lambda event: event[2], filteredCount=len(chosen))
        return {**page, "__typename": kind, "totalCount": len(events)}

    return lazy(resolve)
