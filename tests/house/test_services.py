"""A service that was asked for and does not answer ends the run; it is looked for where it is."""

import pytest

from tests import conftest


def test_the_engine_that_is_named_is_the_one_that_is_asked(
    monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    monkeypatch.setenv("MINER_ENGINE", "unix:///nowhere/engine.sock")
    trouble = conftest._docker_trouble(pytestconfig)
    assert trouble is not None
    assert "No container engine answers at unix:///nowhere/engine.sock" in trouble
