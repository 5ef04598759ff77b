"""Our lists under the official harness's own grading: gold resolves, the empty patch does not.

The rules are compared on the same statuses: the harness reads a log in which every required test
has the status that our reporter gave it.
"""

from collections.abc import Mapping
from itertools import product

import pytest
from swebench.harness.constants import (  # type: ignore[import-untyped]  # has no types
    FAIL_TO_PASS,
    PASS_TO_PASS,
    ResolvedStatus,
)
from swebench.harness.grading import (  # type: ignore[import-untyped]  # has no types
    get_eval_tests_report,
    get_resolution_status,
)

from validators.grading import is_resolved
from validators.model import TestResult, TestStatus

FIXED = ("tests/test_a.py::test_fixed", "tests/test_a.py::test_fixed[a - b c]")
KEPT = ("tests/test_a.py::test_kept",)
OFFICIAL = {
    TestStatus.PASSED: "PASSED",
    TestStatus.FAILED: "FAILED",
    TestStatus.ERROR: "ERROR",
    TestStatus.SKIPPED: "SKIPPED",
    TestStatus.XFAIL: "XFAIL",
    None: None,  # not seen
}


def official(statuses: Mapping[str, TestStatus | None]) -> bool:
    """What the harness says of these statuses."""
    log = {test: OFFICIAL[status] for test, status in statuses.items() if status is not None}
    lists = {FAIL_TO_PASS: list(FIXED), PASS_TO_PASS: list(KEPT)}
    status: str = get_resolution_status(get_eval_tests_report(log, lists))
    return bool(status == ResolvedStatus.FULL.value)


def ours(statuses: Mapping[str, TestStatus | None]) -> bool:
    """What we say of them."""
    results = {
        test: TestResult(status=status) for test, status in statuses.items() if status is not None
    }
    return is_resolved(FIXED, KEPT, results)


def test_gold_and_empty() -> None:
    gold = dict.fromkeys((*FIXED, *KEPT), TestStatus.PASSED)
    empty = {**gold, **dict.fromkeys(FIXED, TestStatus.FAILED)}
    assert official(gold) is ours(gold) is True
    assert official(empty) is ours(empty) is False


@pytest.mark.parametrize(
    "statuses",
    list(product([TestStatus.PASSED, TestStatus.FAILED, TestStatus.ERROR, None], repeat=3)),
)
def test_the_rules_agree_on_passed_failed_and_unseen(
    statuses: tuple[TestStatus | None, ...],
) -> None:
    found = dict(zip((*FIXED, *KEPT), statuses, strict=True))
    assert official(found) is ours(found)


@pytest.mark.parametrize("status", [TestStatus.SKIPPED, TestStatus.XFAIL])
def test_where_the_harness_is_softer_we_are_not(status: TestStatus) -> None:
    kept = {**dict.fromkeys(FIXED, TestStatus.PASSED), KEPT[0]: status}
    assert official(kept) is True
    assert ours(kept) is False
