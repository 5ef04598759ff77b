"""The books of one pass: what came of each candidate, told at once and reported at the end."""

from collections import Counter
from datetime import datetime

from miner.errors import FatalError, told
from miner.model import Candidate, Examined, Stage, StageReport
from miner.patience import Patience
from miner.progress import Progress
from miner.verify.judgement import outcome


class Books:
    """Counts by outcome, and what failed."""

    def __init__(self, progress: Progress, patience: Patience) -> None:
        self._progress = progress
        self._counts: Counter[str] = Counter()
        self._failed: set[str] = set()  # instance ids that stay due, as the machinery failed
        self._last_error: str | None = None
        self._patience = patience

    def kept(self, examined: Examined) -> None:
        """A result was stored, whatever failed before it."""
        self._failed.discard(examined.candidate.instance_id)
        rejected = examined.rejection
        self._counts["accepted" if rejected is None else rejected.gate] += 1
        self._patience.renew()
        self._tell(examined.candidate, outcome(examined))

    def lease_lost(self, candidate: Candidate) -> None:
        """A result came too late to be stored."""
        self._failed.discard(candidate.instance_id)
        self._counts["lease_lost"] += 1
        self._patience.renew()
        self._tell(candidate, "the lease was lost; another worker has it")

    def stays_due(self, candidate: Candidate, error: BaseException) -> None:
        """It could not be verified."""
        self._stays_due(candidate.instance_id, told(error))
        self._patience.failed(error)

    def unread(self, instance_id: str, error: FatalError) -> None:
        """What is stored of it is damaged, which says nothing of the others."""
        self._stays_due(instance_id, str(error))

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
        return self._patience.given_up or (self._last_error if useless else None)

    def _stays_due(self, instance_id: str, why: str) -> None:
        self._failed.add(instance_id)
        self._last_error = why
        self._progress.tell(Stage.VERIFY, f"{instance_id}: stays due: {why}")

    def _tell(self, candidate: Candidate, note: str) -> None:
        self._progress.advance(Stage.VERIFY, f"{candidate.instance_id}: {note}")
