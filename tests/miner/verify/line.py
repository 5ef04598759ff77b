"""The verify stage with everything it is handed, on a real database and mirror."""

from concurrent.futures import Executor
from datetime import datetime

from miner.git import Mirrors
from miner.model import Candidate, StageReport
from miner.store import Database
from miner.verify.bench import Bench
from miner.verify.stage import verify
from tests.fakes.progress import SilentProgress
from tests.fakes.serial import SerialExecutor
from tests.fakes.trees import trees
from tests.miner.store.samples import NOW, POLICY, candidate, pull, repo
from validators.model import QUICK


class Clock:
    """Stands still until it is told to go on."""

    def __init__(self) -> None:
        self.at = NOW

    def __call__(self) -> datetime:
        return self.at


class Notes(SilentProgress):
    """Remembers what was said of finished items, of failures, and how many are due."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.told: list[str] = []
        self.totals: list[int | None] = []

    def start(self, what: str, *, total: int | None) -> None:  # noqa: ARG002
        """The total."""
        self.totals.append(total)

    def tell(self, what: str, note: str) -> None:  # noqa: ARG002
        """What happens on the way."""
        self.told.append(note)

    def advance(self, what: str, note: str, *, by: int = 1) -> None:  # noqa: ARG002
        """Only of finished ones."""
        if by:
            self.said.append(note)


class Line:
    """The stage with everything it is handed, but for what a test sets."""

    def __init__(self, database: Database, mirrors: Mirrors, commit: str) -> None:
        self.database = database
        self.mirrors = mirrors
        self.tree = trees(mirrors)
        self.commit = commit
        self.now = Clock()
        self.notes = Notes()

    def candidates(self, *numbers: int) -> tuple[Candidate, ...]:
        """Crawled and split."""
        self.database.crawl.save_repo(repo(), now=NOW)
        found = tuple(candidate(number, base_commit=self.commit) for number in numbers)
        for one in found:
            self.database.crawl.save_pulls([(pull(one.pull_number), b"{}")])
            self.database.split.save_split(pull(one.pull_number), one, policy=POLICY)
        return found

    def verify(
        self, workshop: Bench, executor: Executor | None = None, **changes: object
    ) -> StageReport:
        """Run it."""
        arguments: dict[str, object] = {"repo": None, "limit": 99} | changes
        return verify(
            self.database.verify,
            executor=executor or SerialExecutor(),
            workshop=workshop,
            tree=self.tree,
            policy=QUICK,
            now=self.now,
            progress=self.notes,
            **arguments,  # type: ignore[arg-type]  # named as in verify
        )

    def failures(self) -> list[str]:
        """What the machinery failed of, as it is kept with the candidates."""
        ids = [f"o__r-{number}" for number in range(1, 10)]
        found = filter(None, map(self.database.admin.evidence, ids))
        return [error for evidence in found for _, error in evidence.failures]


def live(database: Database) -> int:
    """How many leases are alive."""
    return len(database.admin.status().work)
