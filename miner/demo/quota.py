"""Hourly budgets per token and resource, as GitHub counts them."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

LIMITS: Mapping[str, int] = {"core": 5000, "graphql": 5000, "search": 30}
WINDOWS_S: Mapping[str, int] = {"core": 3600, "graphql": 3600, "search": 60}


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """What a token has left of a resource."""

    resource: str
    limit: int
    used: int
    reset_at: datetime

    @property
    def remaining(self) -> int:
        """Never below 0."""
        return max(0, self.limit - self.used)

    def headers(self) -> dict[str, str]:
        """The `x-ratelimit-*` headers of every answer."""
        return {
            "x-ratelimit-limit": str(self.limit),
            "x-ratelimit-remaining": str(self.remaining),
            "x-ratelimit-used": str(self.used),
            "x-ratelimit-reset": str(int(self.reset_at.timestamp())),
            "x-ratelimit-resource": self.resource,
        }


class Quota:
    """Counts what each token used; a window starts at its first use and ends by the clock."""

    def __init__(
        self, clock: Callable[[], datetime], *, limits: Mapping[str, int] | None = None
    ) -> None:
        self._clock = clock
        self._limits = {**LIMITS, **(limits or {})}
        self._used: dict[tuple[str, str], tuple[int, datetime]] = {}
        self._lock = threading.Lock()

    def balance(self, token: str, resource: str) -> Balance:
        """Without charging anything."""
        with self._lock:
            return self._balance(token, resource)

    def charge(self, token: str, resource: str, points: int) -> tuple[bool, Balance]:
        """Take the points when there are enough; was it so, and what is left."""
        with self._lock:
            balance = self._balance(token, resource)
            if balance.remaining < points:
                return False, balance
            self._used[(token, resource)] = (balance.used + points, balance.reset_at)
            return True, self._balance(token, resource)

    def _balance(self, token: str, resource: str) -> Balance:
        now = self._clock()
        used, reset_at = self._used.get((token, resource), (0, now))
        if reset_at <= now:
            reset_at = now + timedelta(seconds=WINDOWS_S[resource])
            used = 0
            self._used[(token, resource)] = (used, reset_at)
        return Balance(
            resource=resource, limit=self._limits[resource], used=used, reset_at=reset_at
        )
