"""How many of a suite's tests held in this session: one rule for the suites that print it."""

from collections.abc import Iterable, Mapping

import pytest


def held(stats: Mapping[str, Iterable[object]], part: str) -> str | None:
    """ "3 of 4" of the tests whose id contains `part`; None when none of them ran.

    `stats` are the terminal reporter's. A test that broke before or after its call did not hold.
    """
    outcomes: dict[str, bool] = {}
    for status in ("passed", "failed", "error"):
        for report in stats.get(status, ()):
            if not isinstance(report, pytest.TestReport) or part not in report.nodeid:
                continue
            if report.when == "call" or report.failed:
                outcomes[report.nodeid] = outcomes.get(report.nodeid, True) and report.passed
    return f"{sum(outcomes.values())} of {len(outcomes)}" if outcomes else None
