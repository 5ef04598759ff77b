"""What the rooms are built from."""

from pathlib import Path

import pytest

from miner.cli.wiring import House, demo_house

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
