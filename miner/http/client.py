"""A client of one API: a lane for each token, waits as the API says, typed errors."""

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self
from urllib.parse import urlencode, urljoin, urlsplit

import stamina

from miner.errors import (
    ConfigError,
    RateLimitedError,
    SourceUnavailableError,
)
from miner.http.answers import parsed, refusal, unlike_api
from miner.http.network import HttpxTransport
from miner.rategate import MAX_STRIKES, Budget, RateGate, backed_off, limit_of
from miner.wire import Request, Response, Token, Transport, place

API_VERSION = "2022-11-28"
"""Pinned: GitHub's 2026-03-10 drops fields, and without the header its default may move."""

MAX_WAIT_S = 3700.0
"""A little over the hour after which GitHub's budgets refill."""

ATTEMPTS = 5
MAX_REDIRECTS = 5

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Lane:
    """One token with its gates. Its lock keeps the token to one request at a time."""

    token: Token | None
    gates: dict[str, RateGate] = field(default_factory=dict)
    held_until: datetime = _LONG_AGO  # a secondary limit holds all resources of a token
    strikes: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def gate(self, resource: str) -> RateGate:
        return self.gates.setdefault(resource, RateGate(resource))

    def opens_at(self, resource: str, now: datetime) -> datetime:
        return max(self.held_until, self.gate(resource).opens_at(now), now)


class HttpClient:
    """Requests to one API; close it, or use it by `with`. Thread-safe.

    Tests may give the clock and the sleep.
    """

    def __init__(  # noqa: PLR0913 - all but the first have a default
        self,
        base_url: str,
        *,
        tokens: Sequence[Token] = (),
        transport: Transport | None = None,
        ca_bundle: Path | None = None,
        max_wait_s: float = MAX_WAIT_S,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
            raise ConfigError(
                "The API's base URL must look like https://api.github.com "
                "or https://github.example.com/api/v3, with no name or password in it."
            )
        self.base_url = base_url.rstrip("/")
        self._transport = transport or HttpxTransport(ca_bundle=ca_bundle)
        self._lanes = [_Lane(token) for token in tokens] or [_Lane(None)]
        self._max_wait_s = max_wait_s
        self._clock = clock
        self._sleep = sleep

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of connections."""
        self._transport.close()

    @property
    def has_token(self) -> bool:
        """Is there any token at all?"""
        return self._lanes[0].token is not None

    def secret(self) -> str | None:
        """The first token's present secret, for git over HTTP. Handle with care."""
        token = self._lanes[0].token
        return token.reveal() if token else None

    def singles(self) -> tuple["HttpClient", ...]:
        """One client per token, sharing this one's connections and gates."""
        clients = []
        for lane in self._lanes:
            client = HttpClient(
                self.base_url,
                transport=self._transport,
                max_wait_s=self._max_wait_s,
                clock=self._clock,
                sleep=self._sleep,
            )
            client._lanes = [lane]
            clients.append(client)
        return tuple(clients)

    def budgets(self) -> tuple[tuple[Budget, ...], ...]:
        """What each token's answers last told of its budgets, without asking."""
        return tuple(
            tuple(gate.budget for gate in lane.gates.values() if gate.budget)
            for lane in self._lanes
        )

    def redact(self, text: str) -> str:
        """`text` without any of our secrets."""
        for lane in self._lanes:
            if lane.token:
                text = lane.token.redact(text)
        return text

    def get(
        self,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        resource: str = "core",
        accept: frozenset[int] = frozenset(),
    ) -> Response:
        """GET a path below the base URL (or a whole URL of the same API).

        `accept`: statuses that are answers to this caller (304 …) rather than errors.
        """
        url = self._url(path) + (f"?{urlencode(params)}" if params else "")
        request = Request(method="GET", url=url, headers=dict(headers or {}))
        return self._send(request, resource=resource, accept=accept)

    def post(
        self,
        path: str,
        payload: Mapping[str, object],
        *,
        resource: str = "graphql",
        accept: frozenset[int] = frozenset(),
    ) -> Response:
        """POST `payload` as JSON; else as `get`."""
        request = Request(
            method="POST",
            url=self._url(path),
            headers={"content-type": "application/json"},
            body=json.dumps(payload).encode(),
        )
        return self._send(request, resource=resource, accept=accept)

    def download(self, url: str) -> Iterator[bytes]:
        """The bytes of a file elsewhere, as sent, without our token and outside all gates."""
        return self._transport.stream(
            Request(method="GET", url=url, headers={"user-agent": "swe-evergreen"})
        )

    def _url(self, path: str) -> str:
        return path if "://" in path else f"{self.base_url}/{path.lstrip('/')}"

    def _send(self, request: Request, *, resource: str, accept: frozenset[int]) -> Response:
        while True:
            lane = self._pick(resource)
            with lane.lock:
                self._wait(lane, resource, request.url)
                response = self._retried(lane, request, accept)
                if self._passed(lane, response, resource):
                    return self._judged(response, accept)

    def _pick(self, resource: str) -> _Lane:
        """The token that may go first; among equals one that nobody uses."""
        now = self._clock()
        return min(self._lanes, key=lambda lane: (lane.opens_at(resource, now), lane.lock.locked()))

    def _wait(self, lane: _Lane, resource: str, url: str) -> None:
        now = self._clock()
        until = lane.opens_at(resource, now)
        wait_s = (until - now).total_seconds()
        if wait_s <= 0:
            return
        if wait_s > self._max_wait_s or lane.strikes >= MAX_STRIKES:
            hint = "" if lane.token else " Without a token the limit is low; set GITHUB_TOKEN."
            raise RateLimitedError(
                f"{urlsplit(url).hostname} asks to wait until {until:%Y-%m-%d %H:%M:%S} UTC "
                f"({resource}); run the same command again after that.{hint}",
                until=until,
            )
        _log.warning("waiting %.0f s for the %s budget of %s", wait_s, resource, place(url))
        self._sleep(wait_s)

    def _passed(self, lane: _Lane, response: Response, resource: str) -> bool:
        """Feed the gates; False when the answer was "wait"."""
        now = self._clock()
        lane.gate(response.headers.get("x-ratelimit-resource") or resource).observe(
            response.headers
        )
        limit = limit_of(response.status, response.headers, response.answer, now=now)
        if limit is None:
            lane.strikes = 0
            return True
        lane.strikes += 1
        until = backed_off(limit, strikes=lane.strikes, now=now)
        if limit.secondary or lane.gate(resource).opens_at(now) <= now:
            lane.held_until = until
        return False

    def _retried(self, lane: _Lane, request: Request, accept: frozenset[int]) -> Response:
        for attempt in stamina.retry_context(
            on=SourceUnavailableError,
            attempts=ATTEMPTS,
            timeout=None,
            wait_initial=0.5,
            wait_max=20.0,
        ):
            with attempt:
                return self._exchange(lane, request, accept)
        raise AssertionError("stamina either returns or raises")

    def _exchange(self, lane: _Lane, request: Request, accept: frozenset[int]) -> Response:
        """One request with its redirects; broken answers and 5xx are worth another attempt."""
        for _ in range(MAX_REDIRECTS):
            response = self._transport.send(self._dressed(lane, request))
            target = response.headers.get("location")
            if response.status not in _REDIRECTS or target is None:
                break
            request = _redirected(request, urljoin(request.url, target), response.status)
        else:
            raise SourceUnavailableError(f"{place(request.url)} redirects without end.")
        if response.status >= 500 and response.status not in accept:
            raise SourceUnavailableError(
                f"{place(request.url)} answered {response.status}; try again later."
            )
        return parsed(response)

    def _dressed(self, lane: _Lane, request: Request) -> Request:
        headers = {
            "accept": "application/vnd.github+json",
            "user-agent": "swe-evergreen",
            "x-github-api-version": API_VERSION,
            **request.headers,
        }
        if lane.token and _origin(request.url) == _origin(self.base_url):
            headers["authorization"] = f"Bearer {lane.token.reveal()}"
        return replace(request, headers=headers)

    def _judged(self, response: Response, accept: frozenset[int]) -> Response:
        if response.status in accept:
            return response
        if not 200 <= response.status < 300:
            raise refusal(response, has_token=self.has_token, redact=self.redact)
        if response.answer is None:
            raise ConfigError(unlike_api(response.url))
        return response


def _redirected(request: Request, url: str, status: int) -> Request:
    if status == 303 or (status in (301, 302) and request.method == "POST"):
        return replace(request, method="GET", url=url, body=b"")
    return replace(request, url=url)


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port
