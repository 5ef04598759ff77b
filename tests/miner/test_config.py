"""Settings: one sentence a bad value, and no secret in any of them."""

import re
import shutil
from pathlib import Path

import certifi
import pytest

from miner import config
from miner.errors import ConfigError


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    import os  # noqa: PLC0415 – this test is about the environment

    for name in list(os.environ):
        if name.startswith(config.PREFIX) or name == "GITHUB_TOKEN":
            monkeypatch.delenv(name)


def test_everything_has_a_default() -> None:
    settings = config.load()
    assert settings.policy == "full"
    assert settings.database == f"sqlite:///{Path('.miner').resolve()}/miner.db"


def test_what_the_machine_trusts_is_trusted_when_nothing_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bundle = tmp_path / "authorities.pem"
    shutil.copy(certifi.where(), bundle)
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    assert config.load().ca_bundle == bundle
    assert config.load().named_bundle is None  # another machine has its own
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone.pem"))
    found = config.load().ca_bundle
    assert found is None or found.is_relative_to("/etc")


def test_tokens_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINER_GITHUB_TOKENS", "one, two,")
    assert [t.get_secret_value() for t in config.load().github_tokens] == ["one", "two"]


def test_the_common_variable_for_a_token_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "one")
    assert [t.get_secret_value() for t in config.load().github_tokens] == ["one"]
    monkeypatch.setenv("MINER_GITHUB_TOKENS", "two")
    assert [t.get_secret_value() for t in config.load().github_tokens] == ["two"]


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("MINER_WORKERS", "none", "MINER_WORKERS: input should be a valid integer"),
        ("MINER_WORKERS", "0", "MINER_WORKERS: input should be greater than or equal to 1."),
        ("MINER_POLICY", "slow", "MINER_POLICY: input should be 'quick' or 'full'."),
        ("MINER_DATABASE_URL", "mysql://x", "MINER_DATABASE_URL: must begin with sqlite:///"),
        ("MINER_GITHUB_URL", "github.com", "MINER_GITHUB_URL: must begin with https://"),
        ("MINER_CA_BUNDLE", "/nowhere.pem", "MINER_CA_BUNDLE: names no file."),
        ("MINER_CA_BUNDLE", "/dev/null", "MINER_CA_BUNDLE: names no file."),
        ("MINER_EXECUTOR", "dask", "MINER_EXECUTOR=dask needs MINER_DASK_ADDRESS"),
        ("MINER_ADVISOR_URL", "http://h/v1", "MINER_ADVISOR_URL needs MINER_ADVISOR_MODEL."),
        ("MINER_WORKRES", "2", "MINER_WORKRES is not a setting; did you mean MINER_WORKERS?"),
    ],
)
def test_a_bad_value_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError) as caught:
        config.load()
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_secret_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINER_GITHUB_TOKENS", "ghp_secret")
    monkeypatch.setenv("MINER_DATABASE_URL", "postgresql+psycopg://miner:pa55@db/miner")
    settings = config.load()
    shown = repr(settings.masked()) + repr(settings.github_tokens)
    assert "ghp_secret" not in shown
    assert "pa55" not in shown
    assert settings.masked()["database_url"] == "postgresql+psycopg://miner:***@db/miner"


def test_settings_are_shown_as_they_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    assert config.load().masked()["github_apps"] == "none"
    monkeypatch.setenv("MINER_GITHUB_APPS", "1:2:/a.pem, 3:4:/b.pem")
    assert config.load().masked()["github_apps"] == "1:2:/a.pem,3:4:/b.pem"


def test_a_secret_is_not_in_a_complaint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINER_DATABASE_URL", "postgres://miner:pa55@db/miner")
    with pytest.raises(ConfigError) as caught:
        config.load()
    assert "pa55" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("text", ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n"])
def test_a_bundle_without_certificates_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str
) -> None:
    (tmp_path / "ca.pem").write_text(text)
    monkeypatch.setenv("MINER_CA_BUNDLE", str(tmp_path / "ca.pem"))
    with pytest.raises(ConfigError, match=r"ca\.pem holds no certificate"):
        config.load()


PASSWORDS = ["hunt@er22", "@hunter22", "hun/ter22", "1/hunter22", "hun#ter22", "hun?ter22",
             "hu@nt/er#22", "[hunter22]", "hunter22@", "123#hunter22"]  # fmt: skip


@pytest.mark.parametrize("password", PASSWORDS)
def test_a_password_with_signs_of_an_address_is_refused_and_never_shown(
    monkeypatch: pytest.MonkeyPatch, password: str
) -> None:
    monkeypatch.setenv("MINER_DATABASE_URL", f"postgresql+psycopg://me:{password}@h/db")
    with pytest.raises(ConfigError) as caught:
        config.load()
    said = str(caught.value)
    assert "%40 for @" in said
    assert not [part for part in re.split(r"[@/#?]", password) if len(part) > 1 and part in said]
    assert password in config.secrets()


def test_a_password_is_masked_however_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    address = "postgresql+psycopg://me:h%40unt:er@h/db?sslmode=require&sslpassword=se%20cret"
    monkeypatch.setenv("MINER_DATABASE_URL", address)
    masked = config.load().masked()["database_url"]
    assert masked == "postgresql+psycopg://me:***@h/db?sslmode=require&sslpassword=***"
    assert {"h%40unt:er", "h@unt:er", "se%20cret", "se cret"} <= set(config.secrets())


def test_the_public_password_of_compose_hides_no_command(monkeypatch: pytest.MonkeyPatch) -> None:
    compose = (Path(__file__).parents[2] / "docker-compose.yml").read_text()
    assert "${POSTGRES_PASSWORD:-miner}" in compose
    monkeypatch.setenv("MINER_DATABASE_URL", "postgresql+psycopg://miner:miner@db:5432/miner")
    assert "miner" not in config.secrets()
    assert config.load().masked()["database_url"] == "postgresql+psycopg://miner:***@db:5432/miner"


def test_secrets_are_known_where_settings_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINER_WORKERS", "none")
    monkeypatch.setenv("MINER_GITHUB_TOKENS", "one, two")
    monkeypatch.setenv("GITHUB_TOKEN", "three")
    monkeypatch.setenv("MINER_ADVISOR_KEY", "four")
    monkeypatch.setenv("HTTPS_PROXY", "http://me:five@proxy:3128")
    assert {"one", "two", "three", "four", "five"} <= set(config.secrets())
