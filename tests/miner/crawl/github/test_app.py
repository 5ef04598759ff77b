"""Tokens of GitHub App installations."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from miner.crawl.github.app import installation_token
from miner.errors import ConfigError, SourceUnavailableError
from tests.serving import serving


@pytest.fixture(scope="module")
def private_key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


class Api(HTTPServer):
    """Gives out tokens ghs_1, ghs_2 … that expire after `lasts`."""

    lasts = timedelta(hours=1)
    status = 201
    given = 0


class Handler(BaseHTTPRequestHandler):
    """POST /app/installations/7/access_tokens."""

    server: Api

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.given += 1
        expires = (datetime.now(UTC) + self.server.lasts).strftime("%Y-%m-%dT%H:%M:%SZ")
        answer = {"token": f"ghs_{self.server.given}", "expires_at": expires, "message": "no"}
        body = json.dumps(answer).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def api() -> Iterator[Api]:
    with serving(Api(("127.0.0.1", 0), Handler)) as server:
        yield server


def url(api: Api) -> str:
    return f"http://127.0.0.1:{api.server_port}"


def test_a_token_is_kept_while_it_lasts_and_renewed_before_it_ends(
    api: Api, private_key: str
) -> None:
    token = installation_token("1", private_key, 7, base_url=url(api))
    assert api.given == 0
    assert [token.reveal(), token.reveal()] == ["ghs_1", "ghs_1"]
    api.lasts = timedelta(seconds=5)
    short = installation_token("1", private_key, 7, base_url=url(api))
    assert [short.reveal(), short.reveal()] == ["ghs_2", "ghs_3"]
    assert short.redact("ghs_2 ghs_3") == "*** ***"


def test_a_refused_app_is_a_persons_mistake(api: Api, private_key: str) -> None:
    api.status = 401
    with pytest.raises(ConfigError, match="installation 7 of app 1"):
        installation_token("1", private_key, 7, base_url=url(api)).reveal()


def test_a_bad_key_is_told_without_showing_it(api: Api) -> None:
    with pytest.raises(ConfigError, match="PEM") as caught:
        installation_token("1", "secretkey", 7, base_url=url(api)).reveal()
    assert "secretkey" not in f"{caught.value!r}"


def test_an_api_that_is_away_is_unavailable(private_key: str) -> None:
    token = installation_token("1", private_key, 7, base_url="http://127.0.0.1:1")
    with pytest.raises(SourceUnavailableError, match="try again"):
        token.reveal()
