"""Making and updating mirrors: whole or not there, no secret in sight, one sentence on failure."""

import base64
import fcntl
import ipaddress
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from miner.errors import (
    BadItemError,
    BlockedError,
    ConfigError,
    MinerError,
    NotFoundError,
    RetryableError,
    SourceUnavailableError,
)
from miner.git import Mirrors
from miner.git.mirrors import _failure
from tests.miner.git.repository import ENVIRONMENT, Repository
from tests.serving import serving

SECRET = "ghp_very'secret$token"


class GitHandler(BaseHTTPRequestHandler):
    """git http-backend behind Basic authentication, as GitHub serves it."""

    root = Path("/nonexistent")
    seen: list[str]

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        self._serve(self.rfile.read(int(self.headers["Content-Length"])))

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    def _serve(self, body: bytes) -> None:
        self.seen.append(self.headers.get("Authorization", ""))
        expected = base64.b64encode(f"x-access-token:{SECRET}".encode()).decode()
        if self.headers.get("Authorization") != f"Basic {expected}":
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        env = {
            **ENVIRONMENT,
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "REMOTE_USER": "x",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, capture_output=True, check=False, env=env
        )
        head, _, payload = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)


@contextmanager
def _served(root: Path, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    GitHandler.root, GitHandler.seen = root, []
    listening = ThreadingHTTPServer(("127.0.0.1", 0), GitHandler)
    scheme = "http"
    if tls is not None:
        listening.socket = tls.wrap_socket(listening.socket, server_side=True)
        scheme = "https"
    with serving(listening):
        yield f"{scheme}://127.0.0.1:{listening.server_address[1]}"


@pytest.fixture
def server(upstream: Repository) -> Iterator[str]:
    with _served(upstream.path.parent) as url:
        yield url


def _self_signed(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that no machine trusts by itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "ca.pem").write_bytes(certificate.public_bytes(Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    return folder / "ca.pem", folder / "key.pem"


def _texts(root: Path) -> str:
    return "".join(path.read_text("latin-1") for path in root.rglob("*") if path.is_file())


def test_update_creates_then_fetches(mirrors: Mirrors, upstream: Repository) -> None:
    first = upstream.commit({"a": "1\n"})
    mirror = mirrors.update("o/r", str(upstream.path))
    second = upstream.commit({"a": "2\n"})
    assert mirror.has(first)
    assert not mirror.has(second)
    mirrors.update("o/r", str(upstream.path))
    assert mirrors.open("o/r").has(second)


def test_pull_refs_are_fetched_and_missing_ones_left_out(
    mirrors: Mirrors, upstream: Repository
) -> None:
    base = upstream.commit({"a": "1\n"})
    head = upstream.commit({"a": "2\n"})
    upstream.git("update-ref", "refs/pull/7/head", head)
    upstream.git("reset", "--quiet", "--hard", base)
    assert not mirrors.update("o/r", str(upstream.path)).has(head)
    refs = ["refs/pull/6/head", "refs/pull/7/head", "refs/pull/8/head"]
    assert mirrors.update("o/r", str(upstream.path), refs=refs).has(head)


def test_commits_of_a_rewritten_branch_stay(mirrors: Mirrors, upstream: Repository) -> None:
    base = upstream.commit({"a": "1\n"})
    gone = upstream.commit({"a": "2\n"})
    upstream.git("branch", "topic")
    mirrors.update("o/r", str(upstream.path))
    upstream.git("branch", "-D", "topic")
    upstream.git("reset", "--quiet", "--hard", base)
    upstream.git("checkout", "--quiet", "-b", "topic/sub")
    upstream.commit({"a": "3\n"})
    assert mirrors.update("o/r", str(upstream.path)).has(gone)


def test_an_interrupted_clone_leaves_nothing_behind(mirrors: Mirrors, upstream: Repository) -> None:
    upstream.commit({"a": "1\n"})
    left_over = mirrors.root / "o" / ".r.git.new-killed"
    left_over.mkdir(parents=True)
    with pytest.raises(MinerError):
        mirrors.update("o/r", str(upstream.path / "nowhere"))
    with pytest.raises(ConfigError, match="no mirror of o/r"):
        mirrors.open("o/r")
    mirrors.update("o/r", str(upstream.path))
    assert sorted(path.name for path in (mirrors.root / "o").iterdir()) == [".r.git.lock", "r.git"]


def test_two_at_once_make_one_whole_mirror(mirrors: Mirrors, upstream: Repository) -> None:
    commit = upstream.commit({"a": "1\n"})
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: mirrors.update("o/r", str(upstream.path)), range(4)))
    assert all(mirror.has(commit) for mirror in made)


def test_credentials_reach_the_server_and_nothing_else(
    mirrors: Mirrors, upstream: Repository, server: str
) -> None:
    commit = upstream.commit({"a": "1\n"})
    url = f"{server}/upstream/.git"
    mirror = mirrors.update("o/r", url, credentials=("x-access-token", SECRET))
    assert mirror.has(commit)
    assert any(GitHandler.seen)
    assert SECRET not in _texts(mirrors.root)
    assert "127.0.0.1" not in _texts(mirrors.root)


@pytest.mark.parametrize("credentials", [None, ("x-access-token", "wrong-token")])
def test_refused_credentials_are_one_sentence_without_them(
    mirrors: Mirrors, upstream: Repository, server: str, credentials: tuple[str, str] | None
) -> None:
    upstream.commit({"a": "1\n"})
    with pytest.raises(BadItemError, match="does not exist or refuses the token") as caught:
        mirrors.update("o/r", f"{server}/upstream/.git", credentials=credentials)
    assert "wrong-token" not in str(caught.value)


def test_missing_repository(mirrors: Mirrors, upstream: Repository, server: str) -> None:
    with pytest.raises(NotFoundError, match="no repository o/r"):
        mirrors.update("o/r", f"{server}/none.git", credentials=("x-access-token", SECRET))
    with pytest.raises(NotFoundError, match="no repository o/r"):
        mirrors.update("o/r", str(upstream.path.parent / "none"))


def test_nobody_listening_is_retryable(mirrors: Mirrors) -> None:
    with pytest.raises(SourceUnavailableError, match="cannot be fetched now"):
        mirrors.update("o/r", "http://127.0.0.1:9/o/r.git")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("remote: Repository unavailable due to DMCA takedown.\nfatal: x 403", BlockedError),
        ("fatal: unable to access 'x': The requested URL returned error: 451", BlockedError),
        ("remote: Access to this repository has been disabled by GitHub staff.", BlockedError),
        ("remote: Repository not found.\nfatal: repository 'x' not found", NotFoundError),
        ("fatal: could not read Username for 'x': terminal prompts disabled", BadItemError),
        ("fatal: unable to access 'x': The requested URL returned error: 403", BadItemError),
        ("fatal: unable to access 'x': Could not resolve host: x", SourceUnavailableError),
        ("error: RPC failed; HTTP 502\nfatal: early EOF", SourceUnavailableError),
        ("fatal: unable to access 'x': SSL certificate problem", SourceUnavailableError),
        ("", SourceUnavailableError),
    ],
)
def test_what_git_says_becomes_what_to_do(error: str, kind: type[MinerError]) -> None:
    failure = _failure("o/r", error)
    assert type(failure) is kind
    assert "o/r" in str(failure)


@pytest.mark.parametrize("name", ["r", "../r", "o/../r", "o/r/x", "-o/r", "o/", "o/.."])
def test_bad_names(mirrors: Mirrors, name: str) -> None:
    with pytest.raises(ConfigError, match="owner/name"):
        mirrors.open(name)


@pytest.mark.parametrize("url", ["ext::sh -c x", "-o", "ssh://x/y", "https://u:p@h/r.git"])
def test_bad_clone_addresses(mirrors: Mirrors, url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        mirrors.update("o/r", url)
    assert "u:p" not in str(caught.value)


def test_a_mirror_is_packed_when_fetches_left_much(upstream: Repository, tmp_path: Path) -> None:
    mirrors = Mirrors(tmp_path / "mirrors", packs_at_most=0, loose_at_most=-1)
    base = upstream.commit({"a": "1\n"})
    gone = upstream.commit({"a": "2\n"})
    mirror = mirrors.update("o/r", str(upstream.path))
    upstream.git("reset", "--quiet", "--hard", base)
    upstream.git("gc", "--quiet")
    for number in range(3):
        upstream.commit({"b": f"{number}\n"})
        with mirror.kept_open() as opened:
            assert opened.has(gone)
            mirrors.update("o/r", str(upstream.path))
            assert opened.changes(base, gone)
            assert opened.has(upstream.head())
    assert len([*mirror.path.glob("objects/pack/*.pack")]) == 1
    assert not [*mirror.path.glob("objects/??")]
    assert mirror.has(gone)


def test_a_ca_bundle_of_ones_own(upstream: Repository, tmp_path: Path) -> None:
    commit = upstream.commit({"a": "1\n"})
    certificate, key = _self_signed(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    credentials = ("x-access-token", SECRET)
    with _served(upstream.path.parent, tls) as server:
        url = f"{server}/upstream/.git"
        with pytest.raises(SourceUnavailableError, match="certificate"):
            Mirrors(tmp_path / "strict").update("o/r", url, credentials=credentials)
        trusting = Mirrors(tmp_path / "trusting", ca_bundle=certificate)
        assert trusting.update("o/r", url, credentials=credentials).has(commit)


def test_a_folder_that_cannot_be_written(upstream: Repository, tmp_path: Path) -> None:
    upstream.commit({"a": "1\n"})
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RetryableError, match="cannot be written"):
        Mirrors(tmp_path / "file").update("o/r", str(upstream.path))


def test_a_commit_on_no_branch_is_fetched_by_its_id(
    mirrors: Mirrors, upstream: Repository, server: str
) -> None:
    base = upstream.commit({"a": "1\n"})
    gone = upstream.commit({"a": "2\n"})
    upstream.git("reset", "--quiet", "--hard", base)
    url, credentials = f"{server}/upstream/.git", ("x-access-token", SECRET)
    assert not mirrors.update("o/r", url, credentials=credentials).has(gone)
    wanted = ["1" * 40, gone, base]
    assert mirrors.update("o/r", url, refs=wanted, credentials=credentials).has(gone)
    asked = len(GitHandler.seen)
    mirrors.update("o/r", url, refs=[gone, base], credentials=credentials)
    again = len(GitHandler.seen) - asked
    mirrors.update("o/r", url, credentials=credentials)
    assert len(GitHandler.seen) - asked == 2 * again


def test_what_a_killed_git_left_is_cleared(mirrors: Mirrors, upstream: Repository) -> None:
    upstream.commit({"a": "1\n"})
    mirror = mirrors.update("o/r", str(upstream.path))
    left = ["packed-refs.lock", "refs/heads/main.lock", "objects/pack/tmp_pack_x", "HEAD.lock"]
    for name in left:
        (mirror.path / name).write_text("")
    commit = upstream.commit({"a": "2\n"})
    assert mirrors.update("o/r", str(upstream.path)).has(commit)
    assert not any((mirror.path / name).exists() for name in left)


SILENT = """
import sys
from pathlib import Path
from miner.git import Mirrors
Mirrors(Path(sys.argv[1])).update("o/r", sys.argv[2])
"""


def test_a_git_that_outlives_its_miner_keeps_the_lock(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:  # accepts, and never answers
        url = f"http://127.0.0.1:{server.getsockname()[1]}/o/r.git"
        miner = subprocess.Popen([sys.executable, "-c", SILENT, str(tmp_path), url])
        connection, _ = server.accept()
        miner.kill()
        miner.wait()
        with (tmp_path / "o" / ".r.git.lock").open() as lock:
            with pytest.raises(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            connection.close()
            fcntl.flock(lock, fcntl.LOCK_EX)
