"""Faults on demand: every way GitHub is known to answer badly, for tests of a crawler.

A fault wraps the answering of one request: it may answer itself, change the real answer, or change
the world first. `Faults.add` says at which requests.
"""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from miner.demo.http_messages import Reply, Request, json_reply, problem_reply
from miner.demo.pulls import Record
from miner.demo.world import World

Proceed = Callable[[], Reply]
Fault = Callable[[World, Request, Proceed], Reply]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A request that a fault may strike. `number` counts API requests of all tokens from 1."""

    number: int
    resource: str
    request: Request

    @property
    def variables(self) -> dict[str, object]:
        """The variables of a GraphQL request."""
        if self.resource != "graphql":
            return {}
        variables = json.loads(self.request.body or b"{}").get("variables")
        return variables if isinstance(variables, dict) else {}


def at(*numbers: int) -> Callable[[Seen], bool]:
    """The requests of these numbers."""
    return lambda seen: seen.number in numbers


def of(resource: str) -> Callable[[Seen], bool]:
    """Any request of "core", "graphql" or "search"."""
    return lambda seen: seen.resource == resource


@dataclass(slots=True)
class _Planned:
    fault: Fault
    when: Callable[[Seen], bool]
    left: int


class Faults:
    """The switchboard. Faults may be added while the forge runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._planned: list[_Planned] = []
        self.struck = 0

    def add(
        self, fault: Fault, *, when: Callable[[Seen], bool] = lambda _: True, times: int = 1
    ) -> None:
        """Let the fault strike the next `times` requests that `when` picks."""
        with self._lock:
            self._planned.append(_Planned(fault, when, times))

    def strike(self, seen: Seen) -> Fault | None:
        """The fault for this request, used up by one."""
        with self._lock:
            for planned in self._planned:
                if planned.left > 0 and planned.when(seen):
                    planned.left -= 1
                    self.struck += 1
                    return planned.fault
        return None


def always(reply: Callable[[], Reply]) -> Fault:
    """Answer this, whatever was asked."""
    return lambda _world, _request, _proceed: reply()


def primary_limit(*, status: int = 403, reset_at: datetime) -> Fault:
    """REST: the hour is spent. 403 or 429, remaining 0, reset as epoch seconds."""
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(reset_at.timestamp()))}
    message = "API rate limit exceeded for user ID 1."
    return always(lambda: _with_headers(problem_reply(status, message), headers))


def secondary_limit(*, status: int = 403, retry_after_s: int | None = None) -> Fault:
    """Too fast: 403, 429 or (GraphQL) 200, with or without Retry-After."""
    message = (
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    )
    headers = {} if retry_after_s is None else {"retry-after": str(retry_after_s)}
    if status == 200:
        return always(lambda: json_reply({"errors": [{"message": message}]}, headers=headers))
    return always(lambda: _with_headers(problem_reply(status, message), headers))


def graphql_limit(*, reset_at: datetime) -> Fault:
    """GraphQL: the points are spent. Status 200 and an error of type RATE_LIMITED."""
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(reset_at.timestamp()))}
    problem = {"type": "RATE_LIMITED", "message": "API rate limit exceeded for user ID 1."}
    return always(lambda: json_reply({"errors": [problem]}, headers=headers))


def server_error(status: int = 502) -> Fault:
    """500, 502 or 504, as HTML like the real thing."""
    page = b"<html><body><h1>Whoops</h1></body></html>"
    return always(lambda: Reply(status=status, headers={"content-type": "text/html"}, body=page))


def bad_credentials() -> Fault:
    """401: the token was revoked."""
    return always(lambda: problem_reply(401, "Bad credentials"))


def blocked(*, status: int = 451, reason: str = "dmca") -> Fault:
    """451 (dmca) or 403 (tos) with a `block`."""
    created_at = datetime(2026, 1, 1, tzinfo=UTC).isoformat()
    block = {"reason": reason, "created_at": created_at, "html_url": None}
    return always(lambda: problem_reply(status, "Repository access blocked", block=block))


def missing() -> Fault:
    """404: deleted or private."""
    return always(lambda: problem_reply(404, "Not Found"))


def reset_mid_body(after_bytes: int = 200) -> Fault:
    """The real answer, but the connection is reset inside it."""
    return lambda _world, _request, proceed: replace(proceed(), cut_after=after_bytes)


def truncated_json() -> Fault:
    """The first half of the real answer, as if it were whole."""

    def strike(_world: World, _request: Request, proceed: Proceed) -> Reply:
        reply = proceed()
        return replace(reply, body=reply.body[: len(reply.body) // 2])

    return strike


def resource_limits() -> Fault:
    """GraphQL gave up half-way: the second half of the pulls is null, with an error for each."""

    def strike(_world: World, _request: Request, proceed: Proceed) -> Reply:
        reply = proceed()
        body = json.loads(reply.body)
        pulls = ((body.get("data") or {}).get("repository") or {}).get("pullRequests") or {}
        nodes = pulls.get("nodes") or []
        problems = []
        for place in range(len(nodes) // 2, len(nodes)):
            nodes[place] = None
            problems.append(_exceeded(["repository", "pullRequests", "nodes", place]))
        body["errors"] = problems or [_exceeded([])]
        return json_reply(body, headers=reply.headers)

    return strike


def change_world(*records: Record) -> Fault:
    """Something happens on the forge just before this request is answered, e.g. a new pull."""

    def strike(world: World, _request: Request, proceed: Proceed) -> Reply:
        for record in records:
            world.add(record)
        return proceed()

    return strike


def delete_repository(name: str) -> Fault:
    """The repository is gone from this request on."""

    def strike(world: World, _request: Request, proceed: Proceed) -> Reply:
        world.remove(name)
        return proceed()

    return strike


def _exceeded(path: list[object]) -> dict[str, object]:
    message = "Resource limits for this query exceeded."
    return {"type": "RESOURCE_LIMITS_EXCEEDED", "path": path, "message": message}


def _with_headers(reply: Reply, headers: dict[str, str]) -> Reply:
    return replace(reply, headers={**reply.headers, **headers})
