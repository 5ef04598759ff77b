"""Is this candidate an instance? Repeated runs before and after the fix → Verdict.

The order is before, after, before, after …, so that the first pair already shows whether there can
be anything; then base, once, as a signal; then the probes. Every run has a fresh container.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from math import inf
from time import monotonic

from validators import grading
from validators.engine import ContainerEngine, Progress
from validators.flakiness import flake_rates, flake_rates_by_run
from validators.model import (
    Environment,
    Flaw,
    Phase,
    Policy,
    Run,
    Task,
    TestStatus,
    Verdict,
)
from validators.patching import touched_paths
from validators.probes import NOT_PROBED, applied, probes_of
from validators.procession import runs_of
from validators.run import summary
from validators.selection import runnable
from validators.testimony import PROCESS_DIED
from validators.trial import Trial

DIED_COLLECTING = "died_collecting_before"
"""What a mark begins with: so many before-runs died before they had collected any test."""

ONLY_OF_FIX = "only the fix brings it"
"""Why such a test is in neither list."""

_EVIDENCE = 5
"""So many collection errors are told in a verdict's detail."""


def verify(  # noqa: PLR0913 - all but the task say with what
    task: Task,
    environment: Environment,
    *,
    test_files: Sequence[str],
    engine: ContainerEngine,
    policy: Policy,
    progress: Progress,
    turn: AbstractContextManager[object] | None = None,
) -> Verdict:
    """Run the tests before and after the fix, as often as the policy says.

    `turn` is held while tests run: another task can be built and made ready meanwhile.
    Stops as soon as the answer can no longer be "accepted". Raises EngineUnavailableError when the
    machinery failed: then nothing was decided.
    """
    selection = () if policy.whole_suite else runnable(test_files, task.test_patch)
    required, probes = _required(task, policy), probes_of(task) if policy.probes else ()
    trials = (*required, Trial(phase=Phase.BASE), *probes)
    runs: list[Run] = []
    probing_until = inf
    with closing(
        runs_of(task.tree, environment, trials, selection=selection, engine=engine, turn=turn)
    ) as procession:
        for run in procession:
            runs.append(run)
            progress(f"{task.instance_id}: {len(runs)}/{len(trials)} {_name(run)}: {summary(run)}")
            if is_decided(runs, policy=policy):
                break
            if len(runs) == len(required):
                probing_until = monotonic() + policy.probes_s
            elif monotonic() > probing_until:
                break
    verdict = without_own_tests(conclude(runs[: len(required)], policy=policy), task)
    verdict = replace(verdict, runs=tuple(runs[: len(required) + 1]))
    if not verdict.accepted or not probes:
        return verdict
    verdict = applied(verdict, runs[len(required) + 1 :])
    left = len(trials) - len(runs)
    mark = (f"{NOT_PROBED}: {left} of {len(probes)}",) if left else ()
    return replace(verdict, marks=(*verdict.marks, *mark))


def is_decided(runs: Sequence[Run], *, policy: Policy) -> bool:
    """No further run can change the answer: it can no longer be "accepted". Pure.

    `runs` are all so far, in the order of verification. Those after the last repeat (base and
    probes) take an acceptance never back, whatever they say.
    """
    required = 2 * policy.repeats
    if len(runs) > required:
        return False
    if len(runs) == required:
        return not conclude(runs, policy=policy).accepted
    return any(run.flaw is not None for run in runs) or not grading.can_still_be_accepted(
        [run.results for run in runs if run.phase is Phase.BEFORE],
        [run.results for run in runs if run.phase is Phase.AFTER],
    )


def conclude(runs: Sequence[Run], *, policy: Policy) -> Verdict:
    """The verdict of runs as they are; pure. Runs of other phases than before and after add none.

    Runs that stopped early make no instance: there is a flaw, or no FAIL_TO_PASS test is left.
    """
    for run in runs:
        if run.flaw is not None:
            detail = f"{run.phase} {run.attempt}: {run.detail}"
            return Verdict(flaw=run.flaw, detail=detail, policy=policy.name, runs=tuple(runs))
    before = [run.results for run in runs if run.phase is Phase.BEFORE]
    after = [run.results for run in runs if run.phase is Phase.AFTER]
    found = grading.transitions(before, after)
    flaw = grading.flaw_of(found)
    return Verdict(
        fail_to_pass=found.fail_to_pass,
        pass_to_pass=found.pass_to_pass,
        fail_to_fail=found.fail_to_fail,
        pass_to_fail=found.pass_to_fail,
        flaky=found.flaky,
        missing_before=found.missing_before,
        left_out=found.left_out,
        marks=(*grading.marks_of(found), *_died_collecting(runs)) if flaw is None else (),
        flake_rates=flake_rates(runs),
        run_flake_rates=flake_rates_by_run(runs),
        flaw=flaw,
        detail=_detail(flaw, found, runs),
        policy=policy.name,
        runs=tuple(runs),
    )


def without_own_tests(verdict: Verdict, task: Task) -> Verdict:
    """A verdict without the FAIL_TO_PASS tests that the fix itself brings, such as the example in a
    docstring: no other answer to the issue has them. Pure; their ids begin with a file's path."""
    own = {*touched_paths(task.patch)} - {*touched_paths(task.test_patch)}
    brought = {each for each in verdict.missing_before if each.partition("::")[0] in own}
    if not brought:
        return verdict
    left = tuple(each for each in verdict.fail_to_pass if each not in brought)
    none_left = verdict.accepted and not left
    return replace(
        verdict,
        fail_to_pass=left,
        missing_before=tuple(each for each in verdict.missing_before if each not in brought),
        left_out=tuple(sorted((*verdict.left_out, *((each, ONLY_OF_FIX) for each in brought)))),
        marks=() if none_left else verdict.marks,
        flaw=Flaw.NO_FAIL_TO_PASS if none_left else verdict.flaw,
        detail=f"{ONLY_OF_FIX}: {', '.join(sorted(brought)[:10])}" if none_left else verdict.detail,
    )


def _required(task: Task, policy: Policy) -> tuple[Trial, ...]:
    """The runs that the answer needs: before, after, before, after …"""
    return tuple(
        Trial(phase=phase, attempt=attempt, patches=patches)
        for attempt in range(1, policy.repeats + 1)
        for phase, patches in (
            (Phase.BEFORE, (task.test_patch,)),
            (Phase.AFTER, (task.test_patch, task.patch)),
        )
    )


def _name(run: Run) -> str:
    return run.variant or f"{run.phase} {run.attempt}"


def _died_collecting(runs: Sequence[Run]) -> tuple[str, ...]:
    """A crash at import counts as "not collected", as a failing import does; people should know."""
    before = [run for run in runs if run.phase is Phase.BEFORE]
    died = [run for run in before if not run.results and run.detail.startswith(PROCESS_DIED)]
    return (f"{DIED_COLLECTING}: {len(died)} of {len(before)}",) if died else ()


def _detail(flaw: Flaw | None, found: grading.Transitions, runs: Sequence[Run]) -> str:
    """The evidence that a maintainer, or a repair of the recipe, needs to see."""
    match flaw:
        case None:
            return ""
        case Flaw.PASS_TO_FAIL:
            return f"fail after the fix, passed before: {', '.join(found.pass_to_fail[:10])}"
        case Flaw.FLAKY:
            return f"passed only in some after-runs: {', '.join(found.flaky_fixes[:10])}"
        case _:
            lines = [f"{len(found.pass_to_pass)} pass in both states"]
            lines += [f"{len(found.fail_to_fail)} fail in both"] if found.fail_to_fail else []
            lines += _collection_errors(runs) or _failures(found, runs)
            return "; ".join(lines)


def _collection_errors(runs: Sequence[Run]) -> list[str]:
    after = [run for run in runs if run.phase is Phase.AFTER][-1:]
    errors = [
        f"not collected after: {identifier}: {_last_line(result.message)}"
        for run in after
        for identifier, result in run.results.items()
        if result.phase == "collect" and result.status is TestStatus.ERROR
    ]
    return errors[:_EVIDENCE]


def _last_line(message: str) -> str:
    """Where a traceback names its error; what stands above it is in the run's log."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return lines[-1].removeprefix("E ").strip() if lines else ""


def _failures(found: grading.Transitions, runs: Sequence[Run]) -> list[str]:
    """Messages of tests that fail after the fix too: a missing module shows here."""
    after = [run for run in runs if run.phase is Phase.AFTER][-1:]
    return [
        f"{identifier}: {run.results[identifier].message}"
        for run in after
        for identifier in found.fail_to_fail[:_EVIDENCE]
        if identifier in run.results
    ]
