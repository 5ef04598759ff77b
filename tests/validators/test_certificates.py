"""What an install is told to trust."""

from pathlib import Path

import pytest

from validators.certificates import Trust, trust
from validators.errors import EngineUnavailableError


def test_trust_without_a_bundle_changes_nothing() -> None:
    assert trust(None) == Trust()


def test_a_bundle_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailableError, match="cannot be read"):
        trust(tmp_path / "none.pem")
