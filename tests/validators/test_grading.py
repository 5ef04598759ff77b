"""The rules of verdicts and grades, by cases and by properties."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from validators.grading import (
    ALL_MISSING,
    can_still_be_accepted,
    flaw_of,
    is_resolved,
    marks_of,
    tally,
    transitions,
)
from validators.model import QUICK, Flaw, Outcome, Phase, Run, TestResult, TestStatus
from validators.verification import conclude

WHEN = datetime(2024, 1, 2, tzinfo=UTC)

P, F, E, S = TestStatus.PASSED, TestStatus.FAILED, TestStatus.ERROR, TestStatus.SKIPPED
MISSING = TestStatus.NOT_COLLECTED
T, NR, XF, XP = TestStatus.TIMED_OUT, TestStatus.NOT_RUN, TestStatus.XFAIL, TestStatus.XPASS
LISTS = ("fail_to_pass", "pass_to_pass", "fail_to_fail", "pass_to_fail", "flaky", "left_out")


def runs_of(statuses: Sequence[TestStatus], name: str = "t") -> list[Mapping[str, TestResult]]:
    """One test's status in each of several runs; NOT_COLLECTED is absence, as in real runs."""
    return [{} if s is MISSING else {name: TestResult(status=s)} for s in statuses]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([F, F], [P, P], "fail_to_pass"),
        ([E, F], [P, P], "fail_to_pass"),
        ([T, T], [P, P], "fail_to_pass"),
        ([MISSING, MISSING], [P, P], "fail_to_pass"),
        ([P, P], [P, P], "pass_to_pass"),
        ([F, F], [F, E], "fail_to_fail"),
        ([P, P], [F, F], "pass_to_fail"),
        ([P, P], [MISSING, MISSING], "left_out"),
        ([F, P], [P, P], "flaky"),
        ([F, F], [P, F], "flaky"),
        ([P, P], [P, F], "flaky"),
        ([S, S], [P, P], "left_out"),
        ([F, F], [S, S], "left_out"),
        ([XF, XF], [P, P], "left_out"),
        ([F, F], [XP, XP], "left_out"),
        ([NR, NR], [P, P], "left_out"),
        ([MISSING, MISSING], [P, MISSING], "left_out"),
        ([P, MISSING], [P, P], "left_out"),
    ],
)
def test_one_test_falls_into_one_list(
    before: list[TestStatus], after: list[TestStatus], expected: str
) -> None:
    found = transitions(runs_of(before), runs_of(after))
    assert {name: len(getattr(found, name)) for name in LISTS} == {
        name: int(name == expected) for name in LISTS
    }


def test_shared_ids_are_in_no_list() -> None:
    shared = {"t": TestResult(status=F, ambiguous=True)}
    found = transitions([shared], runs_of([P]))
    assert found.left_out == (("t", "several tests share this id"),)
    assert not found.fail_to_pass


def test_a_file_that_cannot_be_collected_is_no_test() -> None:
    broken = {"tests/test_a.py": TestResult(status=E, phase="collect")}
    found = transitions([broken], runs_of([P], "tests/test_a.py::test_x"))
    assert found.fail_to_pass == found.missing_before == ("tests/test_a.py::test_x",)
    assert not found.fail_to_fail
    assert marks_of(found) == (ALL_MISSING,)


def test_flaws() -> None:
    assert flaw_of(transitions(runs_of([P, P]), runs_of([P, P]))) is Flaw.NO_FAIL_TO_PASS
    assert flaw_of(transitions(runs_of([F, F]), runs_of([P, F]))) is Flaw.FLAKY
    assert flaw_of(transitions(runs_of([P, P]), runs_of([F, F]))) is Flaw.PASS_TO_FAIL
    assert flaw_of(transitions(runs_of([F, F]), runs_of([P, P]))) is None
    assert flaw_of(transitions(runs_of([S]), runs_of([P]))) is Flaw.NO_FAIL_TO_PASS


def test_tests_that_another_one_kept_from_running_are_counted_in_a_mark() -> None:
    both = [{**a, **b} for a, b in zip(runs_of([F, F]), runs_of([NR, P], "u"), strict=True)]
    fixed = [{**a, **b} for a, b in zip(runs_of([P, P]), runs_of([P, P], "u"), strict=True)]
    found = transitions(both, fixed)
    assert found.fail_to_pass == ("t",)
    assert marks_of(found) == ("undecided_tests: 1",)


def test_nothing_is_fixed_or_kept_where_a_phase_was_never_run() -> None:
    for before, after in ((runs_of([P]), []), (runs_of([F]), []), ([], runs_of([P]))):
        found = transitions(before, after)
        assert (found.fail_to_pass, found.pass_to_pass, found.fail_to_fail) == ((), (), ())
        assert flaw_of(found) is Flaw.NO_FAIL_TO_PASS


@pytest.mark.parametrize("status", [S, XF, XP, NR, F, E, T])
def test_a_required_test_that_did_not_pass_resolves_nothing(status: TestStatus) -> None:
    results = {"a": TestResult(status=P), "b": TestResult(status=status)}
    assert not is_resolved(["a"], ["b"], results)
    assert not is_resolved(["b"], ["a"], results)
    assert tally(["a", "b", "absent"], results).failed == 2


def test_nothing_required_resolves_nothing() -> None:
    assert not is_resolved([], [], {"a": TestResult(status=P)})
    assert not is_resolved([], ["a"], {"a": TestResult(status=P)})


STATUS = st.sampled_from(TestStatus)
Runs = list[dict[str, TestResult]]
PHASES = st.sampled_from(("", "setup", "call", "teardown", "collect"))


def profiles(repeats: int) -> st.SearchStrategy[list[TestStatus]]:
    """One test's statuses in runs of a phase: mostly the same in all, as chance alone never is."""
    steady = st.sampled_from((P, F, P, F, MISSING, E, S)).map(lambda status: [status] * repeats)
    varying = st.lists(st.sampled_from((P, F, MISSING)), min_size=repeats, max_size=repeats)
    anything = st.lists(STATUS, min_size=repeats, max_size=repeats)
    return st.one_of(steady, steady, varying, anything)


@st.composite
def both_phases(draw: st.DrawFn) -> tuple[Runs, Runs]:
    """Some tests in all runs before and after; a few results share their id, or are of files."""
    counts = (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    phases: tuple[Runs, Runs] = ([{} for _ in range(counts[0])], [{} for _ in range(counts[1])])
    for test in draw(st.lists(st.sampled_from("abcdef"), unique=True)):
        plain = draw(st.sampled_from((True, True, False)))
        for runs in phases:
            for run, status in zip(runs, draw(profiles(len(runs))), strict=True):
                if status is not MISSING:
                    run[test] = TestResult(
                        status=status,
                        ambiguous=not plain and draw(st.booleans()),
                        phase="call" if plain else draw(PHASES),
                    )
    return phases


BOTH = both_phases()
RUN = st.dictionaries(
    st.sampled_from("abcdef"), st.builds(TestResult, status=st.sampled_from((P, F, *TestStatus)))
)


@given(BOTH)
def test_a_test_is_in_exactly_one_list(both: tuple[Runs, Runs]) -> None:
    before, after = both
    found = transitions(before, after)
    listed = [
        *found.fail_to_pass,
        *found.pass_to_pass,
        *found.fail_to_fail,
        *found.pass_to_fail,
        *found.flaky,
        *(identifier for identifier, _ in found.left_out),
    ]
    tests = {
        key for run in (*before, *after) for key, result in run.items() if result.phase != "collect"
    }
    assert sorted(listed) == sorted(tests)


@given(BOTH)
def test_the_lists_hold_exactly_what_their_names_say(both: tuple[Runs, Runs]) -> None:
    before, after = both
    found = transitions(before, after)
    for test in "abcdef":
        runs = [run[test] for run in (*before, *after) if test in run]
        was = [run[test].status if test in run else MISSING for run in before]
        became = [run[test].status if test in run else MISSING for run in after]
        fails = all(status in {F, E, T} for status in was) or all(s is MISSING for s in was)
        real = any(result.phase != "collect" for result in runs)
        real &= not any(result.ambiguous for result in runs)
        fixed = all(status is P for status in became)
        assert (test in found.fail_to_pass) == (real and fails and fixed)
        assert (test in found.pass_to_pass) == (real and fixed and all(s is P for s in was))
        assert (test in found.missing_before) == (
            test in found.fail_to_pass and all(s is MISSING for s in was)
        )


@given(BOTH, st.randoms(use_true_random=False))
def test_the_order_of_runs_does_not_matter(both: tuple[Runs, Runs], rng: Random) -> None:
    runs = [
        Run(
            phase=phase, attempt=number, results=results, image_digest="", started_at=WHEN,
            outcome=Outcome(exit_code=0, output=b""),
        )
        for phase, found in zip((Phase.BEFORE, Phase.AFTER), both, strict=True)
        for number, results in enumerate(found, 1)
    ]  # fmt: skip
    shuffled = rng.sample(runs, len(runs))
    ours, theirs = conclude(runs, policy=QUICK), conclude(shuffled, policy=QUICK)
    names = (*LISTS, "missing_before", "marks", "flaw", "flake_rates")
    assert [getattr(ours, name) for name in names] == [getattr(theirs, name) for name in names]


@given(BOTH, RUN)
def test_stopping_early_never_loses_an_instance(
    both: tuple[Runs, Runs], more: dict[str, TestResult]
) -> None:
    before, after = both
    if not can_still_be_accepted(before, after):
        assert not transitions([*before, more], after).fail_to_pass
        assert not transitions(before, [*after, more]).fail_to_pass


NAMES = st.sets(st.sampled_from("abc"))


@given(NAMES, NAMES, NAMES, NAMES, STATUS)
def test_resolved_is_monotone_in_passed_tests(
    required: set[str], kept: set[str], passed: set[str], more: set[str], other: TestStatus
) -> None:
    def of(good: set[str]) -> Mapping[str, TestResult]:
        return {name: TestResult(status=P if name in good else other) for name in "abc"}

    fewer, all_of_them = of(passed), of(passed | more)
    lists = (sorted(required), sorted(kept))
    assert is_resolved(*lists, fewer) <= is_resolved(*lists, all_of_them)
    for each in lists:
        assert tally(each, fewer).passed <= tally(each, all_of_them).passed
    if required <= passed and kept <= passed and required:
        assert is_resolved(*lists, fewer)
