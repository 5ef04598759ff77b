"""An index behind TLS is trusted by the system's authorities and by the named bundle."""

import ipaddress
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import certifi
import pytest
import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from miner.demo.trust import trusting_session
from miner.errors import ConfigError
from tests.serving import serving


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Silent."""

    def do_GET(self) -> None:
        self.send_response(204)
        self.end_headers()


class _Server(HTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that turns away is what is wanted here."""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for 127.0.0.1, which is its own authority, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "the test's own authority")])
    now = datetime.now(UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(address, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "authority.pem"
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.with_suffix(".key").write_bytes(private)
    return path


@pytest.fixture
def url(bundle: Path) -> Iterator[str]:
    server = _Server(("127.0.0.1", 0), _Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(bundle, bundle.with_suffix(".key"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with serving(server):
        yield f"https://127.0.0.1:{server.server_address[1]}/"


def test_the_named_bundle_is_trusted(url: str, bundle: Path) -> None:
    with trusting_session(bundle) as session:
        assert session.get(url, timeout=10).status_code == 204


def test_it_is_trusted_beside_the_one_of_the_process(
    url: str, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = ssl.get_default_verify_paths().cafile or certifi.where()
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", other)
    with trusting_session(bundle) as session:
        assert session.get(url, timeout=10).status_code == 204


def test_the_bundle_of_the_process_is_enough(
    url: str, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(bundle))
    with trusting_session(None) as session:
        assert session.get(url, timeout=10).status_code == 204


def test_an_unknown_authority_is_refused(url: str) -> None:
    with trusting_session(None) as session, pytest.raises(requests.exceptions.SSLError):
        session.get(url, timeout=10)


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_bundle_that_is_none_is_one_sentence(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "bundle.pem"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"bundle\.pem is not a readable file of PEM"):
        trusting_session(path)
