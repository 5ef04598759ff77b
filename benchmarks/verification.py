"""What verification and grading cost beyond the tests themselves.

    make setup && miner demo
    python -m benchmarks.verification [--data-dir DIR] [--instances N] [--repeated-to N]

The finished demo's mirrors and export are used; DIR is its folder, `.miner/demo` unless told
otherwise. Environments must be there already, or are built first, untimed. With all
instances it takes about ten minutes on two idle cores. `--instances`
takes a few, evenly spread, where there is less time, and `--repeated-to` fewer verifications.

Bare time: the recipe's own build and test commands, nothing of ours, by exec in a running container
of the same image whose tree and patches are in place. The first call compiles what it imports, as
each run in a fresh tree has to; the second, whose bytecode is there, is told as well ("warm").
Compared are the runs that verification makes (policy quick: two before, two after, one base) and
one graded gold patch: each alone, directly after its bare commands, and all in a row as
`miner verify` and `miner evaluate` do it with one worker, where another is made ready while the
tests of one run. Last all instances repeated to twenty, verified with one and with two workers.

The last line is JSON: figure → value, goal, ok.
"""

import argparse
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from miner.git import Mirrors
from miner.publish.formats import jsonl
from validators.certificates import system_certificates
from validators.engine import TREE, ContainerEngine
from validators.engines import connect
from validators.environment import build_environment
from validators.evaluation import grade
from validators.invocation import LIBRARY
from validators.model import (
    QUICK,
    BuildFailure,
    BuildSettings,
    Environment,
    GradingTask,
    Maker,
    Phase,
    Task,
)
from validators.run import build, make_ready
from validators.selection import selected
from validators.trial import Trial
from validators.verification import verify

REPEATED_TO = 20


RUNS = QUICK.repeats * 2 + 1
"""A verification's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bare:
    """Seconds of the bare commands before and after the fix."""

    before_s: float
    after_s: float

    @property
    def runs_s(self) -> float:
        """Of all runs of a verification; base counts as after."""
        return self.before_s * QUICK.repeats + self.after_s * (QUICK.repeats + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """One instance: first calls of the bare commands, second ones, and what is compared."""

    first: Bare
    warm: Bare
    verify_s: float
    grade_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One instance, with everything warm."""

    task: GradingTask
    environment: Environment
    selection: tuple[str, ...]

    @property
    def candidate(self) -> Task:
        """The same, as verification takes it."""
        return Task(
            instance_id=self.task.instance_id,
            repo=self.task.repo,
            tree=self.task.tree,
            patch=self.task.patch,
            test_patch=self.task.test_patch,
            merged_at=self.task.tree.committed_at,
        )


def main(arguments: argparse.Namespace) -> None:
    """Print the ratios, and how busy the machine was with other things."""
    engine = connect()
    try:
        subjects = load(arguments, engine)
        print(f"{len(subjects)} instances, {engine.name}, load before {os.getloadavg()[0]:.1f}")
        costs = [cost(subject, engine) for subject in subjects]
        runs_s, after_s = summed(c.first for c in costs)
        warm_runs_s, warm_after_s = summed(c.warm for c in costs)
        verify_s, grade_s = sum(c.verify_s for c in costs), sum(c.grade_s for c in costs)
        verified_row_s = in_a_row(verified, subjects, engine, at_once=1)
        graded_row_s = in_a_row(graded, subjects, engine, at_once=1)
        empty_s = overhead_s(subjects[0], engine)
        overhead_a_run_s = (verify_s - runs_s) / (len(subjects) * RUNS)
        twenty = [subjects[n % len(subjects)] for n in range(arguments.repeated_to)]
        one_s = in_a_row(verified, twenty, engine, at_once=1)
        two_s = in_a_row(verified, twenty, engine, at_once=2)
    finally:
        engine.close()
    print(
        f"  verification  {verified_row_s:6.1f} s, alone {verify_s:6.1f} s, "
        f"bare {runs_s:6.1f} s, warm {warm_runs_s:6.1f} s"
    )
    print(
        f"  grading       {graded_row_s:6.1f} s, alone {grade_s:6.1f} s, "
        f"bare {after_s:6.1f} s, warm {warm_after_s:6.1f} s"
    )
    print(f"  beyond the tests  {overhead_a_run_s:.2f} s a run; ready and removed {empty_s:.2f} s")
    print(f"  {len(twenty)} with 1, 2 workers  {one_s:.1f} s, {two_s:.1f} s")
    print(f"  load after {os.getloadavg()[0]:.1f}")
    figures = {
        "verification": (verified_row_s / runs_s, 1.15),
        "verification_alone": (verify_s / runs_s, None),
        "verification_to_warm": (verified_row_s / warm_runs_s, None),
        "grading": (graded_row_s / after_s, 1.25),
        "grading_alone": (grade_s / after_s, None),
        "grading_to_warm": (graded_row_s / warm_after_s, None),
        "two_workers": (two_s / one_s, 0.6),
        "container_s": (empty_s, None),
    }
    print(json.dumps({name: told(*figure) for name, figure in figures.items()}))


def summed(calls: Iterable[Bare]) -> tuple[float, float]:
    """Seconds of all runs of the verifications, and of all after-runs once."""
    runs_s, after_s = zip(*((each.runs_s, each.after_s) for each in calls), strict=True)
    return sum(runs_s), sum(after_s)


def told(value: float, goal: float | None) -> dict[str, object]:
    """A figure as the last line has it; without a goal it is ok."""
    return {"value": round(value, 2), "goal": goal, "ok": goal is None or value <= goal}


def cost(subject: Subject, engine: ContainerEngine) -> Cost:
    """One instance, bare and not, one directly after the other."""
    first, warm = bare(subject, engine)
    verify_s, grade_s = timed(verified, subject, engine), timed(graded, subject, engine)
    print(
        f"  {subject.task.instance_id}: bare {first.before_s:.2f} and {first.after_s:.2f} s, "
        f"warm {warm.before_s:.2f} and {warm.after_s:.2f} s, verified {verify_s:.2f} s for "
        f"{first.runs_s:.2f} s, graded {grade_s:.2f} s, load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    return Cost(first=first, warm=warm, verify_s=verify_s, grade_s=grade_s)


def load(arguments: argparse.Namespace, engine: ContainerEngine) -> Sequence[Subject]:
    """Instances of the export, their environments built where they are missing."""
    data_dir: Path = arguments.data_dir
    export = arguments.export or next(iter(sorted(data_dir.glob("*-*-*.jsonl"))), None)
    if export is None:
        raise SystemExit(f"{data_dir} holds no export: run `miner demo` first.")
    mirrors = Mirrors(data_dir / "mirrors")
    found = []
    rows = list(jsonl.read(export))
    count = min(arguments.instances, len(rows))
    for row in (rows[n * len(rows) // count] for n in range(count)):
        task = GradingTask(
            instance_id=row.instance_id,
            repo=row.repo,
            tree=mirrors.open(row.repo).tree(row.base_commit),
            patch=row.patch_bytes,
            test_patch=row.test_patch_bytes,
            fail_to_pass=row.FAIL_TO_PASS,
            pass_to_pass=row.PASS_TO_PASS,
            recipe=row.install_config,
        )
        built = build_environment(
            task.tree,
            task.recipe,
            patches=(),
            repository=task.repo,
            maker=Maker.GRADER,
            engine=engine,
            settings=BuildSettings(ca_bundle=system_certificates()),
            progress=lambda _: None,
        )
        if isinstance(built, BuildFailure):
            raise SystemExit(f"{row.instance_id}: {built.step}: {built.detail}")
        selection = selected(task.test_patch, built.recipe)
        found.append(Subject(task=task, environment=built, selection=selection))
    return found


def bare(subject: Subject, engine: ContainerEngine) -> tuple[Bare, Bare]:
    """The bare commands called in a fresh tree, and called again there."""
    task = subject.task
    (first_before, second_before), (first_after, second_after) = (
        calls_s(subject, Trial(phase=Phase.AFTER, patches=patches), engine)
        for patches in ((task.test_patch,), (task.test_patch, task.patch))
    )
    return (
        Bare(before_s=first_before, after_s=first_after),
        Bare(before_s=second_before, after_s=second_after),
    )


def calls_s(subject: Subject, trial: Trial, engine: ContainerEngine) -> tuple[float, float]:
    """Seconds of two calls of the tests, and of the recipe's build where it has one, with each."""
    recipe = subject.environment.recipe
    ready = make_ready(
        subject.task.tree, subject.environment, trial, selection=subject.selection, engine=engine
    )
    try:
        call = ready.call
        line = call.line.replace(" -p miner_reporter", " --continue-on-collection-errors")
        line = line.replace(f"{LIBRARY}/miner_reporter.py watch ", "")
        env = {name: value.replace(LIBRARY, "") for name, value in call.env.items()}
        command = ("/bin/bash", "-c", line, "bare", *call.selection)
        tests = []
        for _ in range(2):
            began = time.perf_counter()
            ready.container.exec(command, timeout_s=600, env=env, workdir=TREE, stdin=b"")
            tests.append(time.perf_counter() - began)
        began = time.perf_counter()
        if recipe.build_cmd is not None:
            build(ready.container, recipe, call)
        build_s = time.perf_counter() - began
        return tests[0] + build_s, tests[1] + build_s
    finally:
        ready.leave()


def overhead_s(subject: Subject, engine: ContainerEngine) -> float:
    """Seconds to start a container and bring it to where its tests can run, and to remove it."""
    trial = Trial(phase=Phase.AFTER, patches=(subject.task.test_patch, subject.task.patch))

    def ready(subject: Subject, engine: ContainerEngine) -> None:
        tree, environment = subject.task.tree, subject.environment
        make_ready(tree, environment, trial, selection=(), engine=engine).leave()

    return timed(ready, subject, engine)


def verified(
    subject: Subject,
    engine: ContainerEngine,
    turn: AbstractContextManager[object] | None = None,
) -> None:
    """One verification, quick."""
    verdict = verify(
        subject.candidate,
        subject.environment,
        test_files=subject.selection,
        engine=engine,
        policy=QUICK,
        progress=lambda _: None,
        turn=turn,
    )
    if not verdict.accepted:
        raise SystemExit(f"{subject.task.instance_id}: {verdict.flaw}: {verdict.detail}")


def graded(
    subject: Subject,
    engine: ContainerEngine,
    turn: AbstractContextManager[object] | None = None,
) -> None:
    """One graded gold patch."""
    found = grade(
        subject.task,
        subject.environment,
        model_patch=subject.task.patch,
        engine=engine,
        progress=lambda _: None,
        turn=turn,
    )
    if not found.resolved:
        raise SystemExit(f"{subject.task.instance_id}: gold is not resolved: {found.detail}")


def in_a_row(
    what: Callable[[Subject, ContainerEngine, AbstractContextManager[object]], None],
    subjects: Sequence[Subject],
    engine: ContainerEngine,
    *,
    at_once: int,
) -> float:
    """Seconds for all of them, the tests of so many at a time, one more being made ready."""
    turn = threading.Semaphore(at_once)
    began = time.perf_counter()
    with ThreadPoolExecutor(at_once + 1) as pool:
        for done in [pool.submit(what, subject, engine, turn) for subject in subjects]:
            done.result()
        engine.sweep()
    return time.perf_counter() - began


def timed(
    what: Callable[[Subject, ContainerEngine], None], subject: Subject, engine: ContainerEngine
) -> float:
    """Seconds of one call, until its containers are gone."""
    began = time.perf_counter()
    what(subject, engine)
    engine.sweep()
    return time.perf_counter() - began


def parser() -> argparse.ArgumentParser:
    """The command line."""
    found = argparse.ArgumentParser(prog="python -m benchmarks.verification")
    found.add_argument("--data-dir", type=Path, default=Path(".miner/demo"))
    found.add_argument("--export", type=Path, help="default: the demo's")
    found.add_argument("--instances", type=int, default=100, help="at most so many")
    found.add_argument("--repeated-to", type=int, default=REPEATED_TO)
    return found


if __name__ == "__main__":
    main(parser().parse_args())
