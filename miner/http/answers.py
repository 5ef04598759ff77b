"""What an HTTP answer means: its JSON, or the error that it is."""

import json
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

from miner.errors import (
    BadItemError,
    BlockedError,
    ConfigError,
    NoPermissionError,
    NotFoundError,
    SourceUnavailableError,
)
from miner.wire import Response, place


def parsed(response: Response) -> Response:
    """With its JSON, if it is any. SourceUnavailableError when that is broken."""
    if not response.body or "json" not in response.headers.get("content-type", ""):
        return response
    try:
        return replace(response, answer=json.loads(response.body))
    except (ValueError, RecursionError):
        raise SourceUnavailableError(
            f"{place(response.url)} sent broken JSON; try again later."
        ) from None


def refusal(
    response: Response, *, has_token: bool, redact: Callable[[str], str]
) -> ConfigError | BadItemError:
    """The error that an answer outside of 2xx means; what the server said is in it, redacted."""
    where = place(response.url)
    said = _message(response)
    match response.status:
        case 401:
            what = "refuses the token" if has_token else "wants a token"
            return ConfigError(
                f"{urlsplit(response.url).hostname} {what} (401): set a valid one (GITHUB_TOKEN)."
            )
        case 404 | 410 if response.answer is not None:
            return NotFoundError(f"{where} does not exist, or this token may not see it.")
        case 404 | 410:
            return ConfigError(unlike_api(response.url))
        case 403 | 451 if reason := _block_reason(response):
            return BlockedError(f"{where} is blocked ({reason}).", reason=reason)
        case 403:
            return NoPermissionError(redact(f"This token may not read {where}: {said}"))
        case _:
            return BadItemError(redact(f"{where} answered {response.status}: {said}"))


def _message(response: Response) -> str:
    answer = response.answer
    said = answer.get("message") if isinstance(answer, dict) else None
    return str(said or "no reason given")[:300]


def _block_reason(response: Response) -> str | None:
    answer = response.answer
    block = answer.get("block") if isinstance(answer, dict) else None
    if isinstance(block, dict):
        return str(block.get("reason") or "blocked")
    return "legal" if response.status == 451 else None


def unlike_api(url: str) -> str:
    """The sentence for an answer that no GitHub gives."""
    return f"{place(url)} does not answer like GitHub's API; check the base URL."
