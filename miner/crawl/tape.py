"""Record a crawl's answers and replay them offline, as JSON lines without secrets.

The first line names the API; each further one is an exchange: what was asked (no header but
If-None-Match) and what came (only the headers that a crawl reads). Limits and server errors are
not kept: a replay has nothing to wait for. git is not taped: a replay reads the mirrors that the
recorded crawl left (`KeptMirrors`).
"""

import base64
import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from miner.errors import ConfigError, SourceUnavailableError
from miner.git import Mirror, Mirrors
from miner.rategate import limit_of
from miner.wire import Request, Response, Token, Transport

VERSION = 1
_KEPT_HEADERS = frozenset({"content-type", "etag", "location", "link"})
_Key = tuple[str, str, str, str]


class Recorder:
    """A Transport that writes down what passes. `secrets` are blanked in answers."""

    def __init__(
        self, inner: Transport, path: Path, *, base_url: str, secrets: Sequence[Token]
    ) -> None:
        self._inner = inner
        self._secrets = tuple(secrets)
        try:
            self._file = path.open("w", encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{path} cannot be written: {error.strerror}.") from None
        self._write({"tape": VERSION, "base_url": base_url})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def send(self, request: Request) -> Response:
        """See Transport."""
        response = self._inner.send(request)
        response = replace(response, body=_redacted(response.body, self._secrets))
        if not _is_passing_trouble(response):
            self._write({"asked": _asked(request), "came": _came(response)})
        return response

    def stream(self, request: Request) -> Iterator[bytes]:
        """See Transport; files are not taped."""
        return self._inner.stream(request)

    def close(self) -> None:
        """See Transport."""
        self._file.close()
        self._inner.close()

    def _write(self, line: Mapping[str, object]) -> None:
        self._file.write(json.dumps(line, ensure_ascii=True) + "\n")
        self._file.flush()


class Player:
    """A Transport that answers from a tape. Equal questions are answered in recorded order."""

    def __init__(self, path: Path) -> None:
        lines = _lines(path)
        self.base_url = str(lines[0]["base_url"])
        self._answers: dict[_Key, deque[Response]] = {}
        for line in lines[1:]:
            asked, came = line["asked"], line["came"]
            if not isinstance(asked, dict) or not isinstance(came, dict):
                raise ConfigError(f"{path} is not a tape of this version.")
            key = (asked["method"], asked["url"], asked["body"], asked["if_none_match"])
            self._answers.setdefault(key, deque()).append(_response(asked["url"], came))

    def send(self, request: Request) -> Response:
        """See Transport. SourceUnavailableError for what was never asked."""
        asked = _asked(request)
        key = (asked["method"], asked["url"], asked["body"], asked["if_none_match"])
        answers = self._answers.get(key)
        if not answers:
            raise SourceUnavailableError(
                f"The tape holds no answer to {request.method} {request.url}; "
                "replay with the same repositories and an empty database."
            )
        return answers.popleft() if len(answers) > 1 else answers[0]

    def stream(self, request: Request) -> Iterator[bytes]:
        """See Transport; files are not taped."""
        raise SourceUnavailableError(f"Files are not taped: {request.url}.")

    def close(self) -> None:
        """See Transport."""


@dataclass(frozen=True, slots=True)
class KeptMirrors:
    """Mirrors as they are: `update` fetches nothing."""

    mirrors: Mirrors

    def open(self, name: str) -> Mirror:
        """See `Mirrors.open`."""
        return self.mirrors.open(name)

    def update(
        self,
        name: str,
        clone_url: str,  # noqa: ARG002 - nothing is fetched
        *,
        refs: Sequence[str] = (),  # noqa: ARG002
        credentials: tuple[str, str] | None = None,  # noqa: ARG002
    ) -> Mirror:
        """The mirror that is there. ConfigError when there is none."""
        return self.mirrors.open(name)


def _asked(request: Request) -> dict[str, str]:
    return {
        "method": request.method,
        "url": request.url,
        "body": request.body.decode("utf-8"),
        "if_none_match": request.headers.get("if-none-match", ""),
    }


def _came(response: Response) -> dict[str, object]:
    headers = {name: text for name, text in response.headers.items() if name in _KEPT_HEADERS}
    told: dict[str, object] = {"status": response.status, "headers": headers}
    try:
        return told | {"body": response.body.decode("utf-8")}
    except UnicodeDecodeError:
        return told | {"base64": base64.b64encode(response.body).decode()}


def _response(url: str, came: Mapping[str, object]) -> Response:
    headers, status = came["headers"], came["status"]
    body = came.get("body")
    packed = came.get("base64", "")
    if not isinstance(headers, dict) or not isinstance(status, int):
        raise ConfigError("The tape holds an answer without status or headers.")
    return Response(
        status=status,
        headers=headers,
        body=body.encode() if isinstance(body, str) else base64.b64decode(str(packed)),
        url=url,
    )


def _redacted(body: bytes, secrets: Sequence[Token]) -> bytes:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return body
    for token in secrets:
        text = token.redact(text)
    return text.encode()


def _is_passing_trouble(response: Response) -> bool:
    """A limit, a server error or a broken answer: the next attempt's answer is the one."""
    if response.status >= 500:
        return True
    try:
        answer = json.loads(response.body) if response.body else None
    except ValueError:
        return True
    limit = limit_of(response.status, response.headers, answer, now=datetime.now(UTC))
    return limit is not None


def _lines(path: Path) -> Sequence[Mapping[str, object]]:
    try:
        text = path.read_text("utf-8")
        lines = [json.loads(line) for line in text.splitlines()]
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise ConfigError(f"{path} is not a tape, or was cut off while recording.") from None
    if not lines or not isinstance(lines[0], dict) or lines[0].get("tape") != VERSION:
        raise ConfigError(f"{path} is not a tape of this version.")
    return lines
