"""What the attack and hostile suites print counts every test that ran, once."""

from typing import Literal

import pytest

from tests.held import held


def report(
    name: str, outcome: Literal["passed", "failed"], when: Literal["setup", "call", "teardown"]
) -> pytest.TestReport:
    return pytest.TestReport(
        nodeid=f"tests/attack/test_attacks.py::{name}",
        location=("", None, ""),
        keywords={},
        outcome=outcome,
        longrepr=None,
        when=when,
    )


def test_what_breaks_around_its_call_did_not_hold() -> None:
    stats = {
        "": [report("a", "passed", "setup"), report("a", "passed", "teardown")],
        "passed": [report("a", "passed", "call"), report("left", "passed", "call")],
        "failed": [report("b", "failed", "call")],
        "error": [report("c", "failed", "setup"), report("left", "failed", "teardown")],
    }
    assert held(stats, "test_attacks") == "1 of 4"


def test_where_nothing_ran_nothing_is_said() -> None:
    assert held({"passed": [report("a", "passed", "call")]}, "test_others") is None
    assert held({"deselected": [object()]}, "test_attacks") is None
