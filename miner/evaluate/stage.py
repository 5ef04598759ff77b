"""Evaluate: predictions and a dataset → graded evaluations and % resolved."""

from collections.abc import Sequence
from typing import Protocol

from miner.model import Evaluation

GRADER_VERSION = 1
"""Counts up when grades may change: cached grades of older versions are not used."""


class Store(Protocol):
    """What evaluation reads and leaves."""

    def cached_evaluation(
        self, *, row_hash: str, patch_hash: str, grader_version: int
    ) -> Evaluation | None:
        """An earlier final grade of the same patch on the same instance row."""
        ...

    def save_evaluation(
        self, evaluation: Evaluation, *, row_hash: str, grader_version: int
    ) -> None:
        """Append, with the run's log."""
        ...

    def evaluations(self, *, dataset: str, run_id: str | None) -> Sequence[Evaluation]:
        """The newest evaluation per instance and model of a run, or (None) of every run."""
        ...
