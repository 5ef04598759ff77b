"""One execution of the tests, and what it says of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from validators.model.containers import Outcome


class TestStatus(StrEnum):
    """What one run says of one test."""

    __test__ = False

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"  # `TestResult.phase` tells setup, teardown and collection apart
    SKIPPED = "skipped"
    XFAIL = "xfail"
    XPASS = "xpass"
    TIMED_OUT = "timed_out"
    NOT_COLLECTED = "not_collected"
    NOT_RUN = "not_run"  # collected, but the process died first


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """One test's result in one run. `ambiguous`: several tests share the id."""

    __test__ = False

    status: TestStatus
    phase: str = "call"
    duration_s: float = 0.0
    message: str = ""
    ambiguous: bool = False


class Phase(StrEnum):
    """Which state of the tree a run saw."""

    BASE = "base"  # nothing applied
    BEFORE = "before"  # test patch
    AFTER = "after"  # test patch and gold patch
    PROBE = "probe"  # as after, under another clock, seed, order …
    MODEL = "model"  # model patch, tests restored


class Flaw(StrEnum):
    """Why a candidate is no instance, or why a grade says nothing about the model."""

    BUILD_FAILED = "build_failed"
    TEST_PATCH_DOES_NOT_APPLY = "test_patch_does_not_apply"
    GOLD_PATCH_DOES_NOT_APPLY = "gold_patch_does_not_apply"
    NO_TESTS_SEEN = "no_tests_seen"
    COUNTS_DISAGREE = "counts_disagree"
    TIMED_OUT_BEFORE = "timed_out_before"
    TIMED_OUT_AFTER = "timed_out_after"
    NO_FAIL_TO_PASS = "no_fail_to_pass"
    PASS_TO_FAIL = "pass_to_fail"
    FLAKY = "flaky"
    # grading only
    EMPTY_PATCH = "empty_patch"
    MISSING_PREDICTION = "missing_prediction"
    PATCH_DOES_NOT_APPLY = "patch_does_not_apply"
    PATCH_REFUSED = "patch_refused"  # touches .git, leaves the tree, absolute path …
    TIMED_OUT = "timed_out"
    TESTS_TAMPERED = "tests_tampered"  # test files changed while the tests ran


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution of the tests in a fresh container. `attempt` counts repeats from 1."""

    phase: Phase
    attempt: int
    results: Mapping[str, TestResult]
    outcome: Outcome
    image_digest: str
    started_at: datetime
    variant: str = ""  # which probe
    flaw: Flaw | None = None  # why this run says nothing, e.g. NO_TESTS_SEEN
    detail: str = ""
