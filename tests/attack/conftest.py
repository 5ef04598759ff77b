"""Fixtures of the attack suite, and a line that says how many attacks held."""

import pytest

from tests.held import held
from tests.real_engine import base, engine
from tests.toy import toy_image

__all__ = ["base", "engine", "toy_image"]


@pytest.fixture(scope="module")
def engine_address() -> None:
    """The default engine alone: what a grade rests on is the same on every engine."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Attacks that were repelled or flagged, twins that were resolved."""
    for part, word in (
        ("test_attack_is_", "attacks held"),
        ("test_honest_twin_", "twins resolved"),
    ):
        share = held(terminalreporter.stats, part)
        if share is not None:
            terminalreporter.write_line(f"{share} {word}")
