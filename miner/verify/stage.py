"""Verify: lease a candidate → `Workshop.examine` through the executor → Instance | Rejection.

The executor computes, this stage writes: workers need no database. A result is written only while
its lease is ours, so a worker that was given up for lost can do no harm.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from contextlib import suppress
from datetime import datetime
from time import monotonic
from typing import Protocol

from miner.errors import BadItemError, MinerError, RetryableError, told
from miner.git import UnusableTreeError
from miner.holder import Heartbeat, new_holder
from miner.model import Candidate, Clock, Examined, Stage, StageReport, StoredRecipe
from miner.progress import Progress
from miner.verify.bench import Bench, examine
from miner.verify.judgement import judge, outcome, unusable
from miner.verify.recipes import stored_recipes
from validators.errors import EngineTooOldError, PythonUnavailableError, UnknownRecipeError
from validators.model import Examination, Policy, Task, Tree

VERIFIER_VERSION = 3
"""Raised with every change to rules, reporter, probes or runs by which some candidate could get
another verdict or other lists; candidates verified by an older version are due again."""

HEARTBEAT_S = 30
"""How often a live lease is prolonged; the store says how long it holds and when to give up."""

IN_FLIGHT = 4
"""Tasks handed to the executor at once: so many trees are in memory."""

RESULT_S = 6 * 3600
"""A result that takes longer never comes: a lost cluster accepts work without doing it."""

FAILURES_IN_A_ROW = 3
"""After so many failures of the machinery without one result between them the pass is given up."""

TreeOf = Callable[[Candidate], Tree]
"""Where the tree of a candidate's base commit comes from. BadItemError: it cannot be had."""


class Store(Protocol):
    """What verification reads and leaves. Leases keep two workers off one candidate."""

    def claim(
        self,
        *,
        holder: str,
        version: int,
        policy: str,
        limit: int,
        repo: str | None,
        now: datetime,
    ) -> Sequence[Candidate]:
        """Lease due candidates: newest per instance id, no result for (candidate, verifier
        version, policy, newest maintainer recipe), no live lease, `not_before` passed, attempts
        left. Ends leases that ran out first."""
        ...

    def heartbeat(self, candidate: Candidate, *, holder: str, now: datetime) -> bool:
        """Prolong the lease; False when it is no longer ours."""
        ...

    def recipes(self, repo: str) -> Sequence[StoredRecipe]:
        """Stored recipes of a repository: a maintainer's first, then learned, newest first."""
        ...

    def save_examined(self, examined: Examined, *, holder: str, now: datetime) -> bool:
        """Write result, attempts, runs, logs, learned recipe and end the lease, in one
        transaction and only if the lease is still ours."""
        ...

    def release(
        self, candidate: Candidate, *, holder: str, error: str | None, now: datetime
    ) -> None:
        """End the lease without a result. With `error` it counts as a failed attempt (backs off);
        without (Ctrl-C) it does not."""
        ...


class IncompleteError(RetryableError):
    """The machinery failed; what it could not do stays due. `report` tells what was done."""

    def __init__(self, message: str, *, report: StageReport) -> None:
        super().__init__(message)
        self.report = report


def verify(  # noqa: PLR0913  (a stage is handed what it works with)
    store: Store,
    *,
    executor: Executor,
    workshop: Bench,
    tree: TreeOf,
    policy: Policy,
    repo: str | None,
    limit: int,
    now: Clock,
    progress: Progress,
    in_flight: int = IN_FLIGHT,
    result_s: float = RESULT_S,
) -> StageReport:
    """Examine up to `limit` due candidates.

    IncompleteError when nothing could be done, or the machinery failed too often in a row, or the
    executor broke: the rest stays due. EngineTooOldError is passed on. At Ctrl-C the containers of
    this process are removed and its leases released; what was stored stays.
    """
    shift = _Shift(store, executor, workshop, tree, policy, now, progress, result_s)
    return shift.work(repo=repo, limit=limit, in_flight=in_flight)


class _Shift:
    """One call of the stage: what is in flight, and what came of it."""

    def __init__(  # noqa: PLR0913, PLR0917  (as verify)
        self,
        store: Store,
        executor: Executor,
        bench: Bench,
        tree: TreeOf,
        policy: Policy,
        now: Clock,
        progress: Progress,
        result_s: float,
    ) -> None:
        self._store = store
        self._executor = executor
        self._bench = bench
        self._tree = tree
        self._policy = policy
        self._now = now
        self._progress = progress
        self._result_s = result_s
        self._holder = new_holder()
        self._held: dict[str, Candidate] = {}
        self._pending: dict[Future[Examination], tuple[Candidate, float]] = {}
        self._heartbeat = Heartbeat(self._beat, every_s=HEARTBEAT_S)
        self._counts: Counter[str] = Counter()
        self._row = 0  # failures of the machinery without a result between them
        self._aside: dict[str, str] = {}  # why a held one is not tried again in this pass
        self._last_error: str | None = None
        self._given_up: str | None = None

    def work(self, *, repo: str | None, limit: int, in_flight: int) -> StageReport:
        """Until nothing is due, the limit is reached or the machinery is given up."""
        started_at = self._now()
        self._progress.start(Stage.VERIFY, total=None)
        ended = False
        try:
            with self._heartbeat.running():
                while self._fill(repo, limit, in_flight) or self._pending:
                    self._collect()
            ended = True
        finally:
            self._leave(interrupted=not ended)
            self._progress.end(Stage.VERIFY)
        return self._report(started_at)

    def _fill(self, repo: str | None, limit: int, in_flight: int) -> bool:
        """Claim and submit until enough is in flight; False when there is nothing to claim."""
        room = min(in_flight - len(self._pending), limit - self._counts["claimed"])
        if room <= 0 or self._given_up is not None:
            return False
        claimed = self._store.claim(
            holder=self._holder,
            version=VERIFIER_VERSION,
            policy=self._policy.name,
            limit=room,
            repo=repo,
            now=self._now(),
        )
        for candidate in claimed:
            self._held[candidate.instance_id] = candidate
            self._heartbeat.add(candidate.instance_id)
        self._counts["claimed"] += len(claimed)
        for candidate in claimed:
            self._submit(candidate)
        return bool(claimed)

    def _submit(self, candidate: Candidate) -> None:
        try:
            task = Task(
                instance_id=candidate.instance_id,
                repo=candidate.repo,
                tree=self._tree(candidate),
                patch=candidate.patch,
                test_patch=candidate.test_patch,
                merged_at=candidate.merged_at,
                language=candidate.language,
            )
            rows = self._store.recipes(candidate.repo)
            stored = stored_recipes(rows, merged_at=candidate.merged_at)
            future = self._executor.submit(examine, self._bench, task, self._policy, stored)
        except BrokenExecutor as error:
            self._broken(candidate, error)
        except UnusableTreeError as error:
            self._keep(candidate, unusable(candidate, str(error), policy=self._policy))
        except BadItemError as error:
            self._stays_due(candidate, str(error))
        except MinerError as error:
            self._failed(candidate, str(error))
        else:
            self._pending[future] = (candidate, monotonic() + self._result_s)
            self._progress.advance(Stage.VERIFY, f"{candidate.instance_id}: handed over", by=0)

    def _collect(self) -> None:
        """Wait for one result or the nearest deadline."""
        if not self._pending:
            return
        nearest = min(deadline for _, deadline in self._pending.values())
        done, _ = wait(
            self._pending, timeout=max(nearest - monotonic(), 0), return_when=FIRST_COMPLETED
        )
        for future in done:
            candidate, _ = self._pending.pop(future)
            self._take(candidate, future)
        late = [f for f, (_, deadline) in self._pending.items() if deadline <= monotonic()]
        for future in late:
            candidate, _ = self._pending.pop(future)
            future.cancel()
            self._broken(candidate, TimeoutError(f"no result within {self._result_s:.0f} s"))

    def _take(self, candidate: Candidate, future: Future[Examination]) -> None:
        try:
            error = future.exception()
        except CancelledError as cancelled:
            self._broken(candidate, cancelled)
            return
        match error:
            case None:
                self._keep(candidate, future.result())
            case EngineTooOldError():
                self._release(candidate, None)
                raise error
            case BrokenExecutor():
                self._broken(candidate, error)
            case UnknownRecipeError() | PythonUnavailableError():
                self._set_aside(candidate, str(error))
            case Exception():
                # whatever it was, it is recorded with the candidate, which stays due
                self._failed(candidate, told(error))
            case _:
                raise error

    def _keep(self, candidate: Candidate, examination: Examination) -> None:
        try:
            examined = judge(candidate, examination, now=self._now())
        except MinerError as error:
            self._failed(candidate, str(error))
            return
        kept = self._store.save_examined(examined, holder=self._holder, now=self._now())
        self._let_go(candidate)
        self._row = 0
        if not kept:
            self._counts["lease_lost"] += 1
            note = "the lease was lost; another worker has it"
        else:
            rejected = examined.rejection
            self._counts["accepted" if rejected is None else rejected.gate] += 1
            note = outcome(examined)
        self._progress.advance(Stage.VERIFY, f"{candidate.instance_id}: {note}")

    def _failed(self, candidate: Candidate, error: str) -> None:
        """The machinery failed: the next candidates may fare no better."""
        self._stays_due(candidate, error)
        self._row += 1
        if self._row >= FAILURES_IN_A_ROW:
            self._given_up = error

    def _stays_due(self, candidate: Candidate, error: str) -> None:
        """It could not be verified, which says nothing of the others."""
        self._release(candidate, error)
        self._tell_failed(candidate, error)

    def _set_aside(self, candidate: Candidate, error: str) -> None:
        """It will not fare better in this pass: its lease is kept until the end, so that a registry
        that is silent for a night costs it one attempt, not all."""
        self._aside[candidate.instance_id] = error
        self._tell_failed(candidate, error)

    def _tell_failed(self, candidate: Candidate, error: str) -> None:
        self._counts["machinery_failed"] += 1
        self._last_error = error
        self._progress.advance(Stage.VERIFY, f"{candidate.instance_id}: stays due: {error}")

    def _broken(self, candidate: Candidate, error: BaseException) -> None:
        self._failed(candidate, f"The executor lost its work: {told(error)}")
        self._given_up = "The executor lost its work; start it again."

    def _release(self, candidate: Candidate, error: str | None) -> None:
        self._store.release(candidate, holder=self._holder, error=error, now=self._now())
        self._let_go(candidate)

    def _let_go(self, candidate: Candidate) -> None:
        self._heartbeat.remove(candidate.instance_id)
        self._held.pop(candidate.instance_id, None)

    def _beat(self, name: str) -> None:
        candidate = self._held.get(name)
        if candidate is not None:
            self._store.heartbeat(candidate, holder=self._holder, now=self._now())

    def _leave(self, *, interrupted: bool) -> None:
        for future in self._pending:
            future.cancel()
        if interrupted:
            self._bench.close()
        for candidate in list(self._held.values()):
            with suppress(MinerError):  # it runs out, or is seen to be dead
                self._release(candidate, self._aside.get(candidate.instance_id))

    def _report(self, started_at: datetime) -> StageReport:
        counts = Counter(self._counts)
        del counts["claimed"]
        retried = counts["machinery_failed"] + counts["lease_lost"]
        report = StageReport(
            stage=Stage.VERIFY,
            done=counts["accepted"],
            rejected=counts.total() - counts["accepted"] - retried,
            retried=retried,
            counts=dict(sorted(counts.items())),
            started_at=started_at,
            ended_at=self._now(),
        )
        useless = report.done + report.rejected == 0
        why = self._given_up or (self._last_error if useless else None)
        if why is not None:
            raise IncompleteError(f"{retried} tasks could not be verified: {why}", report=report)
        return report
