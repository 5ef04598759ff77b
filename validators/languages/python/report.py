"""From the reporter's records to one result a test, for Python's three runners.

A test passed only if all its phases were reported and none failed. A test fails if any report
under its id fails (subtests, repeats). A test that was started and not ended is the one in which
the process died; collected tests that never started were not run.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from validators.languages.base import ReportReader
from validators.model import TestResult, TestStatus
from validators.transcript import DIED, Event, strings, text

_FIXTURES = ("setUpClass (", "tearDownClass (", "setUpModule (", "tearDownModule (")
"""How unittest names what failed around tests instead of in one."""

_LONGEST_S = 1e6
"""More no test can have taken: the number is invented."""


@dataclass(slots=True)
class _Sofar:
    """What was reported under one id until now. `worst` is the first failure.

    `again`: pytest-rerunfailures is about to run it once more. Old ones start it anew for that,
    without an end of the first time.
    """

    started: int = 0
    ended: int = 0
    again: bool = False
    worst: TestResult | None = None
    good: TestStatus | None = None
    duration_s: float = 0.0
    phases: set[str] = field(default_factory=set)


def _failure(event: Event) -> TestResult | None:
    """What a failing record means; None when it is no failure."""
    when, message = text(event, "when") or "call", text(event, "message")
    if event.get("timeout") is True:
        return TestResult(status=TestStatus.TIMED_OUT, phase=when, message=message)
    match text(event, "outcome"):
        case "failed" if when == "call":
            return TestResult(status=TestStatus.FAILED, phase=when, message=message)
        case "failed" | "error":
            return TestResult(status=TestStatus.ERROR, phase=when, message=message)
        case _:
            return None


def _success(event: Event) -> TestStatus | None:
    """What a record without failure says of the whole test; None: nothing yet."""
    if event.get("sub") is True:
        return None
    expected = event.get("xfail") is True
    match text(event, "outcome"), text(event, "when"):
        case "skipped", _:
            return TestStatus.XFAIL if expected else TestStatus.SKIPPED
        case "passed", "call":
            return TestStatus.XPASS if expected else TestStatus.PASSED
        case _:
            return None


def _note(sofar: _Sofar, event: Event) -> None:
    duration = event.get("duration")
    if isinstance(duration, int | float) and 0 <= duration < _LONGEST_S:
        sofar.duration_s += duration
    sofar.phases.add(text(event, "when"))
    failure = _failure(event)
    if failure is not None:
        sofar.worst = sofar.worst or failure
        return
    success = _success(event)
    if success is not None and sofar.good in {None, TestStatus.PASSED}:
        sofar.good = success


def _result(sofar: _Sofar, *, ambiguous: bool, ended: bool) -> TestResult:
    """One test's result. Without the end of its last phase a test is not decided."""
    duration_s = round(sofar.duration_s, 4)
    if sofar.worst is not None:
        worst = sofar.worst
        return TestResult(
            status=worst.status,
            phase=worst.phase,
            message=worst.message,
            duration_s=duration_s,
            ambiguous=ambiguous,
        )
    if sofar.good is not None and sofar.ended >= sofar.started:
        return TestResult(status=sofar.good, duration_s=duration_s, ambiguous=ambiguous)
    if sofar.started and not ended:
        phase = "teardown" if "call" in sofar.phases else "call"
        message = DIED
        return TestResult(
            status=TestStatus.ERROR, phase=phase, message=message, ambiguous=ambiguous
        )
    return TestResult(status=TestStatus.NOT_RUN, phase="", ambiguous=ambiguous)


def _blame_fixture(
    results: dict[str, TestResult], not_run: Sequence[str], fixture: str, result: TestResult
) -> None:
    """Tests that did not run because their class or module could not be set up share its fate.

    `not_run` are sorted; "/" comes next after ".".
    """
    owner = fixture[fixture.index("(") + 1 : -1]
    first, behind = (bisect_left(not_run, f"{owner}{end}") for end in "./")
    for identifier in not_run[first:behind]:
        if results[identifier].status is TestStatus.NOT_RUN:
            results[identifier] = result
    results[fixture] = result


def _collected_badly(event: Event) -> TestResult:
    failed = text(event, "outcome") == "failed"
    status = TestStatus.ERROR if failed else TestStatus.SKIPPED
    return TestResult(status=status, phase="collect", message=text(event, "message"))


def _tests(records: Sequence[Event]) -> tuple[dict[str, _Sofar], Counter[str]]:
    """What was reported by test id, in the order of collection; how many tests share an id."""
    tests: dict[str, _Sofar] = {}
    shared: Counter[str] = Counter()
    for event in records:
        identifier = text(event, "id")
        if event["event"] == "items":
            shared.update(strings(event, "ids"))
            for each in strings(event, "ids"):
                tests.setdefault(each, _Sofar())
            continue
        if event["event"] not in {"start", "stop", "phase"} or identifier.startswith(_FIXTURES):
            continue
        sofar = tests.setdefault(identifier, _Sofar())
        match event["event"]:
            case "start":
                sofar.started += not sofar.again
                sofar.again = False
            case "stop":
                sofar.ended += 1
            case _:
                _note(sofar, event)
                sofar.again = sofar.again or text(event, "outcome") == "rerun"
                sofar.ended += text(event, "when") == "teardown"
    return tests, shared


def read_report(records: Sequence[Event]) -> Mapping[str, TestResult]:
    """Result by test id, in the order of collection, from the records of the reporter.

    What could not be collected is in it under its collector's id (a file, a module), with phase
    "collect": ERROR when it failed, SKIPPED when it skipped itself.
    """
    tests, shared = _tests(records)
    ended = any(event["event"] == "end" for event in records)
    results = {
        identifier: _result(sofar, ambiguous=shared[identifier] > 1, ended=ended)
        for identifier, sofar in tests.items()
    }
    not_run = sorted(key for key, each in results.items() if each.status is TestStatus.NOT_RUN)
    for event in records:
        identifier = text(event, "id")
        if event["event"] == "collect":
            results[identifier] = _collected_badly(event)
        if event["event"] == "phase" and identifier.startswith(_FIXTURES):
            skipped = TestResult(status=TestStatus.SKIPPED, phase="setup")
            _blame_fixture(results, not_run, identifier, _failure(event) or skipped)
    return results


READERS: Mapping[str, ReportReader] = {
    "pytest": read_report,
    "unittest": read_report,
    "django": read_report,
}
"""By test runner: our reporter's records → test id → result. All three speak one format."""

_PYTEST_SUMMARY = re.compile(
    rb"^=* ?((?:\d+ [a-z ]+, )*\d+ [a-z ]+) in \d[\d.]*s(?: \(\d+:\d\d:\d\d\))? ?=*\r?$"
)
_PYTEST_COUNT = re.compile(rb"(\d+) ([a-z ]+)")
_UNITTEST_SUMMARY = re.compile(rb"^(?:OK|FAILED)(?: \((.*)\))?\r?$")
_UNITTEST_COUNT = re.compile(rb"(failures|errors)=(\d+)")
_SAME = {b"errors": "error", b"failures": "failed"}
_TAIL = 20_000


def printed_counts(runner: str, output: bytes) -> Mapping[str, int] | None:
    """The counts of the last summary line that the runner printed; None when there is none.

    Only "failed", "error" and, from pytest, "passed" are told.
    """
    pattern = _PYTEST_SUMMARY if runner == "pytest" else _UNITTEST_SUMMARY
    summaries = [match for line in output[-_TAIL:].split(b"\n") if (match := pattern.match(line))]
    if not summaries:
        return None
    text = summaries[-1][1] or b""
    if runner == "pytest":
        pairs = [(name.strip(), int(count)) for count, name in _PYTEST_COUNT.findall(text)]
    else:
        pairs = [(name, int(count)) for name, count in _UNITTEST_COUNT.findall(text)]
    counts = {_SAME.get(name, name.decode()): count for name, count in pairs}
    return {"passed": 0, **counts} if runner == "pytest" else counts
