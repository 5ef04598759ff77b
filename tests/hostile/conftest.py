"""Fixtures of the hostile suite, and a line that says how many projects were contained."""

import pytest

from tests.held import held
from tests.real_engine import base, engine, engine_address
from tests.toy import toy_image

__all__ = ["base", "engine", "engine_address", "toy_image"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many of the hostile projects of this session were held."""
    share = held(terminalreporter.stats, "tests/hostile/")
    if share is not None:
        terminalreporter.write_line(f"{share} hostile projects held")
