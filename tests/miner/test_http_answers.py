"""What a refusal means, as values in and an error out; nothing secret is in it."""

import json

import pytest

from miner.errors import (
    BadItemError,
    BlockedError,
    ConfigError,
    NoPermissionError,
    NotFoundError,
    SourceUnavailableError,
)
from miner.http.answers import parsed, refusal
from miner.wire import Response

PLACE = "https://api.example/repos/o/r?access=s3cret"


def answer(status: int, body: object) -> Response:
    """An answer with a JSON body."""
    text = json.dumps(body).encode()
    json_type = {"content-type": "application/json; charset=utf-8"}
    return parsed(Response(status=status, headers=json_type, body=text, url=PLACE))


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (401, {}, ConfigError, "api.example refuses the token (401)"),
        (404, {}, NotFoundError, "api.example/repos/o/r does not exist"),
        (410, None, ConfigError, "does not answer like GitHub's API"),
        (451, {}, BlockedError, "(legal)"),
        (403, {"block": {"reason": "dmca"}}, BlockedError, "(dmca)"),
        (
            403,
            {"message": "no s3cret"},
            NoPermissionError,
            "may not read api.example/repos/o/r: no ***",
        ),
        (422, {"message": "no s3cret"}, BadItemError, "answered 422: no ***"),
        (418, [], BadItemError, "answered 418: no reason given"),
    ],
)
def test_what_a_refusal_means(status: int, body: object, kind: type[Exception], words: str) -> None:
    found = refusal(
        answer(status, body), has_token=True, redact=lambda text: text.replace("s3cret", "***")
    )
    assert type(found) is kind
    assert words in str(found)
    assert "s3cret" not in str(found)


def test_without_a_token_one_is_wanted() -> None:
    found = refusal(answer(401, {}), has_token=False, redact=str)
    assert "wants a token" in str(found)


def test_broken_json_is_worth_another_try() -> None:
    broken = Response(
        status=200, headers={"content-type": "application/json"}, body=b"{", url=PLACE
    )
    with pytest.raises(SourceUnavailableError, match=r"api\.example/repos/o/r sent broken JSON"):
        parsed(broken)


def test_what_is_no_json_is_left_as_it_is() -> None:
    plain = Response(status=200, headers={}, body=b"{", url=PLACE)
    assert parsed(plain) == plain
