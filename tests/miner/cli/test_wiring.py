"""What the rooms are built from."""

from pathlib import Path

import pytest

from miner.cli.wiring import House, demo_house
from miner.verify.advisor import EndpointAdvisor
from validators.certificates import system_certificates
from validators.model import BuildSettings

FORGE = "of-the-forge"


def test_the_demo_asks_nobody_but_its_own_forge(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MINER_GITHUB_TOKENS", "ghp_mine")
    monkeypatch.setenv("MINER_GITHUB_APPS", f"1:2:{tmp_path}/key.pem")
    monkeypatch.setenv("MINER_ADVISOR_URL", "https://models.example/v1")
    monkeypatch.setenv("MINER_ADVISOR_MODEL", "large")
    monkeypatch.setenv("MINER_ADVISOR_KEY", "sk-mine")
    house = demo_house(
        House.of_environment(),
        data_dir=tmp_path / "demo",
        github_url="http://127.0.0.1:1",
        token=FORGE,
    )
    (token,) = house.tokens()
    assert token.reveal() == FORGE
    assert house.workshop().advisor is None
    assert house.settings.advisor_key is None


def test_settings_say_with_what_environments_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bundle = system_certificates()
    assert bundle is not None
    for name, value in {
        "MINER_ENGINE": "unix:///run/podman/podman.sock",
        "MINER_BASE_IMAGES": "build",
        "MINER_CA_BUNDLE": str(bundle),
        "MINER_INDEX_URL": "https://packages.example/simple",
        "MINER_ADVISOR_URL": "https://models.example/v1",
        "MINER_ADVISOR_MODEL": "large",
        "MINER_ADVISOR_KEY": "sk-mine",
        "MINER_WORKERS": "3",
    }.items():
        monkeypatch.setenv(name, value)
    workshop = House.of_environment().workshop()
    assert workshop.engine_url == "unix:///run/podman/podman.sock"
    assert workshop.tests_at_once == 3
    assert workshop.settings == BuildSettings(
        base_images="build", ca_bundle=bundle, index_url="https://packages.example/simple"
    )
    assert workshop.advisor == EndpointAdvisor(
        url="https://models.example/v1", model="large", key="sk-mine", ca_bundle=bundle
    )
    monkeypatch.delenv("MINER_ADVISOR_URL")
    assert House.of_environment().workshop().advisor is None
