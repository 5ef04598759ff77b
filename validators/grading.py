"""Pure rules: what repeated runs say of each test, and whether a model's run resolves an instance.

Every rule and its reason stands in docs/verification.md. A test is in at most one list; the order
of the runs of one phase does not matter.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from validators.model import Flaw, Grade, Tally, TestResult, TestStatus

Results = Mapping[str, TestResult]

FAILING = frozenset(
    {TestStatus.FAILED, TestStatus.ERROR, TestStatus.TIMED_OUT, TestStatus.NOT_COLLECTED}
)
"""What counts as failing. Not skipped, not xfail, and not "never run because another test died"."""

ALL_MISSING = "all_fail_to_pass_missing_before"
"""Mark: no FAIL_TO_PASS test could even be collected before, so the issue may not name it."""

NEVER_RUN = "never run: the process ended first"
UNDECIDED = "undecided_tests"
"""Mark: so many tests are in no list because another one ended the process before them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transitions:
    """Every test of all runs, in the one list that its statuses put it in. Ids are sorted."""

    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    fail_to_fail: tuple[str, ...] = ()
    pass_to_fail: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    missing_before: tuple[str, ...] = ()
    flaky_fixes: tuple[str, ...] = ()  # of `flaky`: failed before and passed after at least once


class _List(StrEnum):
    FAIL_TO_PASS = "fail_to_pass"
    PASS_TO_PASS = "pass_to_pass"
    FAIL_TO_FAIL = "fail_to_fail"
    PASS_TO_FAIL = "pass_to_fail"
    FLAKY = "flaky"


def transitions(before: Sequence[Results], after: Sequence[Results]) -> Transitions:
    """Sort every test by its statuses in all before-runs and all after-runs (one each at least).

    Without a run of a phase no test is in a list but `flaky`.
    """
    lists: dict[_List, list[str]] = {each: [] for each in _List}
    left_out: list[tuple[str, str]] = []
    missing: list[str] = []
    fixes: list[str] = []
    for identifier in _test_ids((*before, *after)):
        was, became = _statuses(identifier, before), _statuses(identifier, after)
        shared = any(run[identifier].ambiguous for run in (*before, *after) if identifier in run)
        reason = "several tests share this id" if shared else _left_out(was, became)
        if reason is not None:
            left_out.append((identifier, reason))
            continue
        into = _list_of(was, became)
        lists[into].append(identifier)
        if into is _List.FAIL_TO_PASS and set(was) == {TestStatus.NOT_COLLECTED}:
            missing.append(identifier)
        if into is _List.FLAKY and FAILING & set(was) and TestStatus.PASSED in became:
            fixes.append(identifier)
    return Transitions(
        fail_to_pass=tuple(lists[_List.FAIL_TO_PASS]),
        pass_to_pass=tuple(lists[_List.PASS_TO_PASS]),
        fail_to_fail=tuple(lists[_List.FAIL_TO_FAIL]),
        pass_to_fail=tuple(lists[_List.PASS_TO_FAIL]),
        flaky=tuple(lists[_List.FLAKY]),
        left_out=tuple(left_out),
        missing_before=tuple(missing),
        flaky_fixes=tuple(fixes),
    )


def can_still_be_accepted(before: Sequence[Results], after: Sequence[Results]) -> bool:
    """False when no further run can give a FAIL_TO_PASS test: each run only takes tests away."""
    if not before or not after:
        return True
    return any(
        FAILING.issuperset(_statuses(identifier, before))
        and set(_statuses(identifier, after)) == {TestStatus.PASSED}
        for identifier in _test_ids(after)
    )


def flaw_of(found: Transitions) -> Flaw | None:
    """Why the transitions make no instance, or None."""
    if found.pass_to_fail:
        return Flaw.PASS_TO_FAIL
    if found.fail_to_pass:
        return None
    return Flaw.FLAKY if found.flaky_fixes else Flaw.NO_FAIL_TO_PASS


def marks_of(found: Transitions) -> tuple[str, ...]:
    """What a maintainer should look at in an accepted instance."""
    marks = []
    if found.fail_to_pass and found.missing_before == found.fail_to_pass:
        marks.append(ALL_MISSING)
    undecided = sum(reason == NEVER_RUN for _, reason in found.left_out)
    if undecided:
        marks.append(f"{UNDECIDED}: {undecided}")
    return tuple(marks)


def tally(required: Sequence[str], results: Results) -> Tally:
    """How many of the required tests passed; skipped, missing and never run count as failed."""
    passed = sum(_status(identifier, results) is TestStatus.PASSED for identifier in required)
    return Tally(passed=passed, failed=len(required) - passed)


def nothing_passed(
    fail_to_pass: Sequence[str], pass_to_pass: Sequence[str], *, flaw: Flaw, detail: str = ""
) -> Grade:
    """The grade of an answer whose tests were never run."""
    return Grade(
        resolved=False,
        applied=False,
        fail_to_pass=Tally(passed=0, failed=len(fail_to_pass)),
        pass_to_pass=Tally(passed=0, failed=len(pass_to_pass)),
        flaw=flaw,
        detail=detail,
    )


def is_resolved(fail_to_pass: Sequence[str], pass_to_pass: Sequence[str], results: Results) -> bool:
    """Every required test passed, and there is at least one that failed before."""
    if not fail_to_pass:
        return False
    return all(
        _status(identifier, results) is TestStatus.PASSED
        for identifier in (*fail_to_pass, *pass_to_pass)
    )


def _list_of(was: Sequence[TestStatus], became: Sequence[TestStatus]) -> _List:
    match _kind(was), _kind(became):
        case "failing", "passed":
            return _List.FAIL_TO_PASS
        case "passed", "passed":
            return _List.PASS_TO_PASS
        case "failing", "failing":
            return _List.FAIL_TO_FAIL
        case "passed", "failing":
            return _List.PASS_TO_FAIL
        case _:
            return _List.FLAKY


def _left_out(was: Sequence[TestStatus], became: Sequence[TestStatus]) -> str | None:
    """Why a test is in no list."""
    statuses = {*was, *became}
    for status in (TestStatus.SKIPPED, TestStatus.XFAIL, TestStatus.XPASS):
        if status in statuses:
            return str(status)
    if TestStatus.NOT_RUN in statuses:
        return NEVER_RUN
    for phase, seen in (("before", was), ("after", became)):
        if TestStatus.NOT_COLLECTED in seen and set(seen) != {TestStatus.NOT_COLLECTED}:
            return f"volatile id: not in every {phase}-run"
    if _kind(was) == "passed" and set(became) == {TestStatus.NOT_COLLECTED}:
        return "gone after the fix"
    return None


def _kind(statuses: Sequence[TestStatus]) -> str:
    if not statuses:
        return "unknown"  # no run of that phase: nothing is concluded from it
    if FAILING.issuperset(statuses):
        return "failing"
    return "passed" if set(statuses) == {TestStatus.PASSED} else "varying"


def _test_ids(runs: Sequence[Results]) -> Iterator[str]:
    """All tests of these runs, sorted; what merely failed to be collected is no test."""
    ids = {key for run in runs for key, result in run.items() if result.phase != "collect"}
    yield from sorted(ids)


def _statuses(identifier: str, runs: Sequence[Results]) -> tuple[TestStatus, ...]:
    return tuple(_status(identifier, run) for run in runs)


def _status(identifier: str, results: Results) -> TestStatus:
    result = results.get(identifier)
    return result.status if result is not None else TestStatus.NOT_COLLECTED
