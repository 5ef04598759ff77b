"""Settings: the only reader of the environment. Only `miner.cli` imports this.

Every setting is an environment variable `MINER_<NAME>`. `GITHUB_TOKEN` is read too, when
MINER_GITHUB_TOKENS is not set, since CI systems and people have it already.
"""

import difflib
import os
import re
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import SplitResult, unquote, unquote_plus, urlsplit

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from miner.errors import ConfigError
from validators.certificates import system_certificates

PREFIX = "MINER_"
TEST_PREFIX = "MINER_TEST_"
"""Read by the test suite, no setting of the program."""

NO_SECRETS = ("", "miner")
"""docker-compose.yml's password where none is given: hidden, it would take the commands out of all
sentences."""

_PASSWORD_OPTION = re.compile(r"([?&]\w*pass\w*=)([^&]*)", re.IGNORECASE)
"""libpq's options may stand in the URL's query: password, sslpassword, passfile."""


class Settings(BaseSettings):
    """What differs from machine to machine. What differs by repository is a row."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, extra="ignore", populate_by_name=True, frozen=True
    )

    data_dir: Path = Field(
        default=Path(".miner"), description="mirrors, caches and the SQLite database"
    )
    database_url: str | None = Field(
        default=None,
        description="`sqlite:///FILE` or `postgresql+psycopg://…`; SQLite in data_dir when unset",
    )
    github_tokens: Annotated[tuple[SecretStr, ...], NoDecode] = Field(
        default=(),
        validation_alias=AliasChoices("MINER_GITHUB_TOKENS", "GITHUB_TOKEN"),
        description="one or more tokens, separated by commas (`GITHUB_TOKEN` works too)",
    )
    github_apps: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="App installations, with commas between: APP_ID:INSTALLATION_ID:KEY_FILE",
    )
    github_url: str = Field(
        default="https://api.github.com",
        description="API root; GitHub Enterprise: https://HOST/api/v3",
    )
    engine: str | None = Field(
        default=None, description="container engine's socket, e.g. `unix:///run/podman/podman.sock`"
    )
    base_images: Literal["auto", "pull", "build"] = Field(
        default="auto", description="pull `python:X.Y-slim`, build it here, or pull where possible"
    )
    ca_bundle: Path | None = Field(
        default_factory=system_certificates,
        validate_default=True,  # SSL_CERT_FILE is a person's word too
        description="certificates that crawls and installs trust; the system's own when unset",
    )
    index_url: str | None = Field(default=None, description="package index to install from")
    policy: Literal["quick", "full"] = Field(
        default="full", description="verification: quick (2 repeats) or full (3 and probes)"
    )
    workers: int = Field(
        default=2,
        ge=1,
        le=1024,
        description="verifications at a time; each uses up to two containers",
    )
    executor: Literal["threads", "dask"] = Field(
        default="threads", description="where work runs: here, or on a Dask cluster"
    )
    dask_address: str | None = Field(
        default=None, description="the Dask scheduler, e.g. `tcp://10.0.0.1:8786`"
    )
    advisor_url: str | None = Field(
        default=None,
        description="chat-completions endpoint asked for a recipe where inference is spent",
    )
    advisor_model: str | None = Field(default=None, description="the model asked there")
    advisor_key: SecretStr | None = Field(default=None, description="its key")

    @field_validator("github_tokens", "github_apps", mode="before")
    @classmethod
    def _commas(cls, value: object) -> object:
        """A list in an environment variable is written with commas."""
        return (
            [part.strip() for part in value.split(",") if part.strip()]
            if isinstance(value, str)
            else value
        )

    @field_validator("github_apps")
    @classmethod
    def _app_shape(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for app in value:
            if re.fullmatch(r"[^:]+:\d+:.+", app) is None:
                raise ValueError("must be APP_ID:INSTALLATION_ID:KEY_FILE")
        return value

    @field_validator("github_url")
    @classmethod
    def _http(cls, value: str) -> str:
        _plain_url(value)
        return value.rstrip("/")

    @field_validator("index_url", "advisor_url")
    @classmethod
    def _http_too(cls, value: str | None) -> str | None:
        if value is not None:
            _plain_url(value)
        return value

    @field_validator("database_url")
    @classmethod
    def _known_database(cls, value: str | None) -> str | None:
        if value is None:
            return None
        if not value.startswith(("sqlite:///", "postgresql+psycopg://")):
            raise ValueError("must begin with sqlite:/// or postgresql+psycopg://")
        if value.startswith("postgresql") and set("@/?#[]") & set(_userinfo(value)):
            raise ValueError(
                "cannot be read: in name and password write %40 for @, %2F for /, %3A for :, "
                "%3F for ? and %23 for #"
            )
        _parts(value)
        return value

    @field_validator("ca_bundle")
    @classmethod
    def _readable(cls, value: Path | None) -> Path | None:
        if value is None:
            return None
        if not value.is_file():
            raise ValueError("names no file")
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(value)
        except ssl.SSLError:
            raise ValueError(
                f"{value} holds no certificate that can be read; it must be PEM"
            ) from None
        except OSError as error:
            raise ValueError(f"{value} cannot be read ({error.strerror})") from None
        return value

    @property
    def named_bundle(self) -> Path | None:
        """The bundle that a person named: a path of ours means nothing on another machine."""
        return self.ca_bundle if "ca_bundle" in self.model_fields_set else None

    def apps(self) -> tuple["GitHubApp", ...]:
        """The App installations with their keys. ConfigError when a key cannot be read."""
        return tuple(_app(text) for text in self.github_apps)

    @property
    def database(self) -> str:
        """The database's URL, the default filled in."""
        return self.database_url or f"sqlite:///{self.data_dir.resolve() / 'miner.db'}"

    def masked(self) -> dict[str, str]:
        """Name → value for people; nothing secret in it."""
        return {
            "data_dir": str(self.data_dir.resolve()),
            "database_url": _without_password(self.database),
            "github_tokens": ",".join("***" for _ in self.github_tokens) or "none",
        } | {
            name: _spelt(getattr(self, name))
            for name in type(self).model_fields
            if name not in {"data_dir", "database_url", "github_tokens"}
        }


def _spelt(value: object) -> str:
    """As it is written in the environment."""
    spelt = ",".join(value) if isinstance(value, tuple) else value
    return "none" if spelt in {None, ""} else str(spelt)


def _parts(url: str) -> SplitResult:
    """The URL's parts, the port being a port. ValueError without the URL, which may be a secret."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise ValueError("is no URL: host or port cannot be read") from None
    return parts


def _plain_url(url: str) -> None:
    """ValueError unless it is HTTP and holds no name or password: repository code may see it."""
    if not url.startswith(("https://", "http://")):
        raise ValueError("must begin with https:// or http://")
    parts = _parts(url)
    if not parts.hostname:
        raise ValueError("names no host")
    if "@" in parts.netloc:
        raise ValueError("must hold no name or password; containers and logs would show them")


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHubApp:
    """An App's installation and the App's key."""

    app_id: str
    installation_id: int
    private_key: str = field(repr=False)


def _app(text: str) -> GitHubApp:
    app_id, installation_id, path = text.split(":", 2)
    try:
        key = Path(path).read_text("ascii")
    except (OSError, UnicodeDecodeError):
        raise ConfigError(
            f"MINER_GITHUB_APPS: the key file {path} cannot be read; "
            "it is the .pem file that GitHub made for the App."
        ) from None
    return GitHubApp(app_id=app_id, installation_id=int(installation_id), private_key=key)


def load(**given: object) -> Settings:
    """Settings from the environment; `given` wins. ConfigError: one sentence a bad value."""
    _refuse_unknown()
    try:
        settings = Settings(**given)  # type: ignore[arg-type]  # pydantic checks what is given
    except ValidationError as error:
        raise ConfigError(" ".join(_sentence(part) for part in error.errors())) from None
    if settings.executor == "dask" and settings.dask_address is None:
        raise ConfigError("MINER_EXECUTOR=dask needs MINER_DASK_ADDRESS, e.g. tcp://host:8786.")
    if settings.advisor_url is not None and settings.advisor_model is None:
        raise ConfigError("MINER_ADVISOR_URL needs MINER_ADVISOR_MODEL.")
    return settings


def secrets() -> tuple[str, ...]:
    """Every word in the environment that must never be shown, also where settings are wrong."""
    found: list[str] = []
    for name, value in os.environ.items():
        key = name.upper()
        if key in {"MINER_GITHUB_TOKENS", "GITHUB_TOKEN", "MINER_ADVISOR_KEY"}:
            found += [value, *(part.strip() for part in value.split(","))]
        elif key == "MINER_DATABASE_URL" or key.endswith("_PROXY"):
            found += _passwords(value)
    return tuple(word for word in dict.fromkeys(found) if word not in NO_SECRETS)


def _refuse_unknown() -> None:
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    for name in sorted(os.environ):
        if not name.startswith(PREFIX) or name.startswith(TEST_PREFIX) or name in known:
            continue
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]}?" if close else "`miner config` lists them."
        raise ConfigError(f"{name} is not a setting; {hint}")


def _sentence(error: object) -> str:
    """A pydantic error without the value, which may be a secret."""
    assert isinstance(error, dict)  # noqa: S101 – pydantic's ErrorDetails is a TypedDict
    place = str(error["loc"][0])
    name = place if place.startswith((PREFIX, "GITHUB_")) else PREFIX + place.upper()
    reason = str(error["msg"]).removeprefix("Value error, ")
    return f"{name}: {reason[:1].lower()}{reason[1:]}."


def _without_password(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    user, at, place = rest.rpartition("@")
    name, colon, _ = user.partition(":")
    place = _PASSWORD_OPTION.sub(r"\1***", place)
    return f"{scheme}{separator}{name}{':***' if colon else ''}{at}{place}"


def _passwords(url: str) -> list[str]:
    """What may be a password in a URL, as it is written and as it is meant."""
    written = [_userinfo(url).partition(":")[2]]
    written += [match[2] for match in _PASSWORD_OPTION.finditer(url)]
    return [*written, *(unquote(word) for word in written), *(unquote_plus(w) for w in written)]


def _userinfo(url: str) -> str:
    """All before the last @, which a password should not but may hold itself."""
    return url.partition("://")[2].rpartition("@")[0]
