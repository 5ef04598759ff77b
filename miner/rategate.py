"""How long to keep away from an API that counts our requests. Pure: the clock is an argument.

GitHub tells limits in many ways (its documentation, "Rate limits for the REST API" and "Rate limits
and query limits for the GraphQL API"): 403 or 429, with or without Retry-After, remaining 0 until a
reset, and for GraphQL a 200 with an error of type RATE_LIMITED.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

SECONDARY_WAIT_S = 60
"""GitHub's least wait after a secondary limit that names none; doubled with each one in a row."""

MAX_STRIKES = 6
"""So many limit answers in a row, then we give up and say until when."""

RESET_SLACK_S = 1
"""Resets are told in whole seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What is left of one resource ("core", "graphql", "search"), as last told."""

    resource: str
    limit: int
    remaining: int
    reset_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """An answer that says wait. `until` None: it does not say how long."""

    secondary: bool
    until: datetime | None


@dataclass(slots=True)
class RateGate:
    """The budget of one (token, resource), fed by the headers of every answer."""

    resource: str
    budget: Budget | None = field(default=None)

    def observe(self, headers: Mapping[str, str]) -> None:
        """Take in an answer's x-ratelimit headers (names in lower case)."""
        try:
            self.budget = Budget(
                resource=self.resource,
                limit=int(headers["x-ratelimit-limit"]),
                remaining=int(headers["x-ratelimit-remaining"]),
                reset_at=datetime.fromtimestamp(int(headers["x-ratelimit-reset"]), UTC),
            )
        except (KeyError, ValueError):
            return  # no or unreadable headers: nothing was told

    def opens_at(self, now: datetime) -> datetime:
        """When the next request may go out; `now` when at once."""
        if self.budget is None or self.budget.remaining > 0 or self.budget.reset_at <= now:
            return now
        return self.budget.reset_at + timedelta(seconds=RESET_SLACK_S)


def limit_of(
    status: int, headers: Mapping[str, str], answer: object, *, now: datetime
) -> Limit | None:
    """The limit that an answer tells, or None. `answer` is its parsed JSON."""
    if status in (403, 429):
        return _refusal(status, headers, answer, now)
    if status == 200:
        return _graphql_limit(headers, answer, now)
    return None


def backed_off(limit: Limit, *, strikes: int, now: datetime) -> datetime:
    """Until when to wait after the `strikes`-th limit in a row (counted from 1)."""
    if limit.until is not None and limit.until > now:
        return limit.until
    return now + timedelta(seconds=SECONDARY_WAIT_S * 2 ** (strikes - 1))


def _refusal(
    status: int, headers: Mapping[str, str], answer: object, now: datetime
) -> Limit | None:
    if (after := _retry_after(headers, now)) is not None:
        return Limit(secondary=True, until=after)
    if headers.get("x-ratelimit-remaining") == "0":
        return Limit(secondary=False, until=_reset(headers))
    if status == 429 or _speaks_of_limit(answer):
        return Limit(secondary=True, until=None)
    return None


def _graphql_limit(headers: Mapping[str, str], answer: object, now: datetime) -> Limit | None:
    errors = answer.get("errors") if isinstance(answer, dict) else None
    for error in errors if isinstance(errors, list) else []:
        if not isinstance(error, dict):
            continue
        if "secondary rate limit" in str(error.get("message", "")).lower():
            return Limit(secondary=True, until=_retry_after(headers, now))
        if error.get("type") == "RATE_LIMITED":
            return Limit(secondary=False, until=_retry_after(headers, now) or _reset(headers))
    return None


def _speaks_of_limit(answer: object) -> bool:
    message = str(answer.get("message", "")).lower() if isinstance(answer, dict) else ""
    return "rate limit" in message or "abuse detection" in message


def _retry_after(headers: Mapping[str, str], now: datetime) -> datetime | None:
    text = headers.get("retry-after", "").strip()
    if text.isdigit():
        return now + timedelta(seconds=int(text))
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment.astimezone(UTC)


def _reset(headers: Mapping[str, str]) -> datetime | None:
    text = headers.get("x-ratelimit-reset", "")
    if not text.isdigit():
        return None
    return datetime.fromtimestamp(int(text) + RESET_SLACK_S, UTC)
