"""How much repeated runs of one phase differ: rates a test and a run, for people. Pure.

A status is odd in a run when it is not the test's most frequent one in that phase. With two runs
that differ neither is more right: both count as half odd.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from validators.model import Phase, Run, TestStatus


def flake_rates(runs: Sequence[Run]) -> tuple[tuple[str, float], ...]:
    """(test id, share of its runs with an odd status), of tests that varied, sorted by id.

    Only before- and after-runs count; of the two phases the higher rate is told (above 0, below 1).
    """
    found: dict[str, float] = {}
    for statuses in (_statuses(runs, phase) for phase in (Phase.BEFORE, Phase.AFTER)):
        for test, seen in statuses.items():
            odd = sum(_oddness(status, seen) for status in seen)
            if odd:
                found[test] = max(found.get(test, 0.0), round(odd / len(seen), 4))
    return tuple(sorted(found.items()))


def flake_rates_by_run(runs: Sequence[Run]) -> tuple[tuple[str, float], ...]:
    """("before 1", share of its tests with an odd status), of each before- and after-run."""
    found = []
    for phase in (Phase.BEFORE, Phase.AFTER):
        statuses = _statuses(runs, phase)
        repeats = [run for run in runs if run.phase is phase]
        for number, run in enumerate(repeats):
            odd = sum(_oddness(seen[number], seen) for seen in statuses.values())
            rate = round(odd / len(statuses), 4) if statuses else 0.0
            found.append((f"{phase} {run.attempt}", rate))
    return tuple(found)


def _statuses(runs: Sequence[Run], phase: Phase) -> Mapping[str, tuple[TestStatus, ...]]:
    """Test id → its status in each run of a phase that says something."""
    repeats = [run.results for run in runs if run.phase is phase]
    tests = {
        test for results in repeats for test, result in results.items() if result.phase != "collect"
    }
    missing = TestStatus.NOT_COLLECTED
    return {
        test: tuple(results[test].status if test in results else missing for results in repeats)
        for test in tests
    }


def _oddness(status: TestStatus, seen: Sequence[TestStatus]) -> float:
    """0: the most frequent status, 1: a rarer one; shared evenly between equally frequent ones."""
    counts = Counter(seen)
    most = max(counts.values())
    modes = [each for each, count in counts.items() if count == most]
    return 1 - 1 / len(modes) if status in modes else 1.0
