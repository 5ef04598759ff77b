"""How much repeated runs differ, told a test and a run."""

from datetime import UTC, datetime

from validators.flakiness import flake_rates, flake_rates_by_run
from validators.model import Outcome, Phase, Run, TestResult, TestStatus

P, F = TestStatus.PASSED, TestStatus.FAILED


def run(phase: Phase, attempt: int, **statuses: TestStatus) -> Run:
    return Run(
        phase=phase,
        attempt=attempt,
        results={name: TestResult(status=status) for name, status in statuses.items()},
        outcome=Outcome(exit_code=0, output=b""),
        image_digest="",
        started_at=datetime(2024, 1, 2, tzinfo=UTC),
    )


def test_the_rarer_status_is_odd_in_its_run() -> None:
    runs = [
        run(Phase.BEFORE, 1, a=F, b=P),
        run(Phase.AFTER, 1, a=P, b=P),
        run(Phase.AFTER, 2, a=F, b=P),
        run(Phase.AFTER, 3, a=P, b=P),
    ]
    assert flake_rates(runs) == (("a", 0.3333),)
    assert dict(flake_rates_by_run(runs)) == {
        "before 1": 0.0,
        "after 1": 0.0,
        "after 2": 0.5,
        "after 3": 0.0,
    }


def test_a_test_that_is_missing_once_varies() -> None:
    runs = [run(Phase.AFTER, 1, a=P), run(Phase.AFTER, 2)]
    assert flake_rates(runs) == (("a", 0.5),)


def test_states_and_probes_do_not_make_a_test_vary() -> None:
    runs = [run(Phase.BEFORE, 1, a=F), run(Phase.AFTER, 1, a=P), run(Phase.PROBE, 1, a=F)]
    assert flake_rates(runs) == ()
    assert flake_rates([]) == flake_rates_by_run([]) == ()
