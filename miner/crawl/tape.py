"""Record a crawl's answers and replay them offline, as JSON lines without secrets.

The first line names the API; each further one is an exchange: what was asked (no header but
If-None-Match) and what came (only the headers that a crawl reads), or a file that was downloaded,
or what git brought (`taped_git.py`). Limits and server errors are not kept: a replay has nothing to
wait for. Files and git's packs lie in the folder `<tape>.files`, named by their content.
"""

import base64
import hashlib
import json
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from miner.errors import ConfigError, MinerError, NotFoundError, SourceUnavailableError
from miner.rategate import limit_of
from miner.wire import Request, Response, Token, Transport, place

VERSION = 2
_KEPT_HEADERS = frozenset({"content-type", "etag", "location", "link"})
_CHUNK_BYTES = 1 << 18
_Key = tuple[str, str, str, str]


def files_of(tape: Path) -> Path:
    """The folder beside a tape for what is too large for a line."""
    return tape.with_name(f"{tape.name}.files")


class Recorder:
    """A Transport that writes down what passes. `secrets` are blanked in answers. Thread-safe."""

    def __init__(
        self, inner: Transport, path: Path, *, base_url: str, secrets: Sequence[Token]
    ) -> None:
        self._inner = inner
        self._secrets = tuple(secrets)
        self._lock = threading.Lock()
        self.files = files_of(path)
        try:
            self._file = path.open("w", encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{path} cannot be written: {error.strerror}.") from None
        self.write({"tape": VERSION, "base_url": base_url})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, request: Request) -> Response:
        """See Transport."""
        response = self._inner.send(request)
        response = replace(response, body=_redacted(response.body, self._secrets))
        if not _is_passing_trouble(response):
            self.write({"asked": _asked(request), "came": _came(response)})
        return response

    def stream(self, request: Request) -> Iterator[bytes]:
        """See Transport. What was read of a file is kept, also when its reader breaks off."""
        self.files.mkdir(exist_ok=True)
        digest = hashlib.sha256()
        trouble: MinerError | None = None
        with tempfile.NamedTemporaryFile(dir=self.files, delete=False) as kept:
            try:
                for piece in self._inner.stream(request):
                    kept.write(piece)
                    digest.update(piece)
                    yield piece
            except MinerError as error:
                trouble = error
                raise
            finally:
                kept.flush()
                self._keep(request.url, Path(kept.name), digest.hexdigest(), trouble)

    def _keep(self, url: str, file: Path, sha256: str, trouble: MinerError | None) -> None:
        """Name a file by its content, and note it; passing trouble is not kept."""
        if trouble is not None:
            file.unlink()
            if isinstance(trouble, NotFoundError):
                self.write({"file": url, "is": None})
            return
        name = f"file-{sha256}"
        file.rename(self.files / name)
        self.write({"file": url, "is": name})

    def close(self) -> None:
        """See Transport."""
        self._file.close()
        self._inner.close()

    def write(self, line: Mapping[str, object]) -> None:
        """Append a line."""
        with self._lock:
            self._file.write(json.dumps(line, ensure_ascii=True) + "\n")
            self._file.flush()


class Player:
    """A Transport that answers from a tape. Equal questions are answered in recorded order."""

    def __init__(self, path: Path) -> None:
        lines = _lines(path)
        self.base_url = str(lines[0]["base_url"])
        self.files = files_of(path)
        self._answers: dict[_Key, deque[Response]] = {}
        self._streams: dict[str, str | None] = {}
        self._git: dict[str, list[Mapping[str, object]]] = {}
        try:
            for line in lines[1:]:
                self._take(line)
        except (KeyError, TypeError, AttributeError):
            raise ConfigError(f"{path} is not a tape of this version.") from None

    def _take(self, line: Mapping[str, Any]) -> None:
        if "file" in line:
            self._streams[line["file"]] = line["is"]
        elif "git" in line:
            self._git.setdefault(line["git"].lower(), []).append(line)
        else:
            asked = line["asked"]
            key = (asked["method"], asked["url"], asked["body"], asked["if_none_match"])
            self._answers.setdefault(key, deque()).append(_response(asked["url"], line["came"]))

    def git(self, name: str) -> Sequence[Mapping[str, object]]:
        """What git brought of a repository, in order."""
        return tuple(self._git.get(name.lower(), ()))

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
        """See Transport."""
        if request.url not in self._streams:
            raise SourceUnavailableError(f"The tape holds no file {request.url}.")
        name = self._streams[request.url]
        if name is None:
            raise NotFoundError(f"{place(request.url)} does not exist.")
        try:
            with (self.files / name).open("rb") as kept:
                while piece := kept.read(_CHUNK_BYTES):
                    yield piece
        except OSError as error:
            raise ConfigError(
                f"{self.files / name} cannot be read ({error.strerror}); it belongs to the tape."
            ) from None

    def close(self) -> None:
        """See Transport."""


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
