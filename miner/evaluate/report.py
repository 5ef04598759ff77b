"""Evaluations → resolved rates, by model and by month, with intervals. Pure."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from miner.model import Evaluation, EvaluationState

_K = TypeVar("_K")

Z_95 = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """`resolved` of `total`; infrastructure errors are in neither. Interval: Wilson, 95 %."""

    resolved: int
    total: int
    infrastructure: int = 0
    flagged: int = 0  # of the resolved: touch runner internals

    @property
    def share(self) -> float | None:
        """0–1, or None when nothing was graded."""
        return self.resolved / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the true share lies with 95 % confidence."""
        return wilson(self.resolved, self.total) if self.total else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReport:
    """One model in one run on one dataset."""

    model_name_or_path: str
    run_id: str
    overall: Rate
    by_month: tuple[tuple[str, Rate], ...]  # ("2024-05", …), of merged_at, oldest first


def wilson(resolved: int, total: int) -> tuple[float, float]:
    """The Wilson score interval: sound for few instances and for shares near 0 and 1."""
    share, square = resolved / total, Z_95**2
    centre = (share + square / (2 * total)) / (1 + square / total)
    spread = share * (1 - share) / total + square / (4 * total**2)
    half = Z_95 * math.sqrt(spread) / (1 + square / total)
    return max(0.0, centre - half), min(1.0, centre + half)


def report(
    evaluations: Sequence[Evaluation], *, merged_at: Mapping[str, datetime]
) -> tuple[ModelReport, ...]:
    """One entry per model and run, best share first. `merged_at`: by instance id."""
    groups = _grouped(evaluations, lambda e: (e.model_name_or_path, e.run_id))
    reports = [
        ModelReport(
            model_name_or_path=model,
            run_id=run_id,
            overall=rate(group),
            by_month=tuple(
                (month, rate(part))
                for month, part in sorted(
                    _grouped(group, lambda e: f"{merged_at[e.instance_id]:%Y-%m}").items()
                )
            ),
        )
        for (model, run_id), group in groups.items()
    ]
    return tuple(
        sorted(reports, key=lambda r: (-(r.overall.share or 0), r.model_name_or_path, r.run_id))
    )


def rate(evaluations: Sequence[Evaluation]) -> Rate:
    """Counts of a group."""
    states = [evaluation.state for evaluation in evaluations]
    broken = states.count(EvaluationState.INFRASTRUCTURE)
    return Rate(
        resolved=states.count(EvaluationState.RESOLVED),
        total=len(states) - broken,
        infrastructure=broken,
        flagged=sum(
            evaluation.state is EvaluationState.RESOLVED
            and evaluation.grade is not None
            and bool(evaluation.grade.flags)
            for evaluation in evaluations
        ),
    )


def _grouped(
    evaluations: Sequence[Evaluation], key: Callable[[Evaluation], _K]
) -> dict[_K, list[Evaluation]]:
    groups: dict[_K, list[Evaluation]] = {}
    for evaluation in evaluations:
        groups.setdefault(key(evaluation), []).append(evaluation)
    return groups
