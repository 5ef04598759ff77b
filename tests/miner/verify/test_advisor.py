"""A recipe from an endpoint: a local server that says what the test wants."""

import json
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from miner.verify.advisor import LOG_CHARS, EndpointAdvisor, question, recipe_of
from tests.miner.verify.attempts import failed_attempt
from tests.serving import serving
from validators.model import ProjectInstall

GOOD = '{"python": "3.9", "requirements": [".", "pytest"], "apt": ["libpq-dev"]}'


@contextmanager
def _endpoint(content: str, *, status: int = 200) -> Iterator[tuple[str, list[bytes]]]:
    asked: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(str(self.headers["Authorization"]).encode())
            body = json.dumps({"choices": [{"message": {"content": content}}]}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with serving(HTTPServer(("127.0.0.1", 0), Handler)) as server:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked


def test_an_answer_becomes_a_recipe() -> None:
    with _endpoint(f"Here you are:\n```json\n{GOOD}\n```") as (url, asked):
        advisor = EndpointAdvisor(url=url, model="m", key="secret")
        (recipe,) = advisor({"setup.py": "setup()"}, [failed_attempt(b"no numpy")])
    assert recipe.python == "3.9"
    assert recipe.requirements == (".", "pytest")
    assert recipe.apt == ("libpq-dev",)
    assert recipe.origin == "advisor"
    said = json.loads(asked[0])
    assert said["model"] == "m"
    assert "setup()" in said["messages"][1]["content"]
    assert "no numpy" in said["messages"][1]["content"]
    assert asked[1] == b"Bearer secret"


@pytest.mark.parametrize(
    "content",
    [
        "I cannot help.",
        "{",
        '{"python": "2.7"}',
        '{"python": "3.9", "apt": ["x; rm -rf /"]}',
        '{"python": "3.9", "lock": "evil==1"}',
        '{"python": "3.9", "requirements": ["a\\nb"]}',
        '{"python": "3.9", "runner": "bash"}',
        '{"python": "3.9", "requirements": ["--index-url https://x.invalid/simple", "six"]}',
        '{"python": "3.9", "requirements": ["$(id)"]}',
        '{"python": "3.9", "build_requirements": ["a && b"]}',
        '{"python": "3.9", "test_cmd": " "}',
        '{"python": "3.9", "runner": "unittest", "test_cmd": "make check"}',
    ],
)
def test_any_other_answer_is_no_recipe(content: str) -> None:
    with _endpoint(content) as (url, _):
        assert EndpointAdvisor(url=url, model="m")({}, []) == ()


def test_an_endpoint_that_fails_gives_no_recipe() -> None:
    with _endpoint(GOOD, status=500) as (url, _):
        assert EndpointAdvisor(url=url, model="m")({}, []) == ()
    assert EndpointAdvisor(url="http://127.0.0.1:9/v1", model="m")({}, []) == ()


def test_a_question_is_bounded() -> None:
    text = question({"a": "x" * 10**6}, [failed_attempt(b"y" * 10**6)])
    assert len(text) < 30_000
    assert text.count("y") <= LOG_CHARS + 10


def test_the_key_is_never_shown_and_the_advisor_travels() -> None:
    advisor = EndpointAdvisor(url="http://h", model="m", key="secret")
    assert "secret" not in repr(advisor)
    assert pickle.loads(pickle.dumps(advisor)) == advisor  # noqa: S301 - our own


def test_all_of_a_recipe_can_be_advised() -> None:
    said = '{"python": "3.12", "project_install": "none", "source_paths": ["src"]}'
    recipe = recipe_of(said)
    assert recipe.project_install is ProjectInstall.NONE
    assert recipe.source_paths == ("src",)
