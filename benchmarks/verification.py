"""What verification and grading cost beyond the tests themselves.

    python -m benchmarks.verification DATA_DIR EXPORT.jsonl

DATA_DIR is a finished `miner demo`'s (its mirrors are used), EXPORT.jsonl what it exported.
Environments must be there already, or are built first, untimed.

Bare time: the recipe's own test command, nothing of ours, by exec in a running container of the
same image whose tree, patches and bytecode are in place. Compared are the runs that verification
makes (policy quick: two before, two after, one base), one graded gold patch, and all instances
repeated to twenty, with one and with two workers.
"""

import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from miner.git import Mirrors
from miner.publish.formats import jsonl
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
    Phase,
    Task,
)
from validators.run import make_ready
from validators.selection import selected
from validators.trial import Trial
from validators.verification import verify

REPEATED_TO = 20


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
            tree=self.task.tree,
            patch=self.task.patch,
            test_patch=self.task.test_patch,
            merged_at=self.task.tree.committed_at,
        )


def main(data_dir: Path, export: Path) -> None:
    """Print the ratios."""
    engine = connect()
    try:
        subjects = load(data_dir, export, engine)
        bare = {s.task.instance_id: bare_s(s, engine) for s in subjects}
        runs_s = sum(
            before * QUICK.repeats + after * (QUICK.repeats + 1) for before, after in bare.values()
        )
        verify_s = sum(timed(verified, s, engine) for s in subjects)
        after_s = sum(after for _, after in bare.values())
        grade_s = sum(timed(graded, s, engine) for s in subjects)
        twenty = [subjects[n % len(subjects)] for n in range(REPEATED_TO)]
        one_s = work(twenty, engine, workers=1)
        two_s = work(twenty, engine, workers=2)
        empty_s = overhead_s(subjects[0], engine)
    finally:
        engine.close()
    print(f"{len(subjects)} instances, {engine.name}")
    print(f"  verification  {verify_s:6.1f} s, bare {runs_s:6.1f} s: {verify_s / runs_s:.2f} ×")
    print(f"  grading       {grade_s:6.1f} s, bare {after_s:6.1f} s: {grade_s / after_s:.2f} ×")
    print(f"  {REPEATED_TO} with 1, 2 workers  {one_s:.1f} s, {two_s:.1f} s: {two_s / one_s:.2f} ×")
    print(f"  container, tree and patches  {empty_s:.2f} s a run")


def load(data_dir: Path, export: Path, engine: ContainerEngine) -> Sequence[Subject]:
    """All instances of the export, their environments built where they are missing."""
    mirrors = Mirrors(data_dir / "mirrors")
    found = []
    for row in jsonl.read(export):
        task = GradingTask(
            instance_id=row.instance_id,
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
            engine=engine,
            settings=BuildSettings(),
            progress=lambda _: None,
        )
        if isinstance(built, BuildFailure):
            raise SystemExit(f"{row.instance_id}: {built.step}: {built.detail}")
        selection = selected(task.test_patch, built.recipe)
        found.append(Subject(task=task, environment=built, selection=selection))
    return found


def bare_s(subject: Subject, engine: ContainerEngine) -> tuple[float, float]:
    """Seconds of the bare command before and after the fix, the second of two calls each."""
    task = subject.task
    times = []
    for patches in ((task.test_patch,), (task.test_patch, task.patch)):
        trial = Trial(phase=Phase.AFTER, patches=patches)
        ready = make_ready(
            task.tree, subject.environment, trial, selection=subject.selection, engine=engine
        )
        try:
            call = ready.call
            line = call.line.replace(" -p miner_reporter", " --continue-on-collection-errors")
            line = line.replace(f"{LIBRARY}/miner_reporter.py watch ", "")
            env = {name: value.replace(LIBRARY, "") for name, value in call.env.items()}
            command = ("/bin/bash", "-c", line, "bare", *call.selection)
            spent = 0.0
            for _ in range(2):
                began = time.perf_counter()
                ready.container.exec(command, timeout_s=600, env=env, workdir=TREE, stdin=b"")
                spent = time.perf_counter() - began
            times.append(spent)
        finally:
            ready.leave()
    return times[0], times[1]


def overhead_s(subject: Subject, engine: ContainerEngine) -> float:
    """Seconds to start a container and bring it to where its tests can run, and to remove it."""
    trial = Trial(phase=Phase.AFTER, patches=(subject.task.test_patch, subject.task.patch))
    began = time.perf_counter()
    make_ready(subject.task.tree, subject.environment, trial, selection=(), engine=engine).leave()
    return time.perf_counter() - began


def verified(subject: Subject, engine: ContainerEngine) -> None:
    """One verification, quick."""
    verdict = verify(
        subject.candidate,
        subject.environment,
        test_files=subject.selection,
        engine=engine,
        policy=QUICK,
        progress=lambda _: None,
    )
    if not verdict.accepted:
        raise SystemExit(f"{subject.task.instance_id}: {verdict.flaw}: {verdict.detail}")


def graded(subject: Subject, engine: ContainerEngine) -> None:
    """One graded gold patch."""
    found = grade(
        subject.task,
        subject.environment,
        model_patch=subject.task.patch,
        engine=engine,
        progress=lambda _: None,
    )
    if not found.resolved:
        raise SystemExit(f"{subject.task.instance_id}: gold is not resolved: {found.detail}")


def timed(
    what: Callable[[Subject, ContainerEngine], None], subject: Subject, engine: ContainerEngine
) -> float:
    """Seconds of one call."""
    began = time.perf_counter()
    what(subject, engine)
    return time.perf_counter() - began


def work(subjects: Sequence[Subject], engine: ContainerEngine, *, workers: int) -> float:
    """Seconds to verify them all."""
    began = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(verified, subject, engine) for subject in subjects]:
            done.result()
    return time.perf_counter() - began


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
