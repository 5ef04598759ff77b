"""Which words must never be shown: tokens, keys and the database's password."""

from urllib.parse import urlsplit

from miner import config
from miner.errors import ConfigError


def known_secrets() -> tuple[str, ...]:
    """All secrets of the settings; none when the settings are wrong, which is told elsewhere."""
    try:
        settings = config.load()
    except ConfigError:
        return ()
    tokens = [token.get_secret_value() for token in settings.github_tokens]
    password = urlsplit(settings.database).password
    key = settings.advisor_key
    if key is not None:
        tokens.append(key.get_secret_value())
    return (*tokens, password) if password else tuple(tokens)
