"""Fixtures of the hostile suite, and a line that says how many projects were contained."""

import pytest

from tests.real_engine import base, engine, engine_address
from tests.toy import toy_image

__all__ = ["base", "engine", "engine_address", "toy_image"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many of the hostile projects of this session were held."""
    outcomes = [
        report.passed
        for status in ("passed", "failed", "error")
        for report in terminalreporter.stats.get(status, [])
        if "tests/hostile/" in report.nodeid and (report.when == "call" or report.failed)
    ]
    if outcomes:
        terminalreporter.write_line(f"{sum(outcomes)} of {len(outcomes)} hostile projects held")
