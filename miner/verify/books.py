"""The books of one pass: what came of each candidate, told at once and reported at the end."""

from collections import Counter
from datetime import datetime

from miner.model import Candidate, Examined, Stage, StageReport
from miner.progress import Progress
from miner.verify.judgement import outcome

FAILURES_IN_A_ROW = 3
"""After so many failures of the machinery without one result between them the pass is given up."""


class Books:
    """Counts by outcome, and whether going on makes sense."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._counts: Counter[str] = Counter()
        self._failed: set[str] = set()  # instance ids that stay due, as the machinery failed
        self._row = 0  # failures of the machinery without a result between them
        self._last_error: str | None = None
        self.given_up: str | None = None  # why nothing more is begun

    def kept(self, examined: Examined) -> None:
        """A result was stored, whatever failed before it."""
        self._failed.discard(examined.candidate.instance_id)
        rejected = examined.rejection
        self._counts["accepted" if rejected is None else rejected.gate] += 1
        self._row = 0
        self._tell(examined.candidate, outcome(examined))

    def lease_lost(self, candidate: Candidate) -> None:
        """A result came too late to be stored."""
        self._failed.discard(candidate.instance_id)
        self._counts["lease_lost"] += 1
        self._row = 0
        self._tell(candidate, "the lease was lost; another worker has it")

    def stays_due(self, candidate: Candidate, error: str) -> None:
        """It could not be verified, which says nothing of the others."""
        self._failed.add(candidate.instance_id)
        self._last_error = error
        self._progress.tell(Stage.VERIFY, f"{candidate.instance_id}: stays due: {error}")

    def machinery_failed(self, candidate: Candidate, error: str) -> None:
        """It could not be verified, and the next candidates may fare no better."""
        self.stays_due(candidate, error)
        self._row += 1
        if self._row >= FAILURES_IN_A_ROW:
            self.given_up = error

    def report(self, *, started_at: datetime, ended_at: datetime) -> StageReport:
        """All of it, in candidates: one that failed twice is one to try again."""
        counts = self._counts + Counter(machinery_failed=len(self._failed))
        retried = counts["machinery_failed"] + counts["lease_lost"]
        return StageReport(
            stage=Stage.VERIFY,
            done=counts["accepted"],
            rejected=counts.total() - counts["accepted"] - retried,
            retried=retried,
            counts=dict(sorted(counts.items())),
            started_at=started_at,
            ended_at=ended_at,
        )

    def trouble(self, report: StageReport) -> str | None:
        """Why the pass is not complete: it was given up, or nothing could be done."""
        useless = report.done + report.rejected == 0
        return self.given_up or (self._last_error if useless else None)

    def _tell(self, candidate: Candidate, note: str) -> None:
        self._progress.advance(Stage.VERIFY, f"{candidate.instance_id}: {note}")
