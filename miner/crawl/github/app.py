"""Tokens of a GitHub App's installation: they last an hour, PyGithub renews them."""

import threading
from pathlib import Path

import github
import jwt
import requests
from github import Auth

from miner.crawl.github.rest import PYGITHUB_CLASSES
from miner.errors import ConfigError, SourceUnavailableError
from miner.wire import Token

TIMEOUT_S = 30


def installation_token(
    app_id: str,
    private_key: str,
    installation_id: int,
    *,
    base_url: str = "https://api.github.com",
    ca_bundle: Path | None = None,
) -> Token:
    """A token that is always fresh. Nothing is asked for before its first use.

    Its `reveal` raises ConfigError when key, app or installation is wrong, and
    SourceUnavailableError when the API cannot be reached.
    """
    auth = Auth.AppInstallationAuth(Auth.AppAuth(app_id, private_key), installation_id)
    with PYGITHUB_CLASSES:
        github.Github(
            auth=auth,
            base_url=base_url,
            timeout=TIMEOUT_S,
            verify=str(ca_bundle) if ca_bundle else True,
            retry=None,
            seconds_between_requests=None,
            seconds_between_writes=None,
        )
    lock = threading.Lock()

    def reveal() -> str:
        with lock:
            return _fresh(auth)

    return Token(reveal)


def _fresh(auth: Auth.AppInstallationAuth) -> str:
    try:
        return auth.token
    except github.GithubException as error:
        raise ConfigError(
            f"The API gives no token for installation {auth.installation_id} of app "
            f"{auth.app_id} ({error.status}); check app id, installation id and private key."
        ) from None
    except (jwt.PyJWTError, ValueError):
        raise ConfigError(
            f"The private key of app {auth.app_id} cannot be used; it must be the PEM file "
            "that GitHub made for the app."
        ) from None
    except requests.RequestException as error:
        raise SourceUnavailableError(
            f"The API cannot be reached for a token of app {auth.app_id} "
            f"({type(error).__name__}); check the network and try again."
        ) from None
