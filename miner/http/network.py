"""The network, by httpx: the only user of that library. Nothing secret leaves in an error."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from miner.errors import ConfigError, NotFoundError, SourceUnavailableError
from miner.wire import Request, Response, place

TIMEOUT_S = 60.0


class HttpxTransport:
    """The network, by httpx. `ca_bundle`: a PEM file of further authorities to trust."""

    def __init__(self, *, ca_bundle: Path | None = None, timeout_s: float = TIMEOUT_S) -> None:
        self._client = httpx.Client(
            verify=ssl_context(ca_bundle),
            timeout=httpx.Timeout(timeout_s, connect=15.0),
            limits=httpx.Limits(max_connections=32, max_keepalive_connections=8),
            follow_redirects=False,
        )

    def send(self, request: Request) -> Response:
        """See Transport."""
        with self._opened(request) as opened:
            body = opened.read()
            headers = {name.lower(): value for name, value in opened.headers.items()}
            return Response(status=opened.status_code, headers=headers, body=body, url=request.url)

    def stream(self, request: Request) -> Iterator[bytes]:
        """See Transport."""
        with self._opened(request) as opened:
            if opened.status_code in (404, 410):
                raise NotFoundError(f"{place(request.url)} does not exist.")
            if opened.status_code != 200:
                raise SourceUnavailableError(
                    f"{place(request.url)} answered {opened.status_code}; try again later."
                )
            yield from opened.iter_raw()

    def close(self) -> None:
        """See Transport."""
        self._client.close()

    @contextmanager
    def _opened(self, request: Request) -> Iterator[httpx.Response]:
        try:
            with self._client.stream(
                request.method, request.url, headers=dict(request.headers), content=request.body
            ) as opened:
                yield opened
        except httpx.TransportError as error:
            raise _transport_error(error, request) from None  # its request holds the token
        except (httpx.InvalidURL, httpx.DecodingError) as error:
            raise SourceUnavailableError(
                f"{place(request.url)} sent an invalid response ({type(error).__name__})."
            ) from None


def ssl_context(ca_bundle: Path | None) -> ssl.SSLContext:
    """Trusts what the system trusts, and a bundle of PEM certificates beside it.

    ConfigError when the bundle is no such file.
    """
    context = ssl.create_default_context()
    if not context.cert_store_stats()["x509_ca"]:  # a bare image without the system's authorities
        context = httpx.create_ssl_context()
    if ca_bundle is not None:
        try:
            context.load_verify_locations(ca_bundle)
        except (OSError, ssl.SSLError):
            raise ConfigError(f"{ca_bundle} is not a readable file of PEM certificates.") from None
    return context


def _transport_error(error: httpx.TransportError, request: Request) -> Exception:
    where = place(request.url)
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return ConfigError(
            f"{where}: the server's certificate is signed by an unknown authority; "
            "name your CA bundle (MINER_CA_BUNDLE)."
        )
    if isinstance(error, httpx.LocalProtocolError | httpx.UnsupportedProtocol):
        return ConfigError(f"{where}: the request cannot be sent; check base URL and token.")
    return SourceUnavailableError(
        f"{where} cannot be reached or broke off ({type(error).__name__}); "
        "check the network and try again."
    )
