"""The whole line in a process that is killed again and again at seeded points.

`python -m tests.fakes.whole_line URL FOLDER FORGE TOKEN SEED KILLS` forks a child for each attempt.
A child counts what it does to the outside (SQL statements, files, processes, connections) and kills
itself at its point, as `kill -9` would. The last child is left alone. Prints how many were killed.
"""

import os
import random
import signal
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Engine, event

from miner.assess import SIGNALS
from miner.assess.stage import assess
from miner.crawl import SOURCES
from miner.crawl.stage import crawl
from miner.errors import ConfigError
from miner.git import Mirrors
from miner.http import HttpClient
from miner.publish.stage import publish
from miner.split.policy import GatePolicy
from miner.split.stage import split
from miner.store import open_store
from miner.verify.stage import verify
from miner.wire import Token
from tests.fakes.progress import SilentProgress
from tests.fakes.serial import SerialExecutor
from tests.fakes.trees import trees
from tests.miner.store.samples import attempt, failed_attempt, verdict
from validators.model import QUICK, Examination, Flaw, Policy, Recipe, Task, Verdict

NOW = datetime(2026, 11, 29, 3, tzinfo=UTC)
REPOS = ("synth/r000", "synth/r001")
TOUCHES = frozenset({"subprocess.Popen", "socket.connect", "os.rename", "os.mkdir", "os.remove"})
ALL = 10**9


class TwoOfThreeBench:
    """Accepts two of three."""

    def examine(self, task: Task, *, policy: Policy, stored: Sequence[Recipe]) -> Examination:  # noqa: ARG002
        """By the pull's number."""
        if int(task.instance_id.rpartition("-")[2]) % 3:
            attempts = (failed_attempt(), attempt())
            return Examination(instance_id=task.instance_id, attempts=attempts, verdict=verdict())
        refused = Verdict(flaw=Flaw.BUILD_FAILED, detail="nope", policy="quick")
        return Examination(
            instance_id=task.instance_id, attempts=(failed_attempt(),), verdict=refused
        )

    def close(self) -> None:
        """There is nothing to close."""


class Countdown:
    """Kills this process at the given touch of the outside."""

    def __init__(self, left: int) -> None:
        self.start = left
        self.left = left

    def touch(self) -> None:
        """One more."""
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def install(self) -> None:
        """Count every statement and every touch that Python tells of."""
        event.listen(Engine, "before_cursor_execute", lambda *_: self.touch())
        event.listen(Engine, "commit", lambda *_: self.touch())
        sys.addaudithook(lambda name, _: self.touch() if name in TOUCHES else None)


def line(url: str, folder: Path, forge: str, token: str) -> None:
    """Crawl, split, verify, assess, publish, at a moment that stands still."""
    mirrors = Mirrors(folder / "mirrors")
    progress = SilentProgress()

    def now() -> datetime:
        return NOW

    with (
        HttpClient(forge, tokens=[Token(token)], ca_bundle=None) as client,
        open_store(url, clock=now) as database,
    ):
        crawl(
            database.crawl,
            source=SOURCES["github"](client),
            mirrors=mirrors,
            repos=REPOS,
            since=None,
            now=now,
            progress=progress,
        )
        split(
            database.split,
            mirrors=mirrors,
            policy=GatePolicy(),
            repo=None,
            limit=ALL,
            now=now,
            progress=progress,
        )
        verify(
            database.verify,
            executor=SerialExecutor(),
            workshop=TwoOfThreeBench(),
            tree=trees(mirrors),
            policy=QUICK,
            repo=None,
            limit=ALL,
            now=now,
            progress=progress,
        )
        assess(database.assess, signals=SIGNALS, limit=ALL, now=now, progress=progress)
        publish(
            database.publish,
            name="2026-11-29",
            window=(None, None),
            dockerfile=lambda instance: f"FROM python:{instance.environment.recipe.python}",
            now=NOW,
            progress=progress,
        )


def attempt_in_child(arguments: tuple[str, Path, str, str], left: int) -> int | None:
    """How many touches a whole run took; None when the child was killed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        countdown = Countdown(left)
        countdown.install()
        code = 1
        try:
            line(*arguments)
            os.write(writer, str(countdown.start - countdown.left).encode())
            code = 0
        except ConfigError as error:
            sys.stderr.write(f"{error}\n")
        finally:
            os._exit(code)
    os.close(writer)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reader) as told:
        took = told.read()
    if os.WIFSIGNALED(status):
        return None
    if os.WEXITSTATUS(status) != 0:
        raise SystemExit("a child failed that nobody killed")
    return int(took)


def main(url: str, folder: Path, forge: str, token: str, seed: int, kills: int) -> None:
    """Kill children until so many are dead or the line is through; then let it end."""
    arguments = (url, folder, forge, token)
    chance = random.Random(seed)  # noqa: S311  (where it is killed)
    killed = 0
    while killed < kills and attempt_in_child(arguments, chance.randrange(20, 560)) is None:
        killed += 1
    took = attempt_in_child(arguments, ALL)
    again = attempt_in_child(arguments, ALL)
    sys.stdout.write(f"{killed} {took} {again}\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:5], *map(int, sys.argv[5:7]))  # type: ignore[arg-type]  # two texts
