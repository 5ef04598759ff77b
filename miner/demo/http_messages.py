"""A request as it came in and a reply as it goes out."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

JSON = "application/json; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Header names are in lower case; `query` has the last value of each name."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    query_string: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """`chunks` (when given) is sent instead of `body`, piece by piece.

    `cut_after`: the connection is reset after that many bytes of the body.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)
    chunks: Iterator[bytes] | None = None
    cut_after: int | None = None


def json_reply(
    body: object, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Reply:
    """A JSON answer."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    return Reply(status=status, headers={"content-type": JSON, **(headers or {})}, body=text)


def problem_reply(status: int, message: str, **more: object) -> Reply:
    """GitHub's error shape."""
    documentation = "https://docs.github.com/rest"
    return json_reply(
        {"message": message, "documentation_url": documentation, "status": str(status), **more},
        status=status,
    )
