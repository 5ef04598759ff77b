"""Assess: an instance → signals about how good a task it is."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from miner.assess.measure import Measure
from miner.model import Clock, DueInstance, Instance, Signal, Stage, StageReport
from miner.progress import Progress

BATCH = 100
"""Instances held in memory at a time."""


class Store(Protocol):
    """What assessing reads and leaves."""

    def due_instances(self, *, signal: str, version: int, limit: int) -> Sequence[DueInstance]:
        """Newest instances without that signal of that version (verdict runs not loaded)."""
        ...

    def save_signals(self, found: Sequence[tuple[DueInstance, Signal]]) -> None:
        """Append, to what was measured."""
        ...


def assess(
    store: Store, *, signals: Sequence[Measure], limit: int, now: Clock, progress: Progress
) -> StageReport:
    """Measure every due signal, `limit` instances a signal at the most. Saves batch by batch."""
    started_at, counts = now(), Counter[str]()
    progress.start("assess", total=None)
    try:
        for signal in signals:
            counts[signal.name] += _measure(store, signal, limit=limit, progress=progress)
    finally:
        progress.end("assess")
    return StageReport(
        stage=Stage.ASSESS,
        done=sum(counts.values()),
        counts=dict(counts),
        started_at=started_at,
        ended_at=now(),
    )


def _measure(store: Store, signal: Measure, *, limit: int, progress: Progress) -> int:
    done = 0
    while done < limit:
        due = store.due_instances(
            signal=signal.name, version=signal.version, limit=min(BATCH, limit - done)
        )
        if not due:
            break
        store.save_signals([(each, _signal(signal, each.instance)) for each in due])
        done += len(due)
        progress.advance("assess", f"{signal.name}: {done}", by=len(due))
    return done


def _signal(signal: Measure, instance: Instance) -> Signal:
    return Signal(
        instance_id=instance.candidate.instance_id,
        name=signal.name,
        value=json.dumps(signal.measure(instance), sort_keys=True),
        version=signal.version,
    )
