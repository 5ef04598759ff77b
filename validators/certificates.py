"""What this machine trusts, and how an install is told.

Installs in containers are to trust it too: behind a TLS proxy nothing else works. It is asked for
where it is needed, since a worker may be another machine than the miner.
"""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from validators.archive import pack
from validators.engine import KIT
from validators.errors import EngineUnavailableError

_CA_NAME = "ca.pem"

_USUAL = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora, RHEL
    "/etc/ssl/cert.pem",  # macOS, BSD
)


def system_certificates() -> Path | None:
    """The PEM file, or None. OpenSSL's own word comes first, which SSL_CERT_FILE sets."""
    named = (ssl.get_default_verify_paths().cafile, *_USUAL)
    return next((Path(name) for name in named if name and Path(name).is_file()), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """The CA bundle as an install is given it: its kit, outside of what is committed, and the
    environment variables that its commands need."""

    kit: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)


def trust(ca_bundle: Path | None) -> Trust:
    """What an install container trusts; nothing more than its image without a bundle."""
    if ca_bundle is None:
        return Trust()
    try:
        bundle = ca_bundle.read_bytes()
    except OSError as error:
        raise EngineUnavailableError(
            f"The CA bundle {ca_bundle} cannot be read ({error.strerror}): correct the setting."
        ) from error
    names = (
        "SSL_CERT_FILE",
        "PIP_CERT",
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
        "GIT_SSL_CAINFO",
        "NODE_EXTRA_CA_CERTS",
    )
    env = dict.fromkeys(names, f"{KIT}/{_CA_NAME}")
    return Trust(kit=pack({_CA_NAME: bundle}), env=env)
