"""What this machine trusts.

Installs in containers are to trust it too: behind a TLS proxy nothing else works. It is asked for
where it is needed, since a worker may be another machine than the miner.
"""

import ssl
from pathlib import Path

_USUAL = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora, RHEL
    "/etc/ssl/cert.pem",  # macOS, BSD
)


def system_certificates() -> Path | None:
    """The PEM file, or None. OpenSSL's own word comes first, which SSL_CERT_FILE sets."""
    named = (ssl.get_default_verify_paths().cafile, *_USUAL)
    return next((Path(name) for name in named if name and Path(name).is_file()), None)
