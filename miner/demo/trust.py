"""Which certificate authorities the package index is trusted by."""

from pathlib import Path
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3 import ProxyManager

from miner.http import ssl_context


class TrustingAdapter(HTTPAdapter):
    """Trusts the system's authorities and a bundle, beside those that requests knows itself.

    requests alone knows those of its own package or of REQUESTS_CA_BUNDLE: a TLS proxy's
    authority that only the system has would be refused.
    """

    def __init__(self, ca_bundle: Path | None) -> None:
        self._context = ssl_context(ca_bundle)
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """The seam that requests documents for this."""
        super().init_poolmanager(*args, ssl_context=self._context, **kwargs)

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> ProxyManager:
        """The same through a proxy."""
        manager: ProxyManager = super().proxy_manager_for(
            proxy, ssl_context=self._context, **kwargs
        )
        return manager


def trusting_session(ca_bundle: Path | None) -> requests.Session:
    """A session for the index. ConfigError when the bundle is no file of certificates."""
    session = requests.Session()
    session.mount("https://", TrustingAdapter(ca_bundle))
    return session
