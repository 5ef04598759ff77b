"""A thin GraphQL client: it keeps partial data, and tells heavy queries from broken ones."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from miner.errors import (
    ConfigError,
    MinerError,
    NoPermissionError,
    NotFoundError,
    SourceUnavailableError,
)
from miner.http import HttpClient

_UNSTORABLE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")  # may be: an escaped pair is fine
_HEAVY_TYPES = frozenset({"RESOURCE_LIMITS_EXCEEDED", "MAX_NODE_LIMIT_EXCEEDED"})
_HEAVY_STATUSES = frozenset({502, 504})
_HEAVY_WORDS = ("timedout", "timed out", "something went wrong while executing", "couldn't respond")


class HeavyQueryError(SourceUnavailableError):
    """The API could not finish this query in time: ask for less. `answer` is what came."""

    def __init__(self, message: str, *, answer: "Answer | None" = None) -> None:
        super().__init__(message)
        self.answer = answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One entry of `errors`: its path is what it spoilt."""

    type: str
    message: str
    path: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came: the data, perhaps with holes, and the problems that made them."""

    data: Mapping[str, object] = field(repr=False)
    problems: tuple[Problem, ...] = ()
    cost: int = 0  # points


class GraphQL:
    """Asks one API. `spent`: points charged so far, as the API told them."""

    def __init__(self, client: HttpClient) -> None:
        self._client = client
        self._path = _endpoint(client.base_url)
        self.spent = 0

    def ask(self, query: str, variables: Mapping[str, object]) -> Answer:
        """Send one query. HeavyQueryError when it is too much for the API; else as HttpClient.

        Problems that spoil only parts are left to the caller.
        """
        response = self._client.post(
            self._path, {"query": query, "variables": dict(variables)}, accept=_HEAVY_STATUSES
        )
        if response.status in _HEAVY_STATUSES:
            raise HeavyQueryError(f"The API gave up on a query ({response.status}).")
        if not isinstance(response.answer, dict):
            raise ConfigError(f"{self._path} does not answer like GraphQL; check the base URL.")
        answer = _answer(_storable(response.answer, response.body))
        self.spent += answer.cost
        self._judge(answer, whole=response.answer.get("data") is not None)
        return answer

    def _judge(self, answer: Answer, *, whole: bool) -> None:
        for problem in answer.problems:
            if problem.type in _HEAVY_TYPES or _sounds_heavy(problem):
                raise HeavyQueryError(
                    f"The API gave up on a query ({problem.type or 'no type'}).", answer=answer
                )
        if not whole:
            said = answer.problems[0].message if answer.problems else "no data and no error"
            raise ConfigError(self._client.redact(f"The API refuses our query: {said[:300]}"))


def missing(answer: Answer, name: str) -> MinerError:
    """The error for a thing that the answer lacks. Only a clear no says that it is gone."""
    said = {problem.type: problem.message for problem in answer.problems}
    if "NOT_FOUND" in said:
        return NotFoundError(
            f"{name} does not exist or is not visible to this token: {said['NOT_FOUND']}"
        )
    if "FORBIDDEN" in said:
        return NoPermissionError(f"This token may not read {name}: {said['FORBIDDEN']}")
    why = next(iter(said.values()), "null without a reason")
    return SourceUnavailableError(f"GitHub could not tell of {name}: {why}")


def _endpoint(base_url: str) -> str:
    """GitHub Enterprise has REST at /api/v3 and GraphQL beside it."""
    if base_url.endswith("/api/v3"):
        return base_url.removesuffix("/v3") + "/graphql"
    return f"{base_url}/graphql"


def _answer(told: Mapping[str, object]) -> Answer:
    data = told.get("data")
    data = data if isinstance(data, dict) else {}
    errors = told.get("errors")
    limits = data.get("rateLimit")
    cost = limits.get("cost") if isinstance(limits, dict) else 0
    return Answer(
        data=data,
        problems=tuple(_problem(e) for e in errors) if isinstance(errors, list) else (),
        cost=cost if isinstance(cost, int) else 0,
    )


def _storable(told: dict[str, object], body: bytes) -> dict[str, object]:
    """NUL and half surrogates, which no database and no UTF-8 can hold, are replaced."""
    return {k: _cleaned(v) for k, v in told.items()} if _UNSTORABLE.search(body) else told


def _cleaned(value: object) -> object:
    match value:
        case str():
            whole = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            return whole.replace("\0", "\ufffd")
        case list():
            return [_cleaned(item) for item in value]
        case dict():
            return {key: _cleaned(item) for key, item in value.items()}
        case _:
            return value


def _problem(told: object) -> Problem:
    if not isinstance(told, dict):
        return Problem(type="", message=str(told))
    path = told.get("path")
    return Problem(
        type=str(told.get("type") or ""),
        message=str(told.get("message") or ""),
        path=tuple(path) if isinstance(path, list) else (),
    )


def _sounds_heavy(problem: Problem) -> bool:
    message = problem.message.lower()
    return not problem.type and any(words in message for words in _HEAVY_WORDS)
