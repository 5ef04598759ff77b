"""Rates: intervals, months, and a broken machine in neither count."""

from datetime import UTC, datetime

import pytest

from miner.evaluate.report import Rate, rate, report, wilson
from miner.model import Evaluation, EvaluationState
from tests.samples import NOON
from validators.model import Grade, Tally


def evaluation(
    instance_id: str, state: EvaluationState, *, model: str = "m", flags: tuple[str, ...] = ()
) -> Evaluation:
    none = Tally(passed=0, failed=0)
    grade = Grade(
        resolved=state is EvaluationState.RESOLVED, applied=True, fail_to_pass=none,
        pass_to_pass=none, flags=flags,
    )  # fmt: skip
    return Evaluation(
        dataset="d", run_id="r", instance_id=instance_id, model_name_or_path=model, patch_hash="",
        state=state, grade=grade, detail="", evaluated_at=NOON,
    )  # fmt: skip


YES, NO, BROKEN = (
    EvaluationState.RESOLVED, EvaluationState.UNRESOLVED, EvaluationState.INFRASTRUCTURE,
)  # fmt: skip


@pytest.mark.parametrize(
    ("resolved", "total", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (1, 1, 0.2065, 1.0)],
)
def test_wilson_interval(resolved: int, total: int, low: float, high: float) -> None:
    assert wilson(resolved, total) == pytest.approx((low, high), abs=1e-4)


def test_a_broken_machine_is_counted_apart() -> None:
    counted = rate([evaluation("a", YES), evaluation("b", NO), evaluation("c", BROKEN)])
    assert counted == Rate(resolved=1, total=2, infrastructure=1)
    assert counted.share == 0.5


def test_nothing_graded_is_no_share() -> None:
    assert rate([evaluation("a", BROKEN)]).share is None
    assert rate([]).interval is None


def test_flagged_resolutions_are_counted() -> None:
    assert rate([evaluation("a", YES, flags=("atexit",)), evaluation("b", YES)]).flagged == 1


def test_models_best_first_and_months_oldest_first() -> None:
    merged = {"a": datetime(2024, 6, 1, tzinfo=UTC), "b": datetime(2024, 5, 1, tzinfo=UTC)}
    reports = report(
        [evaluation("a", NO), evaluation("b", YES), evaluation("a", YES, model="best")],
        merged_at=merged,
    )
    assert [r.model_name_or_path for r in reports] == ["best", "m"]
    months = [(month, part.resolved) for month, part in reports[1].by_month]
    assert months == [("2024-05", 1), ("2024-06", 0)]
