"""What passes between an HTTP client and what carries its requests; and tokens.

Token       a secret whose repr is ***
Request, Response
Transport   carries one request: the network (`miner.http.HttpxTransport`), a tape, a fake
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

from miner.errors import ConfigError


class Token:
    """A secret, or a function that gives the present one (App tokens change hourly)."""

    __slots__ = ("_reveal", "_seen")

    def __init__(self, secret: str | Callable[[], str]) -> None:
        self._seen: set[str] = set()
        self._reveal = secret if callable(secret) else lambda: secret
        if not callable(secret):
            self.reveal()

    def reveal(self) -> str:
        """The secret itself, for the one header that carries it."""
        secret = self._reveal()
        if not secret or not secret.isascii() or not secret.isprintable() or " " in secret:
            raise ConfigError(
                "The API token is empty or holds a character that no token has; "
                "copy it again, without quotes or line ends."
            )
        self._seen.add(secret)
        return secret

    def redact(self, text: str) -> str:
        """`text` with every secret this token ever gave replaced by ***."""
        for secret in self._seen:
            text = text.replace(secret, "***")
        return text

    def __repr__(self) -> str:
        return "***"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What goes out. `headers` hold the token: only a Transport sees them."""

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What came back, read whole. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    url: str
    answer: object = field(default=None, repr=False)  # the parsed JSON, None when there is none


class Transport(Protocol):
    """Carries one request. SourceUnavailableError when nothing whole came back."""

    def send(self, request: Request) -> Response:
        """The answer, of any status; redirects are not followed."""
        ...

    def stream(self, request: Request) -> Iterator[bytes]:
        """The body of a 200, piece by piece; NotFoundError on 404."""
        ...

    def close(self) -> None:
        """Let go of connections; the last call."""
        ...


def place(url: str) -> str:
    """Host, port and path of an address, without query, user or secret: for messages."""
    parts = urlsplit(url)
    return f"{parts.netloc.rpartition('@')[2]}{parts.path}"
