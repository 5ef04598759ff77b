"""Base commit and split of stored pulls, against the bare `git diff` that each needs."""

import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby

from miner.crawl.base import based
from miner.git import Mirrors
from miner.model import Candidate, PullRequest, Rejection
from miner.split.policy import GatePolicy
from miner.split.stage import split
from miner.store import Database
from tests.fakes.progress import SilentProgress

SAMPLE = 500


@dataclass
class Shelf:
    """A split store that holds some pulls and forgets the results."""

    pulls: list[PullRequest]
    results: list[Candidate | Rejection] = field(default_factory=list)

    def due_pulls(self, *, policy: str, limit: int, repo: str | None) -> Sequence[PullRequest]:
        """What is left."""
        del policy, repo
        taken, self.pulls = self.pulls[:limit], self.pulls[limit:]
        return taken

    def reverted_by(self, pull: PullRequest) -> int | None:
        """Nothing is."""
        del pull
        return None

    def save_split(
        self, pull: PullRequest, result: Candidate | Rejection, *, policy: str, reverted: bool
    ) -> None:
        """Keep the result."""
        del pull, policy, reverted
        self.results.append(result)


def ratio(store: Database, mirrors: Mirrors) -> float:
    """Seconds for base and split / seconds for one bare diff a pull."""
    pulls = sorted(
        store.split.due_pulls(policy="benchmark", limit=SAMPLE, repo=None), key=lambda p: p.repo
    )
    begun = time.perf_counter()
    for name, of_repo in groupby(pulls, key=lambda pull: pull.repo):
        with mirrors.open(name).kept_open() as mirror:
            for pull in of_repo:
                based(pull, mirror)
    shelf = Shelf(list(pulls))
    split(
        shelf,
        mirrors=mirrors,
        policy=GatePolicy(),
        repo=None,
        limit=len(pulls),
        now=lambda: datetime.now(UTC),
        progress=SilentProgress(),
    )
    ours_s = time.perf_counter() - begun
    if len(shelf.results) != len(pulls):
        raise SystemExit("Not every pull was split.")
    begun = time.perf_counter()
    for pull in pulls:
        git_dir = mirrors.root / f"{pull.repo}.git"
        command = ["git", f"--git-dir={git_dir}", "diff", "--binary", "--full-index", "-M"]
        subprocess.run(
            [*command, str(pull.base.commit), pull.base.merge_tree], check=True, capture_output=True
        )
    bare_s = time.perf_counter() - begun
    print(
        f"  (base and split {ours_s / len(pulls) * 1000:.1f} ms a pull, "
        f"bare diff {bare_s / len(pulls) * 1000:.1f} ms)"
    )
    return ours_s / bare_s
