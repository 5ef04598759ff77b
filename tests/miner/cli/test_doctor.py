"""Is everything there that a command would need? Each thing on its own, and what to do."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from miner.cli import exits
from miner.errors import ConfigError
from miner.git.command import new_enough, version
from miner.store import Database
from tests.miner.cli.conftest import Miner
from tests.serving import serving

DATED = b'{"files": [{"filename": "pytest-8.0.tar.gz", "upload-time": "2024-01-27T21:47:46Z"}]}'
UNDATED = b'{"files": [{"filename": "pytest-8.0.tar.gz"}]}'
NOWHERE = "http://127.0.0.1:9"


@contextmanager
def index(body: bytes, *, status: int = 200) -> Iterator[str]:
    """A package index with one page; its address."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """The page of pytest, as JSON only to who asks for it."""
            asked = self.path == "/simple/pytest/" and "simple.v1+json" in self.headers["accept"]
            self.send_response(status if asked else 404)
            self.end_headers()
            self.wfile.write(body if asked else b"")

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Page)) as server:
        yield f"http://127.0.0.1:{server.server_port}/simple"


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINER_INDEX_URL", NOWHERE)
    monkeypatch.setenv("MINER_GITHUB_URL", NOWHERE)
    monkeypatch.setenv("MINER_ENGINE", "unix:///nowhere/engine.sock")


def findings(miner: Miner) -> dict[str, tuple[bool, str]]:
    """What → (good, text)."""
    answer = miner("doctor", "--json")
    assert answer.code == exits.DIFFERS  # there is no engine
    return {each["what"]: (each["good"], each["text"]) for each in json.loads(answer.out)}


def test_every_part_of_the_machine_is_looked_at(miner: Miner, db: Database) -> None:
    found = findings(miner)
    assert list(found) == [
        "python", "git", "disk", "database", "engine", "certificates", "index", "token",
    ]  # fmt: skip
    assert found["git"] == (True, version())
    assert found["database"][0]
    assert found["engine"][0] is False


@pytest.mark.parametrize(
    "said", ["git version 2.34.1", "git version 3.0", "git version 2.39.5 (Apple)"]
)
def test_a_git_that_knows_our_options_will_do(said: str) -> None:
    assert new_enough(said) == said.split()[2]


@pytest.mark.parametrize("said", ["git version 2.33.8", "git version 1.99", ""])
def test_an_older_git_is_told(said: str) -> None:
    with pytest.raises(ConfigError, match=r"is too old; install git 2\.34 or newer\."):
        new_enough(said)


@pytest.mark.parametrize(
    ("body", "status", "good", "words"),
    [
        (DATED, 200, True, "answers, with dates"),
        (UNDATED, 200, False, "(PEP 700)."),
        (b"", 404, False, "answered 404; check MINER_INDEX_URL."),
    ],
)
def test_the_index_must_answer_with_dates(
    miner: Miner,
    monkeypatch: pytest.MonkeyPatch,
    body: bytes,
    status: int,
    good: bool,
    words: str,
) -> None:
    with index(body, status=status) as address:
        monkeypatch.setenv("MINER_INDEX_URL", address)
        found = findings(miner)["index"]
    assert found[0] is good
    assert words in found[1]


def test_an_index_that_is_away_is_told(miner: Miner) -> None:
    good, text = findings(miner)["index"]
    assert not good
    assert "cannot be reached" in text


def test_certificates_are_counted(
    miner: Miner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    good, text = findings(miner)["certificates"]
    assert good is ("authorities of" in text)
    (tmp_path / "ca.pem").write_text("nothing")
    monkeypatch.setenv("MINER_CA_BUNDLE", str(tmp_path / "ca.pem"))
    assert miner("doctor").code == exits.WRONG_INPUT


def test_an_app_is_a_token(miner: Miner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert findings(miner)["token"][0] is False
    monkeypatch.setenv("MINER_GITHUB_APPS", f"1:2:{tmp_path}/key.pem")
    assert "key.pem cannot be read" in findings(miner)["token"][1]
    (tmp_path / "key.pem").write_text("-----BEGIN RSA PRIVATE KEY-----")
    found = findings(miner)
    assert found["token"] == (True, "1 of App installations")
    assert found["api"][0] is False
