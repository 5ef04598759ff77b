"""Split: a stored pull → Candidate | Rejection."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from miner.errors import BadItemError, ConfigError, RetryableError
from miner.git import Mirrors
from miner.model import Candidate, Clock, Gate, PullRequest, Rejection, Stage, StageReport
from miner.progress import Progress
from miner.split.gates import Refusal
from miner.split.judgement import judge
from miner.split.open_mirrors import OpenMirrors
from miner.split.policy import GatePolicy
from validators.languages import LANGUAGES

BATCH = 100


class Store(Protocol):
    """What splitting reads and leaves."""

    def due_pulls(self, *, policy: str, limit: int, repo: str | None) -> Sequence[PullRequest]:
        """Newest version of each pull without candidate or rejection for (raw digest, policy)."""
        ...

    def reverted_by(self, pull: PullRequest) -> int | None:
        """The number of a stored pull of the same repository that undoes this one."""
        ...

    def save_split(
        self, pull: PullRequest, result: Candidate | Rejection, *, policy: str, reverted: bool
    ) -> None:
        """Append the result for (raw digest of the pull, policy, revert state it was judged in)."""
        ...


def split(  # noqa: PLR0913  # a stage is handed all it uses
    store: Store,
    *,
    mirrors: Mirrors,
    policy: GatePolicy,
    repo: str | None,
    limit: int,
    now: Clock,
    progress: Progress,
) -> StageReport:
    """Judge at most `limit` due pulls, of one repository or of all.

    Every result is stored by itself: ended at any moment and called again, nothing is judged twice
    and nothing left out. A pull whose mirror is missing or cannot be read now stays due.
    ConfigError when the policy wants a language that this version does not know.
    """
    unknown = sorted(set(policy.languages) - set(LANGUAGES))
    if unknown:
        raise ConfigError(
            f"The gate policy wants {', '.join(unknown)}; known are {', '.join(sorted(LANGUAGES))}."
        )
    started_at, counts, retried = now(), Counter[str](), 0
    progress.start(Stage.SPLIT, total=None)
    opened = OpenMirrors(mirrors)
    try:
        due = _due(store, policy=policy, repo=repo, limit=limit, expect=opened.expect)
        for pull in due:
            undone_by = store.reverted_by(pull)  # a database that is away concerns all of them
            try:
                result = _judged(pull, undone_by, mirrors=opened, policy=policy, now=now)
            except (RetryableError, ConfigError) as error:
                retried += 1
                progress.advance(Stage.SPLIT, f"{pull.repo}#{pull.number}: {error}")
                continue
            reverted = undone_by is not None
            store.save_split(pull, result, policy=policy.digest, reverted=reverted)
            outcome = result.gate if isinstance(result, Rejection) else "candidate"
            counts[outcome] += 1
            progress.advance(Stage.SPLIT, f"{pull.repo}#{pull.number}: {outcome}")
    finally:
        opened.close()
        progress.end(Stage.SPLIT)
    return StageReport(
        stage=Stage.SPLIT,
        done=counts["candidate"],
        rejected=counts.total() - counts["candidate"],
        retried=retried,
        counts=dict(sorted(counts.items())),
        started_at=started_at,
        ended_at=now(),
    )


def _due(
    store: Store,
    *,
    policy: GatePolicy,
    repo: str | None,
    limit: int,
    expect: Callable[[Sequence[PullRequest]], None],
) -> Iterator[PullRequest]:
    """Due pulls, a batch in memory at a time; one that stays due is not given out again."""
    seen: set[tuple[int, int]] = set()
    still_due = 0
    while len(seen) < limit:
        asked = min(BATCH, limit - len(seen)) + still_due
        found = store.due_pulls(policy=policy.digest, limit=asked, repo=repo)
        fresh = [pull for pull in found if (pull.repo_id, pull.number) not in seen]
        if not fresh and len(found) < asked:
            return
        still_due = len(found) - len(fresh)
        expect(fresh)
        for pull in fresh[: limit - len(seen)]:
            seen.add((pull.repo_id, pull.number))
            yield pull


def _judged(
    pull: PullRequest,
    undone_by: int | None,
    *,
    mirrors: OpenMirrors,
    policy: GatePolicy,
    now: Clock,
) -> Candidate | Rejection:
    """The result for one pull; what is unreadable about it is a rejection of its own."""
    try:
        result = judge(pull, mirror_of=mirrors.open, policy=policy, reverted_by=undone_by)
    except BadItemError as error:
        result = Refusal(gate=Gate.UNREADABLE, detail=str(error))
    if isinstance(result, Candidate):
        return result
    return Rejection(
        repo=pull.repo,
        pull_number=pull.number,
        stage=Stage.SPLIT,
        gate=result.gate.value,
        detail=result.detail,
        made_at=now(),
    )
