"""The HTTP client: limits in every form, retries, redirects, errors, and no secret anywhere."""

import json
import logging
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import stamina

from miner.errors import (
    BadItemError,
    BlockedError,
    ConfigError,
    MinerError,
    NoPermissionError,
    NotFoundError,
    RateLimitedError,
    SourceUnavailableError,
)
from miner.http import API_VERSION, HttpClient, HttpxTransport
from miner.rategate import MAX_STRIKES
from miner.wire import Request, Response, Token

START = datetime(2024, 1, 1, 12, tzinfo=UTC)
SECRET = "ghp_0123456789secret"
BASE = "https://api.example.test"


@pytest.fixture(autouse=True)
def _no_waiting() -> Iterator[None]:
    with stamina.set_testing(True, attempts=3, cap=True):
        yield


class Time:
    """A clock that moves only by sleeping."""

    def __init__(self) -> None:
        self.now = START
        self.slept: list[float] = []

    def __call__(self) -> datetime:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)


class Script:
    """A transport that gives its answers in order; the last one for ever."""

    def __init__(self, *answers: Response | MinerError) -> None:
        self.answers = list(answers)
        self.requests: list[Request] = []

    def send(self, request: Request) -> Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, MinerError):
            raise answer
        return answer

    def stream(self, request: Request) -> Iterator[bytes]:
        self.requests.append(request)
        yield b""

    def close(self) -> None:
        """Nothing is held."""


def answer(
    status: int = 200, body: object = None, headers: Mapping[str, str] | None = None
) -> Response:
    return Response(
        status=status,
        headers={"content-type": "application/json", **(headers or {})},
        body=json.dumps({} if body is None else body).encode(),
        url=f"{BASE}/x",
    )


def budget(remaining: int, reset: datetime, resource: str = "core") -> dict[str, str]:
    return {
        "x-ratelimit-limit": "5000",
        "x-ratelimit-remaining": str(remaining),
        "x-ratelimit-reset": str(int(reset.timestamp())),
        "x-ratelimit-resource": resource,
    }


def client_of(
    script: Script, time: Time, *, max_wait_s: float = 4000, tokens: int = 1
) -> HttpClient:
    return HttpClient(
        BASE,
        tokens=[Token(f"{SECRET}{n}") for n in range(tokens)],
        transport=script,
        clock=time,
        sleep=time.sleep,
        max_wait_s=max_wait_s,
    )


OK = answer()
A_WHILE_AGO = START - timedelta(minutes=5)
IN_5_MIN = START + timedelta(minutes=5)
LIMITED = {"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}
SECONDARY = {"message": "You have exceeded a secondary rate limit."}

GRAPHQL_SECONDARY = {"errors": [SECONDARY]}
A_DATE = {"retry-after": "Mon, 01 Jan 2024 12:00:40 GMT"}
LIMITS: list[tuple[str, Response, float]] = [
    ("403 primary", answer(403, {"message": "x"}, budget(0, IN_5_MIN)), 301),
    ("429 primary", answer(429, {"message": "x"}, budget(0, IN_5_MIN)), 301),
    ("403 with Retry-After", answer(403, SECONDARY, {"retry-after": "17"}), 17),
    ("429 with Retry-After", answer(429, {}, {"retry-after": "17"}), 17),
    ("403 secondary, no time told", answer(403, SECONDARY, budget(99, IN_5_MIN)), 60),
    ("429 secondary, no time told", answer(429, {}), 60),
    ("403 abuse wording", answer(403, {"message": "abuse detection mechanism"}), 60),
    ("Retry-After as a date", answer(429, {}, A_DATE), 40),
    ("GraphQL primary", answer(200, LIMITED, budget(0, IN_5_MIN)), 301),
    ("GraphQL primary, too few points left", answer(200, LIMITED, budget(1, IN_5_MIN)), 301),
    ("GraphQL secondary in a 200", answer(200, GRAPHQL_SECONDARY), 60),
    ("GraphQL secondary with Retry-After", answer(200, GRAPHQL_SECONDARY, {"retry-after": "9"}), 9),
    ("primary whose reset has passed", answer(403, {"message": "x"}, budget(0, A_WHILE_AGO)), 60),
]  # fmt: skip


@pytest.mark.parametrize(("limit", "wait_s"), [c[1:] for c in LIMITS], ids=[c[0] for c in LIMITS])
def test_a_limit_is_waited_out_and_the_request_repeated(limit: Response, wait_s: float) -> None:
    time, script = Time(), Script(limit, OK)
    client_of(script, time).get("x")
    assert sum(time.slept) == pytest.approx(wait_s)
    assert len(script.requests) == 2


@pytest.mark.parametrize("limit", [c[1] for c in LIMITS], ids=[c[0] for c in LIMITS])
def test_a_wait_longer_than_allowed_is_an_error_that_says_until_when(limit: Response) -> None:
    time, script = Time(), Script(limit, OK)
    client = client_of(script, time, max_wait_s=5)
    with pytest.raises(RateLimitedError, match="wait until 2024-01-01 12:") as caught:
        client.get("x")
    assert caught.value.until > START
    assert (time.slept, len(script.requests)) == ([], 1)
    with pytest.raises(RateLimitedError):
        client.get("y")
    assert len(script.requests) == 1  # nothing is sent while a limit says wait


def test_an_exhausted_budget_closes_the_gate_before_the_next_request() -> None:
    time, script = Time(), Script(answer(headers=budget(0, IN_5_MIN)), OK)
    client = client_of(script, time)
    client.get("x")
    assert time.slept == []
    client.get("x")
    assert time.slept == [301]


def test_budgets_are_kept_apart_by_resource() -> None:
    time, script = Time(), Script(answer(headers=budget(0, IN_5_MIN, "graphql")), OK)
    client = client_of(script, time)
    client.post("graphql", {})
    client.get("x")
    assert time.slept == []
    client.post("graphql", {})
    assert time.slept == [301]


def test_secondary_limits_in_a_row_double_the_wait_and_come_to_an_end() -> None:
    time, script = Time(), Script(answer(403, SECONDARY))
    client = client_of(script, time)
    with pytest.raises(RateLimitedError):
        client.get("x")
    assert time.slept == [60 * 2**n for n in range(MAX_STRIKES - 1)]


def test_a_good_answer_ends_the_row_of_limits() -> None:
    time, script = Time(), Script(answer(403, SECONDARY), OK, answer(403, SECONDARY), OK)
    client = client_of(script, time)
    client.get("x")
    client.get("x")
    assert time.slept == [60, 60]


def test_another_token_goes_on_while_one_must_wait() -> None:
    time, script = Time(), Script(answer(403, SECONDARY), OK)
    client_of(script, time, tokens=2).get("x")
    assert time.slept == []
    used = [r.headers["authorization"] for r in script.requests]
    assert used == [f"Bearer {SECRET}0", f"Bearer {SECRET}1"]


def test_each_token_has_a_client_of_its_own_with_the_same_gates() -> None:
    time, script = Time(), Script(answer(headers=budget(7, IN_5_MIN)), OK)
    client = client_of(script, time, tokens=2)
    first, second = client.singles()
    first.get("x")
    second.get("x")
    assert [r.headers["authorization"][-1] for r in script.requests] == ["0", "1"]
    assert [[b.remaining for b in lane] for lane in client.budgets()] == [[7], []]


def test_a_token_has_one_request_in_flight() -> None:
    inside, most = 0, 0
    lock = threading.Lock()

    class Slow(Script):
        def send(self, request: Request) -> Response:  # noqa: ARG002
            nonlocal inside, most
            with lock:
                inside += 1
                most = max(most, inside)
            started.wait(5)
            with lock:
                inside -= 1
            return OK

    started = threading.Event()
    client = client_of(Slow(OK), Time(), tokens=2)
    threads = [threading.Thread(target=client.get, args=("x",)) for _ in range(6)]
    for thread in threads:
        thread.start()
    started.set()
    for thread in threads:
        thread.join(10)
    assert 1 <= most <= 2


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_server_error_is_tried_again(status: int) -> None:
    script = Script(answer(status), answer(status), OK)
    client_of(script, Time()).get("x")
    assert len(script.requests) == 3


def test_a_server_error_that_stays_is_unavailable() -> None:
    script = Script(answer(500))
    with pytest.raises(SourceUnavailableError, match="500"):
        client_of(script, Time()).get("x")
    assert len(script.requests) == 3


def test_an_accepted_status_is_the_callers() -> None:
    script = Script(answer(502))
    got = client_of(script, Time()).post("graphql", {}, accept=frozenset({502}))
    assert (got.status, len(script.requests)) == (502, 1)


def test_broken_json_is_tried_again() -> None:
    broken = Response(status=200, headers={"content-type": "application/json"}, body=b'{"a": [1',
                      url=f"{BASE}/x")  # fmt: skip
    script = Script(broken, answer(200, {"a": 1}))
    assert client_of(script, Time()).get("x").answer == {"a": 1}


ERRORS: list[tuple[Response, type[MinerError], str]] = [
    (answer(401, {"message": "Bad credentials"}), ConfigError, "refuses the token"),
    (answer(404, {"message": "Not Found"}), NotFoundError, "does not exist"),
    (answer(410, {"message": "Gone"}), NotFoundError, "does not exist"),
    (answer(451, {"block": {"reason": "dmca"}}), BlockedError, "dmca"),
    (answer(451, {}), BlockedError, "legal"),
    (answer(403, {"message": "Repository access blocked", "block": {"reason": "tos"}}),
     BlockedError, "tos"),
    (answer(403, {"message": "Resource not accessible by integration"}),
     NoPermissionError, "may not read"),
    (answer(422, {"message": "Validation Failed"}), BadItemError, "422: Validation"),
    (Response(status=404, headers={"content-type": "text/html"}, body=b"<html>", url=f"{BASE}/x"),
     ConfigError, "base URL"),
    (Response(status=200, headers={"content-type": "text/html"}, body=b"<html>", url=f"{BASE}/x"),
     ConfigError, "base URL"),
]  # fmt: skip


@pytest.mark.parametrize(("refusal", "kind", "words"), ERRORS)
def test_a_refusal_is_a_typed_error(refusal: Response, kind: type[MinerError], words: str) -> None:
    with pytest.raises(kind, match=words):
        client_of(Script(refusal), Time()).get("x")


def test_every_request_pins_the_api_version() -> None:
    script = Script(OK)
    client_of(script, Time()).get("x", params={"a": "b c"})
    (request,) = script.requests
    assert request.headers["x-github-api-version"] == API_VERSION
    assert request.url == f"{BASE}/x?a=b+c"


def moved(status: int, to: str) -> Response:
    return answer(status, {}, {"location": to})


def test_a_redirect_on_the_same_host_keeps_the_token() -> None:
    script = Script(moved(301, "/repositories/7"), OK)
    client_of(script, Time()).get("repos/old/name")
    assert [r.url for r in script.requests] == [f"{BASE}/repos/old/name", f"{BASE}/repositories/7"]
    assert "authorization" in script.requests[1].headers


@pytest.mark.parametrize("to", ["https://evil.test/x", "http://api.example.test/x"])
def test_a_redirect_elsewhere_never_takes_the_token_along(to: str) -> None:
    script = Script(moved(302, to), OK)
    client_of(script, Time()).get("x")
    assert "authorization" not in script.requests[1].headers


def test_a_post_is_repeated_only_where_the_redirect_says_so() -> None:
    script = Script(moved(308, "/y"), OK)
    client_of(script, Time()).post("x", {"q": 1})
    assert [(r.method, r.body) for r in script.requests] == [("POST", b'{"q": 1}')] * 2
    script = Script(moved(302, "/y"), OK)
    client_of(script, Time()).post("x", {"q": 1})
    assert script.requests[1].method == "GET"


def test_redirects_come_to_an_end() -> None:
    with pytest.raises(SourceUnavailableError, match="without end"):
        client_of(Script(moved(301, "/x")), Time()).get("x")


@pytest.mark.parametrize("secret", ["", "two words", "ghp_x\n", "ghp_ü", "\x00"])
def test_a_malformed_token_is_told_at_once_and_not_repeated(secret: str) -> None:
    with pytest.raises(ConfigError, match="token") as caught:
        Token(secret)
    assert not secret or secret not in str(caught.value)


@pytest.mark.parametrize("url", ["", "api.github.com", "ftp://x", "https://u:p@x.test", "https://"])
def test_a_malformed_base_url_is_told_at_once(url: str) -> None:
    with pytest.raises(ConfigError, match="base URL") as caught:
        HttpClient(url)
    assert "u:p" not in str(caught.value)


def test_a_token_shows_itself_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    token = Token(SECRET)
    echo = {"message": f"bad: Bearer {SECRET}"}
    for refusal in (answer(422, echo), answer(403, echo), answer(500, echo), answer(401, echo)):
        client = HttpClient(BASE, tokens=[token], transport=Script(refusal))
        with pytest.raises(MinerError) as caught:
            client.get("x")
        assert SECRET not in f"{caught.value}{caught.value!r}{caught.value.__context__!r}"
    request = Request(method="GET", url=BASE, headers={"authorization": SECRET})
    assert SECRET not in f"{token}{token!r}{request!r}{[token]}"
    assert SECRET not in caplog.text


def test_a_token_that_changes_is_asked_for_each_time() -> None:
    fresh = iter(["first", "second"])
    script = Script(OK)
    client = HttpClient(BASE, tokens=[Token(lambda: next(fresh))], transport=script)
    client.get("x")
    client.get("x")
    assert [r.headers["authorization"] for r in script.requests] == [
        "Bearer first",
        "Bearer second",
    ]
    assert client.redact("first, second") == "***, ***"


# the network itself, on loopback


class Server:
    """A loopback server whose every connection is handled by a function of ours."""

    def __init__(self, handle: Callable[[BaseHTTPRequestHandler], None]) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                handle(self)

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self) -> "Server":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def good(handler: BaseHTTPRequestHandler, body: bytes = b'{"fine": true}') -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def cut_off(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"fine"')
    handler.wfile.flush()
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def reset(handler: BaseHTTPRequestHandler) -> None:
    at_once = struct.pack("ii", 1, 0)  # closing then sends a reset
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
    handler.close_connection = True


def garbage(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"\x00\x01 this is no HTTP\r\n\r\n")
    handler.close_connection = True


@contextmanager
def failing_first(fault: Callable[[BaseHTTPRequestHandler], None], times: int) -> Iterator[Server]:
    left = times

    def handle(handler: BaseHTTPRequestHandler) -> None:
        nonlocal left
        left -= 1
        fault(handler) if left >= 0 else good(handler)

    with Server(handle) as server:
        yield server


@pytest.mark.parametrize("fault", [cut_off, reset, garbage])
def test_a_broken_connection_is_tried_again(
    fault: Callable[[BaseHTTPRequestHandler], None],
) -> None:
    with failing_first(fault, 2) as server, to(server) as client:
        assert client.get("x").answer == {"fine": True}
    with failing_first(fault, 99) as server, to(server) as client:
        with pytest.raises(SourceUnavailableError) as caught:
            client.get("x")
        assert SECRET not in str(caught.value)


def to(server: Server) -> HttpClient:
    return HttpClient(server.url, tokens=[Token(SECRET)])


def test_an_api_that_nobody_answers_for_is_unavailable() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        with (
            HttpClient(url) as client,
            pytest.raises(SourceUnavailableError, match=r"127.0.0.1.* cannot be reached"),
        ):
            client.get("x")


def test_a_file_is_streamed_without_our_token() -> None:
    seen: list[str | None] = []

    def handle(handler: BaseHTTPRequestHandler) -> None:
        seen.append(handler.headers["authorization"])
        good(handler, b"x" * 100_000)

    with Server(handle) as server, to(server) as client:
        assert b"".join(client.download(f"{server.url}/file")) == b"x" * 100_000
    assert seen == [None]


def test_a_file_that_is_not_there_is_told() -> None:
    with (
        Server(lambda handler: handler.send_error(404)) as server,
        to(server) as client,
        pytest.raises(NotFoundError),
    ):
        list(client.download(f"{server.url}/file"))


def test_a_ca_bundle_that_is_none_is_told(tmp_path: Path) -> None:
    bad = tmp_path / "ca.pem"
    bad.write_text("no certificate")
    for path in (bad, tmp_path / "missing.pem"):
        with pytest.raises(ConfigError, match="PEM"):
            HttpxTransport(ca_bundle=path)
