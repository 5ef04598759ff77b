"""All instances of the demo, repeated to twenty, from nothing: environments and runs, on two cores.

    make setup && miner demo
    python -m benchmarks.demo_twenty [--data-dir DIR] [--instances N] [--repeated-to N]

The finished demo's mirrors and export are used, as by `benchmarks.verification`. Each is built from
its lock and verified (policy quick: two runs before, two after, one base), with two workers.
Nothing is warm: environments and package caches are those of repositories of another name, and both
are removed at the end.

Compared to half of: the bare `uv pip install` of lock and project, once for each environment that
the tool makes (instances with the same environment key share one), each with an empty cache, in a
container, its start and end included; and the bare commands of all the runs, by exec in a running
container. These are measured afterwards, one at a time.

The last line is JSON: figure → value, goal, ok.
"""

import argparse
import json
import os
import threading
import uuid
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial

from benchmarks.environment_times import BuildBench
from benchmarks.verification import RUNS, Subject, bare, in_a_row, load, parser, told, verified
from validators.certificates import system_certificates
from validators.engine import ContainerEngine
from validators.engines import connect
from validators.model import BuildSettings, Environment

WORKERS = 2
GOAL = 1.5


@dataclass(slots=True)
class Cold:
    """Makes and verifies instances in repositories that nobody has heard of."""

    settings: BuildSettings
    run: str = field(default_factory=lambda: f"bench-{uuid.uuid4().hex[:8]}")
    made: dict[str, tuple[Subject, Environment]] = field(default_factory=dict)
    builds: int = 0
    _noting: threading.Lock = field(default_factory=threading.Lock)

    def __call__(
        self, subject: Subject, engine: ContainerEngine, turn: AbstractContextManager[object]
    ) -> None:
        """One instance, from its lock to its verdict."""
        bench = self.bench(subject, engine)
        name = f"{self.run}-{subject.task.repo.rpartition('/')[2]}"  # as its cache is found again
        built = bench.build(subject.environment.recipe, name)
        with self._noting:
            self.builds += not built.reused
            self.made.setdefault(built.key, (subject, built))
        verified(replace(subject, environment=built), engine, turn)

    def bench(self, subject: Subject, engine: ContainerEngine) -> BuildBench:
        """What builds an instance, with us or bare."""
        tree, base = subject.task.tree, subject.environment.base_image
        return BuildBench(engine, self.settings, tree, base, run=self.run)


def main(arguments: argparse.Namespace) -> None:
    """Print what all of it took, and the ratio."""
    engine = connect()
    try:
        subjects = load(arguments, engine)
        cold = Cold(BuildSettings(ca_bundle=system_certificates()))
        twenty = [subjects[n % len(subjects)] for n in range(arguments.repeated_to)]
        load_before = os.getloadavg()[0]
        taken_s = in_a_row(cold, twenty, engine, at_once=WORKERS)
        load_after = os.getloadavg()[0]
        installs_s = _installs(cold, engine)
        runs_s = _runs(subjects, twenty, engine)
        load_at_end = os.getloadavg()[0]
    finally:
        engine.close()
    print(f"{len(twenty)} of {len(subjects)} instances, {len(cold.made)} environments")
    print(f"  {WORKERS} workers     {taken_s:6.1f} s, {cold.builds} builds")
    print(f"  bare installs {installs_s:6.1f} s, bare runs {runs_s:6.1f} s ({RUNS} an instance)")
    print(f"  load {load_before:.1f}, {load_after:.1f} after, {load_at_end:.1f} at the end")
    ratio = taken_s / ((installs_s + runs_s) / WORKERS)
    print(json.dumps({"demo_twenty": told(ratio, GOAL)}))


def _installs(cold: Cold, engine: ContainerEngine) -> float:
    """Seconds of the bare install of every environment that was made; they are taken away."""
    spent = 0.0
    for subject, built in cold.made.values():
        bench = cold.bench(subject, engine)
        spent += bench.seconds(partial(bench.install, built.recipe))
        engine.remove_image(built.image)
        bench.clean()
    return spent


def _runs(subjects: Sequence[Subject], twenty: Sequence[Subject], engine: ContainerEngine) -> float:
    """Seconds of the bare commands of all runs."""
    spent = 0.0
    for subject in subjects:
        _, warm = bare(subject, engine)
        spent += warm.runs_s * sum(other is subject for other in twenty)
    return spent


if __name__ == "__main__":
    main(parser().parse_args())
