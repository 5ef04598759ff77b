"""What `miner show` says of each flaw: the evidence that its row in docs/verification.md names."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from miner.cli.evidence import evidence_document, tell, tell_logs
from miner.cli.recipes import ACCEPTED, of_the_given, tell_tried
from miner.model import Stage
from miner.store import Evidence
from miner.store.evidence import StoredExamination
from tests.miner.store.samples import ENVIRONMENT, RECIPE, candidate, rejection
from validators.model import (
    QUICK,
    Attempt,
    BuildFailure,
    Examination,
    FailureClass,
    Flaw,
    Outcome,
    Phase,
    Run,
    TestResult,
    TestStatus,
    Verdict,
)
from validators.verification import conclude

WHEN = datetime(2026, 11, 29, tzinfo=UTC)
P, F = TestStatus.PASSED, TestStatus.FAILED


def run(phase: Phase, attempt: int = 1, flaw: Flaw | None = None, **statuses: TestStatus) -> Run:
    return Run(
        phase=phase,
        attempt=attempt,
        results={
            name: TestResult(status=status, message=f"{name} says why" if status is F else "")
            for name, status in statuses.items()
        },
        outcome=Outcome(exit_code=1, output=b"the log's last words"),
        image_digest="",
        started_at=WHEN,
        flaw=flaw,
        detail="what the run tells" if flaw is not None else "",
    )


def evidence(verdict: Verdict, failure: BuildFailure | None = None) -> Evidence:
    attempt = Attempt(
        recipe=RECIPE,
        environment=None if failure else ENVIRONMENT,
        failure=failure,
        verdict=verdict,
        started_at=WHEN,
        ended_at=WHEN,
    )
    stored = StoredExamination(
        version=1,
        policy="quick",
        outcome=str(verdict.flaw or "instance"),
        examined_at=WHEN,
        examination=Examination(instance_id="o__r-7", attempts=(attempt,), verdict=verdict),
    )
    return Evidence(
        instance_id="o__r-7",
        is_instance=False,
        candidate=candidate(7),
        rejections=(),
        examinations=(stored,),
        signals={},
        failures=((WHEN, "The container engine cannot be reached."),),
    )


@pytest.mark.parametrize(
    ("runs", "flaw", "told"),
    [
        (
            [run(Phase.BEFORE, flaw=Flaw.TEST_PATCH_DOES_NOT_APPLY)],
            Flaw.TEST_PATCH_DOES_NOT_APPLY,
            ["before 1: what the run tells", "the log's last words"],
        ),
        (
            [run(Phase.BEFORE, a=F), run(Phase.AFTER, flaw=Flaw.GOLD_PATCH_DOES_NOT_APPLY)],
            Flaw.GOLD_PATCH_DOES_NOT_APPLY,
            ["after 1: what the run tells", "the log's last words"],
        ),
        (
            [run(Phase.BEFORE, a=F), run(Phase.AFTER, flaw=Flaw.NO_TESTS_SEEN)],
            Flaw.NO_TESTS_SEEN,
            ["after 1: what the run tells", "the log's last words"],
        ),
        (
            [run(Phase.BEFORE, a=F), run(Phase.AFTER, flaw=Flaw.COUNTS_DISAGREE)],
            Flaw.COUNTS_DISAGREE,
            ["after 1: what the run tells", "the log's last words"],
        ),
        (
            [run(Phase.BEFORE, flaw=Flaw.TIMED_OUT_BEFORE)],
            Flaw.TIMED_OUT_BEFORE,
            ["before 1: what the run tells", "the log's last words"],
        ),
        (
            [run(Phase.BEFORE, a=F), run(Phase.AFTER, flaw=Flaw.TIMED_OUT_AFTER)],
            Flaw.TIMED_OUT_AFTER,
            ["after 1: what the run tells", "the log's last words"],
        ),
        (
            [run(Phase.BEFORE, a=F), run(Phase.AFTER, a=F)],
            Flaw.NO_FAIL_TO_PASS,
            ["Broken, flaky or never fixed", "a says why"],
        ),
        (
            [run(Phase.BEFORE, a=F, b=P), run(Phase.AFTER, a=P, b=F)],
            Flaw.PASS_TO_FAIL,
            ["Broken, flaky or never fixed", "b says why"],
        ),
        (
            [run(Phase.BEFORE, a=F), run(Phase.AFTER, a=P), run(Phase.AFTER, 2, a=F)],
            Flaw.FLAKY,
            ["Broken, flaky or never fixed", "50%", "a says why"],
        ),
    ],
)
def test_each_flaw_comes_with_its_evidence(
    runs: list[Run], flaw: Flaw, told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    verdict = conclude(runs, policy=QUICK)
    assert verdict.flaw is flaw
    tell(evidence(verdict))
    said = capsys.readouterr().out
    assert f"flaw: {flaw}" in said
    assert [words for words in told if words not in said] == []
    assert "the machine failed on 2026-11-29 00:00: The container engine" in said


def test_a_failed_build_comes_with_its_log(capsys: pytest.CaptureFixture[str]) -> None:
    failure = BuildFailure(
        outcome=Outcome(exit_code=1, output=b"no such package"),
        failure_class=FailureClass.PACKAGE_NOT_FOUND,
        detail="evergreen",
        step="resolve",
    )
    found = evidence(Verdict(flaw=Flaw.BUILD_FAILED, detail="it failed"), failure)
    tell(found)
    said = capsys.readouterr().out
    assert "build failed in resolve: package_not_found: evergreen\nno such package" in said
    assert "no such package" in str(evidence_document(found))
    assert "FAIL_TO_PASS" not in said
    assert "Runs (" not in said


def test_all_logs_are_those_of_builds_that_failed_too(capsys: pytest.CaptureFixture[str]) -> None:
    verdict = Verdict(fail_to_pass=("a",), runs=(run(Phase.BEFORE, a=F),))
    found = evidence(verdict)
    (stored,) = found.examinations
    (passed,) = stored.examination.attempts
    failure = BuildFailure(
        outcome=Outcome(exit_code=1, output=b"a header is missing"),
        failure_class=FailureClass.MISSING_SYSTEM_LIBRARY,
        detail="ffi.h",
        step="project",
    )
    failed = replace(
        passed, environment=None, failure=failure, verdict=None, started_at=WHEN - timedelta(1)
    )
    examination = replace(stored.examination, attempts=(failed, passed))
    tell_logs(replace(found, examinations=(replace(stored, examination=examination),)))
    build, _, runs = capsys.readouterr().out.partition("--- before 1")
    assert f"on Python {RECIPE.python}: project: missing_system_library: ffi.h" in build
    assert "a header is missing" in build
    assert "the log's last words" in runs


def test_marks_and_rates_of_an_accepted_one_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    verdict = Verdict(
        fail_to_pass=("a",),
        marks=("unnoticed_hunks: 1 of 2",),
        flake_rates=(("b", 0.25),),
        run_flake_rates=(("after 1", 0.5),),
        runs=(run(Phase.AFTER, a=P, b=F),),
    )
    tell(evidence(verdict))
    said = capsys.readouterr().out
    assert "mark: unnoticed_hunks: 1 of 2" in said
    assert "50.0%" in said
    assert "25%" in said


def test_a_candidate_that_waits_is_told_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    found = replace(evidence(Verdict()), examinations=())
    tell(found)
    assert "o__r-7: a candidate, not verified yet" in capsys.readouterr().out


def test_the_end_of_a_log_in_a_detail_is_told_by_its_last_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = "before 1: running build_ext\ngcc -c a.c\nerror: gcc failed\n"
    tell(evidence(Verdict(flaw=Flaw.BUILD_FAILED, detail=log)))
    assert "flaw: build_failed – … error: gcc failed\n" in capsys.readouterr().out
    tell(evidence(Verdict(flaw=Flaw.BUILD_FAILED, detail="one line")))
    assert "flaw: build_failed – one line\n" in capsys.readouterr().out


def test_a_rejection_of_before_is_told_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    no = rejection(7, "build_failed", stage=Stage.VERIFY)
    tell(replace(evidence(Verdict(fail_to_pass=("a",))), rejections=(no,), is_instance=True))
    said = capsys.readouterr().out
    assert "o__r-7: an instance\nbefore that rejected by verify: build_failed" in said
    tell(replace(evidence(Verdict(flaw=Flaw.BUILD_FAILED)), rejections=(no,)))
    assert "o__r-7: no instance\nrejected by verify: build_failed" in capsys.readouterr().out


def test_a_given_recipe_that_failed_is_not_accepted_for_a_repaired_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    failure = BuildFailure(
        outcome=Outcome(exit_code=1, output=b"x" * 5000 + b" needs 3.12"),
        failure_class=FailureClass.WRONG_PYTHON,
        detail="Python>=3.12",
        step="resolve",
    )
    given = Attempt(
        recipe=replace(RECIPE, python="3.8", origin="maintainer"),
        environment=None,
        failure=failure,
        verdict=None,
        started_at=WHEN,
        ended_at=WHEN,
    )
    passed = replace(
        given,
        recipe=replace(RECIPE, python="3.12", origin="repaired"),
        environment=ENVIRONMENT,
        failure=None,
        verdict=Verdict(fail_to_pass=("a",)),
        started_at=WHEN + timedelta(seconds=9),
    )
    assert passed.verdict is not None
    examination = Examination(
        instance_id="o__r-7", attempts=(given, passed), verdict=passed.verdict
    )
    assert of_the_given(examination) != ACCEPTED
    tell_tried(examination)
    said = capsys.readouterr().out
    assert "your recipe: wrong_python: Python>=3.12; another one (repaired, Python 3.12)" in said
    assert "--- end of the log of your recipe\nx" in said
    assert "needs 3.12" in said
    assert "x" * 4000 not in said.replace("\n", "")
    mine = replace(examination, attempts=(replace(passed, started_at=WHEN),))
    assert of_the_given(mine) == ACCEPTED
    # what a worse attempt of a later time leaves does not count: the given one decided
    later = replace(given, started_at=WHEN + timedelta(seconds=20))
    assert of_the_given(replace(examination, attempts=(later, passed))) == ACCEPTED


def test_a_given_recipe_whose_tests_say_nothing_is_told_with_their_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    verdict = conclude([run(Phase.BEFORE, flaw=Flaw.NO_TESTS_SEEN)], policy=QUICK)
    (stored,) = evidence(verdict).examinations
    tell_tried(stored.examination)
    said = capsys.readouterr().out
    assert "the log's last words" in said
    assert f"your recipe: no_tests_seen ({verdict.detail})" in said
