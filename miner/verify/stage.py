"""Verify: lease a candidate → `Workshop.examine` through the executor → Instance | Rejection.

The executor computes, this stage writes: workers need no database. A result is written only while
its lease is ours, so a worker that was given up for lost can do no harm.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass
from typing import Protocol

from miner.errors import MinerError, RetryableError, told
from miner.git import UnusableTreeError
from miner.model import Candidate, Clock, IncompleteError, Stage, StageReport, StoredRecipe
from miner.patience import Patience
from miner.pending import Pending
from miner.progress import Progress
from miner.verify.bench import Bench, examine, task_of
from miner.verify.books import Books
from miner.verify.judgement import judge, unusable
from miner.verify.leases import LeaseRows, Leases
from miner.verify.recipes import stored_recipes
from validators.errors import EngineTooOldError, PythonUnavailableError, UnknownRecipeError
from validators.model import Examination, Policy, Tree
from validators.plural import counted

VERIFIER_VERSION = 5
"""Raised with every change to rules, reporter, probes or runs by which some candidate could get
another verdict or other lists; candidates verified by an older version are due again."""

IN_FLIGHT = 4
"""Tasks handed to the executor at once: so many trees are in memory."""

RESULT_S = 6 * 3600
"""A result that takes longer never comes: a lost cluster accepts work without doing it."""

TreeOf = Callable[[Candidate], Tree]
"""Where the tree of a candidate's base commit comes from. BadItemError: it cannot be had."""


class Store(LeaseRows, Protocol):
    """What verification reads and leaves."""

    def recipes(self, repo: str) -> Sequence[StoredRecipe]:
        """Stored recipes of a repository: a maintainer's first, then learned, newest first."""
        ...


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
    patience = Patience()
    shift = _Shift(
        store=store,
        executor=executor,
        bench=workshop,
        tree=tree,
        policy=policy,
        now=now,
        progress=progress,
        pending=Pending(within_s=result_s),
        leases=Leases(store, now=now),
        patience=patience,
        books=Books(progress, patience),
    )
    return shift.work(repo=repo, limit=limit, in_flight=in_flight)


@dataclass(slots=True, kw_only=True)
class _Shift:
    """One call of the stage: what is in flight, handed over and taken back."""

    store: Store
    executor: Executor
    bench: Bench
    tree: TreeOf
    policy: Policy
    now: Clock
    progress: Progress
    leases: Leases
    patience: Patience
    books: Books
    pending: Pending[Candidate, Examination]
    claimed: int = 0

    def work(self, *, repo: str | None, limit: int, in_flight: int) -> StageReport:
        """Until nothing is due, the limit is reached or the machinery is given up."""
        started_at = self.now()
        due = self.leases.count(
            version=VERIFIER_VERSION, policy=self.policy.name, repo=repo, limit=limit
        )
        self.progress.start(Stage.VERIFY, total=due)
        ended = False
        try:
            with self.leases.kept_alive():
                while self._fill(repo, limit, in_flight) or self.pending:
                    self._collect()
            ended = True
        finally:
            self._leave(interrupted=not ended)
            self.progress.end(Stage.VERIFY)
        report = self.books.report(started_at=started_at, ended_at=self.now())
        why = self.books.trouble(report)
        if why is not None:
            raise IncompleteError(
                f"{counted(report.retried, 'task')} could not be verified: {why}", report=report
            )
        return report

    def _fill(self, repo: str | None, limit: int, in_flight: int) -> bool:
        """Claim and submit until enough is in flight; False when there is nothing to claim."""
        room = min(in_flight - len(self.pending), limit - self.claimed)
        if room <= 0 or self.patience.given_up is not None:
            return False
        claimed = self.leases.claim(
            version=VERIFIER_VERSION,
            policy=self.policy.name,
            repo=repo,
            limit=room,
            unread=self.books.unread,
        )
        self.claimed += len(claimed)
        for candidate in claimed:
            self._submit(candidate)
        return bool(claimed)

    def _submit(self, candidate: Candidate) -> None:
        try:
            task = task_of(candidate, self.tree(candidate))
            rows = self.store.recipes(candidate.repo)
            stored = stored_recipes(rows, task)
            future = self.executor.submit(examine, self.bench, task, self.policy, stored)
        except BrokenExecutor as error:
            self._broken(candidate, error)
        except UnusableTreeError as error:
            self._keep(candidate, unusable(candidate, str(error), policy=self.policy))
        except MinerError as error:
            self._failed(candidate, error)
        else:
            self.pending.add(candidate, future)
            self.progress.advance(Stage.VERIFY, f"{candidate.instance_id}: handed over", by=0)

    def _collect(self) -> None:
        """Wait for one result or the nearest deadline."""
        for candidate, future in self.pending.come():
            self._take(candidate, future)

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
                self.leases.release(candidate, None)
                raise error
            case BrokenExecutor():
                self._broken(candidate, error)
            case UnknownRecipeError() | PythonUnavailableError():
                self.leases.set_aside(candidate, str(error))
                self.books.stays_due(candidate, error)
            case Exception():
                # whatever it was, it is recorded with the candidate, which stays due
                self._failed(candidate, error)
            case _:
                raise error

    def _keep(self, candidate: Candidate, examination: Examination) -> None:
        try:
            examined = judge(candidate, examination, now=self.now())
        except MinerError as error:
            self._failed(candidate, error)
            return
        if self.leases.end_with(examined):
            self.books.kept(examined)
        else:
            self.books.lease_lost(candidate)

    def _failed(self, candidate: Candidate, error: BaseException) -> None:
        self.leases.release(candidate, told(error))
        self.books.stays_due(candidate, error)

    def _broken(self, candidate: Candidate, error: BaseException) -> None:
        self._failed(candidate, RetryableError(f"The executor lost its work: {told(error)}"))
        self.patience.end("The executor lost its work; start it again.")

    def _leave(self, *, interrupted: bool) -> None:
        self.pending.cancel()
        if interrupted or self.patience.given_up is not None:
            self.bench.close()  # what nobody waits for would keep the executor from ending
        self.leases.release_all()
