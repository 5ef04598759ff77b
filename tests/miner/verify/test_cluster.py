"""The verify stage on a real Dask cluster whose parts are killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from miner.executors import executor
from miner.git import Mirrors
from miner.model import IncompleteError, StageReport
from miner.store import Database
from miner.verify.stage import verify
from tests.fakes.bench import MarkingBench
from tests.fakes.progress import SilentProgress
from tests.fakes.trees import trees
from tests.miner.store.samples import NOW, POLICY, candidate, pull, repo
from validators.model import QUICK

ROOT = Path(__file__).parents[3]


def double(number: int) -> tuple[int, int]:
    """Something to run elsewhere."""
    return 2 * number, os.getpid()


@dataclass
class Cluster:
    """A scheduler and its workers, each a process."""

    address: str
    scheduler: "subprocess.Popen[bytes]"
    workers: "list[subprocess.Popen[bytes]]" = field(default_factory=list)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """One scheduler, two workers with one thread each."""
    where = tmp_path / "scheduler.json"
    started: list[subprocess.Popen[bytes]] = []

    def start(module: str, *words: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", f"distributed.cli.{module}", *words]
        with (tmp_path / f"{module}{len(started)}.log").open("wb") as log:
            process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        started.append(process)
        return process

    scheduler = start(
        "dask_scheduler",
        *("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-jupyter"),
        *("--scheduler-file", str(where)),
    )
    address = _address(where, scheduler)
    own = ("--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory", str(tmp_path))
    workers = [start("dask_worker", address, *own) for _ in range(2)]
    yield Cluster(address=address, scheduler=scheduler, workers=workers)
    for process in started:
        process.kill()
        process.wait()


def _address(file: Path, scheduler: "subprocess.Popen[bytes]") -> str:
    """The address the scheduler wrote, as soon as it did."""
    while scheduler.poll() is None:
        if file.exists() and (text := file.read_text("utf-8")):
            return str(json.loads(text)["address"])
        time.sleep(0.05)
    raise AssertionError("the Dask scheduler ended")


class Line:
    """Three candidates to verify."""

    def __init__(self, database: Database, mirrors: Mirrors, commit: str) -> None:
        self.database = database
        self.mirrors = mirrors
        self.at = NOW
        database.crawl.save_repo(repo(), now=NOW)
        for number in (1, 2, 3):
            database.crawl.save_pulls([(pull(number), b"{}")])
            one = candidate(number, base_commit=commit)
            database.split.save_split(pull(number), one, policy=POLICY)

    def verify(self, pool: Executor, bench: MarkingBench, limit: int = 9) -> StageReport:
        """The stage."""
        return verify(
            self.database.verify,
            executor=pool,
            workshop=bench,
            tree=trees(self.mirrors),
            policy=QUICK,
            repo=None,
            limit=limit,
            now=lambda: self.at,
            progress=SilentProgress(),
        )


@pytest.fixture
def line(database: Database, mirrors: Mirrors, commit: str) -> Line:
    """A line with work."""
    return Line(database, mirrors, commit)


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """Where benches leave their marks."""
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


def killed_after_the_first_mark(marks: Path, victim: int | None) -> "subprocess.Popen[bytes]":
    """A process that kills `victim` (None: the marking worker) once a mark is there."""
    code = """
import os, signal, sys, time
from pathlib import Path
marks, victim = Path(sys.argv[1]), int(sys.argv[2])
while not (found := list(marks.iterdir())):
    time.sleep(0.02)
os.kill(victim or int(found[0].name.partition("-")[0]), signal.SIGKILL)
"""
    return subprocess.Popen([sys.executable, "-c", code, str(marks), str(victim or 0)])


def test_a_cluster_verifies(cluster: Cluster, line: Line, marks: Path) -> None:
    with executor("dask", workers=2, address=cluster.address) as pool:
        assert [pool.submit(double, 4).result(30)[0] for _ in range(2)] == [8, 8]
        assert line.verify(pool, MarkingBench(marks)).done == 3
    assert len(list(marks.iterdir())) == 3
    assert line.database.admin.funnel().instances == 3


def test_a_killed_worker_loses_nothing(cluster: Cluster, line: Line, marks: Path) -> None:
    killer = killed_after_the_first_mark(marks, None)
    with executor("dask", workers=2, address=cluster.address) as pool:
        assert line.verify(pool, MarkingBench(marks, stuck=1), limit=1).done == 1
    assert killer.wait() == 0
    assert len(list(marks.iterdir())) == 2
    assert sum(worker.poll() == -signal.SIGKILL for worker in cluster.workers) == 1


def test_a_killed_scheduler_loses_nothing(cluster: Cluster, line: Line, marks: Path) -> None:
    killer = killed_after_the_first_mark(marks, cluster.scheduler.pid)
    with (
        pytest.raises(IncompleteError, match="lost its work"),
        executor("dask", workers=2, address=cluster.address) as pool,
    ):
        line.verify(pool, MarkingBench(marks, stuck=9))
    assert killer.wait() == 0
    assert line.database.admin.status().work == ()
    line.at += timedelta(minutes=2)
    with executor("threads", workers=1) as pool:
        assert line.verify(pool, MarkingBench(marks)).done == 3
