"""Verdicts from scripted runs: what is asked of the engine, when it stops, what is concluded."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.engine import FakeEngine, Script, events, passing
from validators.errors import EngineUnavailableError
from validators.model import (
    FULL,
    QUICK,
    Environment,
    Flaw,
    Image,
    Outcome,
    Phase,
    Policy,
    Recipe,
    Run,
    Task,
    TestResult,
    TestStatus,
    Tree,
    Verdict,
)
from validators.probes import CLOCK, HASH_SEED, ORDER, OWNER, PLACE
from validators.selection import runnable, selected
from validators.verification import ONLY_OF_FIX, conclude, is_decided, verify, without_own_tests
from validators.worktree import AFTERWARDS_FAILED

IMAGE = Image(digest="sha256:1", tag="t:1")
RECIPE = Recipe(language="python", python="3.12", lock="")
ENVIRONMENT = Environment(image=IMAGE, base_image=IMAGE, base_origin="built", recipe=RECIPE, key="")
WHEN = datetime(2024, 1, 2, tzinfo=UTC)
TEST_PATCH = b"""diff --git a/tests/test_a.py b/tests/test_a.py
--- a/tests/test_a.py
+++ b/tests/test_a.py
@@ -1 +1 @@
-a
+b
diff --git a/tests/test_old.py b/tests/test_old.py
deleted file mode 100644
--- a/tests/test_old.py
+++ /dev/null
@@ -1 +0,0 @@
-a
diff --git a/tests/data.json b/tests/data.json
--- a/tests/data.json
+++ b/tests/data.json
@@ -1 +1 @@
-a
+b
"""
TASK = Task(
    instance_id="o__n-1",
    repo="o/n",
    tree=Tree(commit="c", committed_at=WHEN, tar=bytes(10240)),
    patch=b"gold",
    test_patch=TEST_PATCH,
    merged_at=WHEN,
)
BEFORE = events({"t.py::a": "failed", "t.py::b": "passed"})
AFTER = passing("t.py::a", "t.py::b")


def check(
    *records: Sequence[Mapping[str, object]] | Script, policy: Policy = QUICK
) -> tuple[Verdict, FakeEngine]:
    engine = FakeEngine([r if isinstance(r, Script) else Script(records=r) for r in records])
    told: list[str] = []
    verdict = verify(
        TASK,
        ENVIRONMENT,
        test_files=["tests/test_a.py", "tests/test_old.py"],
        engine=engine,
        policy=policy,
        progress=told.append,
    )
    assert len(told) == len(verdict.runs)
    assert engine.open == 0
    return verdict, engine


def test_a_fix_is_accepted_after_all_repeats() -> None:
    verdict, engine = check(BEFORE, AFTER, BEFORE, AFTER, BEFORE)
    assert verdict.accepted
    assert engine.most_open == 2  # MINER_WORKERS says so to people
    assert verdict.fail_to_pass == ("t.py::a",)
    assert verdict.pass_to_pass == ("t.py::b",)
    assert [(run.phase, run.attempt) for run in verdict.runs] == [
        (Phase.BEFORE, 1),
        (Phase.AFTER, 1),
        (Phase.BEFORE, 2),
        (Phase.AFTER, 2),
        (Phase.BASE, 1),
    ]
    assert {len(c.files["/run/miner/kit"]) for c in engine.containers} == {1}
    calls = [each for c in engine.containers for each in c.commands if "talk.sh" in each[1]]
    selections = {tuple(call[2:]) for call in calls}
    assert selections == {("tests/test_a.py",)}


def test_a_before_run_that_dies_in_collection_collects_nothing_and_leaves_a_mark() -> None:
    died = Script(
        records=[{"event": "begin", "runner": "pytest"}],
        test=Outcome(exit_code=139, output=b"Segmentation fault"),
    )
    verdict, _ = check(died, AFTER, died, AFTER, died)
    assert verdict.accepted
    assert verdict.fail_to_pass == verdict.missing_before == ("t.py::a", "t.py::b")
    assert verdict.marks == ("all_fail_to_pass_missing_before", "died_collecting_before: 2 of 2")


def test_full_repeats_three_times_and_probes() -> None:
    failing_by_clock = events({"t.py::a": "passed", "t.py::b": "failed"})
    probes = [failing_by_clock, AFTER, AFTER, AFTER, AFTER]
    verdict, engine = check(*[BEFORE, AFTER] * 3, BEFORE, *probes, policy=FULL)
    assert verdict.accepted
    assert [run.variant for run in verdict.runs if run.phase is Phase.PROBE] == [
        CLOCK,
        HASH_SEED,
        PLACE,
        ORDER,
        OWNER,
    ]
    assert verdict.pass_to_pass == ()
    assert verdict.left_out == (("t.py::b", f"fails in a probe: {CLOCK}"),)
    assert b"MINER_CLOCK_SHIFT_S" in engine.containers[7].files["/run/miner/kit"][0]


def test_a_probe_that_cannot_be_set_up_leaves_a_mark_alone() -> None:
    """An image without a compiler cannot shift the clock: no reason to give the task up."""
    no_compiler = Script(prepare=Outcome(exit_code=AFTERWARDS_FAILED, output=b"cc: not found"))
    verdict, _ = check(*[BEFORE, AFTER] * 3, BEFORE, no_compiler, *[AFTER] * 4, policy=FULL)
    assert verdict.accepted
    assert verdict.pass_to_pass == ("t.py::b",)
    assert verdict.marks == (f"probe_failed: {CLOCK}",)


def test_probes_that_take_too_long_are_left_out_and_named() -> None:
    hurried = replace(FULL, probes_s=0.0)
    verdict, _ = check(*[BEFORE, AFTER] * 3, BEFORE, *[AFTER] * 5, policy=hurried)
    assert verdict.accepted
    assert verdict.marks == ("not_probed: 5 of 5",)
    assert len(verdict.runs) == 7


def test_flake_rates_are_part_of_the_verdict() -> None:
    failing = events({"t.py::a": "passed", "t.py::b": "failed"})
    verdict, _ = check(BEFORE, AFTER, BEFORE, failing, BEFORE)
    assert verdict.accepted
    assert verdict.flake_rates == (("t.py::b", 0.5),)
    assert dict(verdict.run_flake_rates) == {
        "before 1": 0.0, "after 1": 0.25, "before 2": 0.0, "after 2": 0.25,
    }  # fmt: skip


def test_a_tree_larger_than_its_share_of_the_disk_is_a_flaw() -> None:
    """Were it the machine's failure, one huge repository could keep all others waiting."""
    full = Script(prepare=Outcome(exit_code=2, output=b"tar: a: No space left on device"))
    verdict, _ = check(full, AFTER)
    assert verdict.flaw is Flaw.BUILD_FAILED
    assert "No space left" in verdict.detail


def test_a_run_that_reports_fewer_tests_than_it_collected_says_nothing() -> None:
    fewer = [
        {**record, "count": 3} if record["event"] == "collected" else record for record in BEFORE
    ]
    verdict, _ = check(fewer, AFTER)
    assert verdict.flaw is Flaw.COUNTS_DISAGREE
    assert "3 tests collected, 2 reported" in verdict.detail


def test_stops_when_nothing_can_be_fixed() -> None:
    verdict, engine = check(AFTER, AFTER, AFTER, AFTER)
    assert verdict.flaw is Flaw.NO_FAIL_TO_PASS
    assert len(engine.tested) == 2


FAILS, PASSES = {"a": TestStatus.FAILED}, {"a": TestStatus.PASSED}
SAID = st.one_of(
    st.sampled_from((FAILS, PASSES)),
    st.dictionaries(st.sampled_from("abc"), st.sampled_from(TestStatus)),
)


@st.composite
def repeated(draw: st.DrawFn) -> list[Run]:
    """All runs that an answer needs: each as a fix would have it, or anything, or flawed."""
    runs = []
    for number in range(2 * QUICK.repeats):
        usual = draw(st.sampled_from((True, True, True, False)))
        said = (FAILS, PASSES)[number % 2] if usual else draw(SAID)
        flaw = None if usual else draw(st.sampled_from((None, None, *Flaw)))
        runs.append(made(number, said, flaw))
    return runs


def made(number: int, statuses: Mapping[str, TestStatus], flaw: Flaw | None = None) -> Run:
    """The run of that number, from 0, as verification orders them."""
    return Run(
        phase=(Phase.BEFORE, Phase.AFTER)[number % 2],
        attempt=number // 2 + 1,
        results={test: TestResult(status=status) for test, status in statuses.items()},
        outcome=Outcome(exit_code=0, output=b""),
        image_digest="",
        started_at=WHEN,
        flaw=flaw,
    )


@given(repeated())
def test_stopping_as_soon_as_it_is_decided_gives_the_answer_of_all_runs(runs: list[Run]) -> None:
    stopped = any(is_decided(runs[:n], policy=QUICK) for n in range(1, len(runs) + 1))
    assert stopped is not conclude(runs, policy=QUICK).accepted


@pytest.mark.parametrize(
    ("said", "decided"),
    [
        ([], False),
        ([PASSES], False),  # one run tells nothing of the other phase
        ([FAILS, PASSES], False),
        ([FAILS, FAILS], True),
        ([PASSES, PASSES], True),
        ([{"a": TestStatus.NOT_RUN}, PASSES], True),  # nothing is known of it, now or later
        ([FAILS, PASSES, PASSES], True),
        ([FAILS, PASSES, FAILS], False),
        ([FAILS, PASSES, FAILS, FAILS], True),
        ([FAILS, PASSES, FAILS, PASSES], False),  # accepted: base and probes are still to come
        ([FAILS, PASSES, FAILS, PASSES, {}], False),
        ([FAILS, PASSES, FAILS, PASSES, PASSES, FAILS], False),
    ],
)
def test_when_it_is_decided(said: list[Mapping[str, TestStatus]], decided: bool) -> None:
    runs = [made(number, statuses) for number, statuses in enumerate(said)]
    assert is_decided(runs, policy=QUICK) is decided


def test_a_repeat_that_takes_the_last_fix_away_spares_the_others() -> None:
    said = [FAILS, PASSES, FAILS, FAILS]
    runs = [made(number, statuses) for number, statuses in enumerate(said)]
    assert is_decided(runs, policy=FULL)
    assert not is_decided(runs[:3], policy=FULL)


DOCTEST = "calc/core.py::calc.core.half"
FIX = TEST_PATCH.replace(b"tests/test_a.py", b"calc/core.py")


@pytest.mark.parametrize(
    ("before", "after", "test_patch", "kept", "flaw"),
    [
        ((), (DOCTEST, "t.py::a"), TEST_PATCH, ("t.py::a",), None),
        ((), (DOCTEST,), TEST_PATCH, (), Flaw.NO_FAIL_TO_PASS),
        ((DOCTEST,), (DOCTEST, "t.py::a"), TEST_PATCH, (DOCTEST, "t.py::a"), None),
        ((), (DOCTEST, "t.py::a"), FIX, (DOCTEST, "t.py::a"), None),
    ],
    ids=["beside another", "nothing else", "it was there before", "the tests' own file"],
)
def test_what_only_the_fix_brings_is_not_required(
    before: Sequence[str],
    after: Sequence[str],
    test_patch: bytes,
    kept: tuple[str, ...],
    flaw: Flaw | None,
) -> None:
    runs = [
        made(n, dict.fromkeys(*((before, TestStatus.FAILED), (after, TestStatus.PASSED))[n % 2]))
        for n in range(4)
    ]
    task = replace(TASK, patch=FIX, test_patch=test_patch)
    verdict = without_own_tests(conclude(runs, policy=QUICK), task)
    assert (verdict.fail_to_pass, verdict.flaw, verdict.accepted) == (kept, flaw, flaw is None)
    left_out = () if DOCTEST in kept else ((DOCTEST, ONLY_OF_FIX),)
    assert verdict.left_out == left_out
    assert (DOCTEST in verdict.missing_before) is (DOCTEST in kept and not before)
    assert bool(verdict.marks) is (flaw is None and not before)


@pytest.mark.parametrize("phase", [Phase.BASE, Phase.PROBE, Phase.MODEL])
def test_only_before_and_after_runs_make_lists(phase: Phase) -> None:
    """Whatever another run says, and whatever is wrong with its tests."""
    runs = [made(n, (FAILS, PASSES)[n % 2]) for n in range(4)]
    alone = conclude(runs, policy=QUICK)
    for said in (FAILS, PASSES, {}, {"new": TestStatus.FAILED}):
        other = replace(made(0, said), phase=phase)
        with_it = conclude([*runs, other], policy=QUICK)
        assert replace(with_it, runs=()) == replace(alone, runs=())


@pytest.mark.parametrize("number", range(4))
def test_a_flaw_decides_at_once_but_not_after_the_last_repeat(number: int) -> None:
    runs = [made(n, (FAILS, PASSES)[n % 2]) for n in range(4)]
    runs[number] = made(number, {}, Flaw.COUNTS_DISAGREE)
    assert is_decided(runs[: number + 1], policy=QUICK)
    good = [made(n, (FAILS, PASSES)[n % 2]) for n in range(4)]
    assert not is_decided([*good, runs[number]], policy=QUICK)


def test_flaky_fix_is_flaky() -> None:
    verdict, engine = check(BEFORE, AFTER, BEFORE, BEFORE, BEFORE)
    assert verdict.flaw is Flaw.FLAKY
    assert verdict.flaky == ("t.py::a",)
    assert "t.py::a" in verdict.detail
    assert len(engine.tested) == 4


def test_broken_tests_are_pass_to_fail() -> None:
    after = events({"t.py::a": "passed", "t.py::b": "failed"})
    verdict, _ = check(BEFORE, after, BEFORE, after)
    assert verdict.flaw is Flaw.PASS_TO_FAIL
    assert verdict.pass_to_fail == ("t.py::b",)


@pytest.mark.parametrize(
    ("status", "position", "flaw"),
    [
        (40, 0, Flaw.TEST_PATCH_DOES_NOT_APPLY),
        (41, 1, Flaw.GOLD_PATCH_DOES_NOT_APPLY),
    ],
)
def test_patches_that_do_not_apply(status: int, position: int, flaw: Flaw) -> None:
    scripts = [Script(records=BEFORE), Script(records=AFTER)]
    refused = Outcome(exit_code=status, output=b"error: patch failed")
    scripts[position] = Script(prepare=refused)
    verdict, _ = check(*scripts)
    assert verdict.flaw is flaw
    assert "patch failed" in verdict.detail


def test_tree_that_cannot_be_prepared_is_no_verdict() -> None:
    broken = Outcome(exit_code=128, output=b"fatal: unable to fork")
    with pytest.raises(EngineUnavailableError, match="unable to fork"):
        check(Script(prepare=broken))


def test_no_container_is_left_when_the_machine_fails() -> None:
    engine = FakeEngine([Script(records=BEFORE), Script(records=AFTER)])
    with pytest.raises(EngineUnavailableError, match="no more runs"):
        verify(
            TASK,
            ENVIRONMENT,
            test_files=["tests/test_a.py"],
            engine=engine,
            policy=QUICK,
            progress=lambda _: None,
        )
    assert engine.open == 0


def test_silence_is_no_pass() -> None:
    nothing = Script(test=Outcome(exit_code=0, output=b"all good, trust me"))
    verdict, _ = check(nothing)
    assert verdict.flaw is Flaw.NO_TESTS_SEEN
    assert "trust me" in verdict.detail


def test_before_run_without_tests_is_honest_but_an_after_run_is_not() -> None:
    began = Script(records=BEFORE[:1], test=Outcome(exit_code=4, output=b"conftest broken"))
    verdict, _ = check(began, AFTER, began, AFTER, BEFORE)
    assert verdict.fail_to_pass == ("t.py::a", "t.py::b")
    verdict, _ = check(BEFORE, began)
    assert verdict.flaw is Flaw.NO_TESTS_SEEN


def test_time_out_names_its_phase_and_test() -> None:
    cut = Script(records=AFTER[:4], test=Outcome(exit_code=137, output=b"", timed_out=True))
    verdict, _ = check(cut)
    assert verdict.flaw is Flaw.TIMED_OUT_BEFORE
    assert "t.py::a" in verdict.detail
    statuses = {test: result.status for test, result in verdict.runs[0].results.items()}
    assert statuses == {"t.py::a": TestStatus.TIMED_OUT, "t.py::b": TestStatus.NOT_RUN}
    verdict, _ = check(BEFORE, cut)
    assert verdict.flaw is Flaw.TIMED_OUT_AFTER


@pytest.mark.parametrize(
    ("outcome", "counts"),
    [
        (Outcome(exit_code=0, output=b""), None),  # the runner said it ended with 1
        (Outcome(exit_code=1, output=b""), {"passed": 2, "failed": 0}),
        (Outcome(exit_code=1, output=b"== 2 passed in 0.01s ==\n"), None),
    ],
)
def test_second_signals_must_agree(outcome: Outcome, counts: Mapping[str, int] | None) -> None:
    records = [*BEFORE[:-1], {"event": "end", "status": 1, "counts": counts}]
    verdict, _ = check(Script(records=records, test=outcome))
    assert verdict.flaw is Flaw.COUNTS_DISAGREE


@pytest.mark.parametrize(("status", "exit_code"), [(0, 1), (1, 0), (0, 139)])
def test_an_exit_code_that_the_runner_did_not_mean_is_a_flaw(status: int, exit_code: int) -> None:
    """All passed, as far as the report says: what ends the process at its exit shows here alone."""
    records = [*AFTER[:-1], {"event": "end", "status": status, "counts": None}]
    left = Script(records=records, test=Outcome(exit_code=exit_code, output=b""))
    verdict, _ = check(BEFORE, left)
    assert verdict.flaw is Flaw.COUNTS_DISAGREE
    assert f"exit code {exit_code}, but the runner ended with {status}" in verdict.detail


def test_a_crash_before_makes_no_list_longer() -> None:
    died = Script(records=AFTER[:4], test=Outcome(exit_code=139, output=b""))
    verdict, _ = check(died, AFTER, died, AFTER, BEFORE)
    assert verdict.fail_to_pass == ("t.py::a",)  # the test in which it died
    assert verdict.left_out == (("t.py::b", "never run: the process ended first"),)


def test_test_that_cannot_import_a_dependency_is_told() -> None:
    error = "ImportError while importing 't.py'.\nt.py:1: in <module>\n    import yaml\n"
    error += "E   ModuleNotFoundError: No module named 'yaml'\n"
    broken: list[Mapping[str, object]] = [
        {"event": "begin"},
        {"event": "collect", "id": "t.py", "outcome": "failed", "message": error},
        {"event": "collected", "count": 0},
        {"event": "end", "status": 2},
    ]
    verdict, _ = check(broken, broken)
    assert verdict.flaw is Flaw.NO_FAIL_TO_PASS
    assert verdict.detail == (
        "0 pass in both states;"
        " not collected after: t.py: ModuleNotFoundError: No module named 'yaml'"
    )


def test_deleted_files_are_not_run() -> None:
    assert runnable(["tests/test_a.py", "tests/test_old.py"], TEST_PATCH) == ("tests/test_a.py",)
    assert selected(TEST_PATCH, RECIPE) == ("tests/test_a.py",)
