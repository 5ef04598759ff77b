"""What `miner show` prints: everything a maintainer needs to see why a verdict is what it is."""

from collections.abc import Mapping, Sequence

from miner.cli.recipes import TAIL_CHARS, tell_attempts
from miner.cli.speech import brief, say, table
from miner.store import Evidence
from miner.store.evidence import StoredExamination
from validators.model import Attempt, Flaw, Run, TestResult, Verdict

TOLD_TESTS = 20
"""So many tests of a flaw are told with what each run said of them; `--json` has all."""

_LOG_TELLS = frozenset(
    {
        Flaw.TEST_PATCH_DOES_NOT_APPLY,
        Flaw.GOLD_PATCH_DOES_NOT_APPLY,
        Flaw.NO_TESTS_SEEN,
        Flaw.COUNTS_DISAGREE,
        Flaw.TIMED_OUT_BEFORE,
        Flaw.TIMED_OUT_AFTER,
        Flaw.BUILD_FAILED,
    }
)
"""Flaws of one run, of which the end of its log says more."""


def evidence_document(found: Evidence) -> dict[str, object]:
    """The evidence, JSON-able; logs as text."""
    return {
        "instance_id": found.instance_id,
        "is_instance": found.is_instance,
        "rejections": [
            {"stage": r.stage, "gate": r.gate, "detail": r.detail} for r in found.rejections
        ],
        "signals": dict(found.signals),
        "failures": found.failures,
        "examinations": [_examination_document(stored) for stored in found.examinations],
    }


def _examination_document(stored: StoredExamination) -> dict[str, object]:
    verdict = stored.examination.verdict
    return {
        "policy": stored.policy,
        "outcome": stored.outcome,
        "examined_at": stored.examined_at,
        "attempts": [attempt.reason for attempt in stored.examination.attempts],
        "build_logs": [
            a.failure.outcome.output[-TAIL_CHARS:] for a in stored.examination.attempts if a.failure
        ],
        "verdict": _verdict_document(verdict),
        "runs": [_run_document(run) for run in verdict.runs],
        "tests": {
            test: [_status(run, test) for run in verdict.runs] for test in _doubtful(verdict)
        },
    }


def _verdict_document(verdict: Verdict) -> dict[str, object]:
    return {
        "flaw": verdict.flaw,
        "detail": verdict.detail,
        "fail_to_pass": verdict.fail_to_pass,
        "missing_before": verdict.missing_before,
        "pass_to_pass": len(verdict.pass_to_pass),
        "pass_to_fail": verdict.pass_to_fail,
        "fail_to_fail": verdict.fail_to_fail,
        "flaky": verdict.flaky,
        "flake_rates": dict(verdict.flake_rates),
        "run_flake_rates": dict(verdict.run_flake_rates),
        "marks": verdict.marks,
        "left_out": verdict.left_out,
    }


def _run_document(run: Run) -> dict[str, object]:
    return {
        "phase": run.phase,
        "attempt": run.attempt,
        "variant": run.variant,
        "exit_code": run.outcome.exit_code,
        "duration_s": run.outcome.duration_s,
        "tests": len(run.results),
        "flaw": run.flaw,
        "detail": run.detail,
        "log_tail": run.outcome.output[-TAIL_CHARS:],
    }


def tell(found: Evidence) -> None:
    """The evidence for people: the newest examination in full."""
    say(f"{found.instance_id}: {_standing(found)}")
    before = "before that " if found.is_instance else ""
    for rejection in found.rejections:
        say(f"{before}rejected by {rejection.stage}: {rejection.gate} – {brief(rejection.detail)}")
    if found.candidate is not None:
        candidate = found.candidate
        say(f"base {candidate.base_commit}, merged {candidate.merged_at:%Y-%m-%d}")
        say(f"issues {', '.join(f'#{number}' for number in candidate.issue_numbers)}")
        say("\n" + candidate.problem_statement.strip() + "\n")
        table("Files", ["path", "class"], candidate.file_classes)
    for stored in found.examinations[:1]:
        tell_attempts(stored.examination.attempts)
        _tell_build(stored.examination.attempts)
        _tell_verdict(stored.examination.verdict)
    if found.signals:
        table("Signals", ["signal", "value"], sorted(found.signals.items()))
    for when, error in found.failures:
        say(f"the machine failed on {when:%Y-%m-%d %H:%M}: {error}")


def _standing(found: Evidence) -> str:
    """ "an instance", "no instance", or that nobody has looked yet, or not here."""
    if found.is_instance:
        return "an instance"
    if found.candidate is None and not found.rejections:
        return "not mined here, only graded"
    waiting = found.candidate is not None and not (found.examinations or found.rejections)
    return "a candidate, not verified yet" if waiting else "no instance"


def _tell_build(attempts: Sequence[Attempt]) -> None:
    """The log of the build that decided, when it failed."""
    failure = attempts[-1].failure if attempts else None
    if failure is not None:
        say(f"--- build failed in {failure.step}: {failure.failure_class}: {failure.detail}")
        say(_tail(failure.outcome.output))


def _tell_verdict(verdict: Verdict) -> None:
    _tell_tests(verdict)
    if verdict.flaw is not None:
        say(f"flaw: {verdict.flaw} – {brief(verdict.detail)}")
    for mark in verdict.marks:
        say(f"mark: {mark}")
    for run in verdict.runs:
        if run.flaw is not None or run.detail:
            say(f"{_name(run)}: {brief(run.detail)}")
        if run.flaw in _LOG_TELLS:
            say(f"--- end of the log of {_name(run)}")
            say(_tail(run.outcome.output))
    _tell_doubtful(verdict)
    for test, reason in verdict.left_out:
        say(f"left out: {test} ({reason})")


def _tell_tests(verdict: Verdict) -> None:
    """The runs and the tests that the fix mends; nothing of a task that was never run."""
    rates = dict(verdict.run_flake_rates)
    if verdict.runs:
        table(
            f"Runs ({verdict.policy})",
            ["phase", "repeat", "variant", "tests", "passed", "odd", "exit", "s", "flaw"],
            [_run_row(run, rates) for run in verdict.runs],
        )
    missing = set(verdict.missing_before)
    counts = f"FAIL_TO_PASS: {len(verdict.fail_to_pass)}, PASS_TO_PASS: {len(verdict.pass_to_pass)}"
    before = [[t, "not collected" if t in missing else "failed"] for t in verdict.fail_to_pass]
    if before:
        table(counts, ["test", "before"], before)
    elif verdict.runs:
        say(counts)


def _run_row(run: Run, rates: Mapping[str, float]) -> list[object]:
    rate = rates.get(f"{run.phase} {run.attempt}")
    return [
        run.phase,
        run.attempt,
        run.variant,
        len(run.results),
        sum(result.status == "passed" for result in run.results.values()),
        "" if rate is None else f"{rate:.1%}",
        run.outcome.exit_code,
        round(run.outcome.duration_s, 1),
        run.flaw or "",
    ]


def _tell_doubtful(verdict: Verdict) -> None:
    """What each run said of the tests that the flaw is about, or that vary."""
    rates = dict(verdict.flake_rates)
    tests = _doubtful(verdict)
    if not tests:
        return
    runs = [run for run in verdict.runs if not run.variant]
    table(
        "Broken, flaky or never fixed",
        ["test", "odd", *map(_name, runs), "last message"],
        [
            [test, f"{rates.get(test, 0):.0%}", *(_status(run, test) for run in runs),
             _message(runs, test)]
            for test in tests[:TOLD_TESTS]
        ],
    )  # fmt: skip
    if len(tests) > TOLD_TESTS:
        say(f"… and {len(tests) - TOLD_TESTS} more; --json has all")


def _doubtful(verdict: Verdict) -> tuple[str, ...]:
    """Tests whose statuses a maintainer must see: the flaw's own, then what varies."""
    never = verdict.fail_to_fail if verdict.flaw is Flaw.NO_FAIL_TO_PASS else ()
    varying = (test for test, _ in verdict.flake_rates)
    return tuple(dict.fromkeys((*verdict.pass_to_fail, *verdict.flaky, *never, *varying)))


def _status(run: Run, test: str) -> str:
    """ "error in setup", "failed", "not_collected" …"""
    result = run.results.get(test)
    if result is None:
        return "not_collected"
    return f"{result.status} in {result.phase}" if result.status == "error" else result.status


def _message(runs: Sequence[Run], test: str) -> str:
    found: list[TestResult] = [run.results[test] for run in runs if test in run.results]
    return next((result.message for result in reversed(found) if result.message), "")


def _name(run: Run) -> str:
    return run.variant or f"{run.phase} {run.attempt}"


def _tail(output: bytes) -> str:
    return output[-TAIL_CHARS:].decode("utf-8", "replace").strip()


def tell_logs(found: Evidence) -> None:
    """All logs of the newest examination: of the builds that failed, then of the runs."""
    for stored in found.examinations[:1]:
        for attempt in sorted(stored.examination.attempts, key=lambda each: each.started_at):
            if attempt.failure is not None:
                recipe, failure = attempt.recipe, attempt.failure
                how = f"{recipe.origin} recipe on Python {recipe.python}"
                say(f"--- build of the {how}: {failure.step}: {attempt.reason}")
                say(failure.outcome.output.decode("utf-8", "replace"))
        for run in stored.examination.verdict.runs:
            say(f"--- {run.phase} {run.attempt} {run.variant}".rstrip())
            say(run.outcome.output.decode("utf-8", "replace"))
