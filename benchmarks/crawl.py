"""What a crawl costs, against a synthetic forge. Run by hand: never part of a gate.

    python -m benchmarks.crawl [--repositories 200] [--pulls 50] [--folder DIR]

The forge runs in a process of its own. Every pull kind occurs in a fixed share (merge, squash,
rebase; edited, renamed and unlinked issues); GraphQL points are charged by GitHub's formula.

How the crawl's time is counted. A first crawl into an empty database and an empty folder is timed
as a whole: asking, git mirrors, base commits, rows. "The same requests" are all that it sends: the
API's, and those that git sends for the mirrors (noted by the forge). A bare httpx loop sends them
back to back, reads every answer and parses the JSON ones. The API's are sent so before the crawl
and after it, and the mean counts, so that a machine that gets busier meanwhile favours nobody. The
ratio to the API's requests alone is printed too: there all of git counts as the crawl's overhead,
although a bare loop leaves no mirror. The forge answers without a network's latency, the hardest
case: nothing hides behind waiting. Processor time, which hardly depends on the machine's load, is
printed beside.
"""

import argparse
import gzip
import itertools
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx
import orjson

from benchmarks import crawl_git
from miner.crawl.gharchive import hints_of
from miner.crawl.github import GitHub
from miner.crawl.stage import crawl
from miner.demo import serve
from miner.demo.git_http import is_git
from miner.demo.http_messages import Request as ForgeRequest
from miner.demo.request_log import RequestLog
from miner.demo.synthetic import synthetic
from miner.git import Mirrors
from miner.http import HttpClient, HttpxTransport
from miner.model import StageReport
from miner.store import Database, open_store, upgrade
from miner.wire import Request, Response, Token
from tests.fakes.progress import SilentProgress

EVENTS = 200_000
BLOCKED_REPOSITORIES = 4


@dataclass
class Meter:
    """A transport that notes every API request on its way through."""

    inner: HttpxTransport = field(default_factory=HttpxTransport)
    requests: list[Request] = field(default_factory=list)
    counted: int = 0
    points: int = 0
    waited_s: float = 0.0
    flying: int = 0
    most_flying: int = 0

    def send(self, request: Request) -> Response:
        """See Transport."""
        self.flying += 1
        self.most_flying = max(self.most_flying, self.flying)
        begun = time.perf_counter()
        try:
            response = self.inner.send(request)
        finally:
            self.waited_s += time.perf_counter() - begun
            self.flying -= 1
        self.requests.append(request)
        self.counted += response.status != 304
        if request.method == "POST":
            told = json.loads(response.body)
            self.points += told["data"]["rateLimit"]["cost"]
        return response

    def stream(self, request: Request) -> Iterator[bytes]:
        """See Transport."""
        return self.inner.stream(request)

    def close(self) -> None:
        """See Transport."""
        self.inner.close()


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repositories", type=int, default=200)
    parser.add_argument("--pulls", type=int, default=50)
    parser.add_argument("--folder", type=Path, default=None)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        measure_crawl(folder, Path(scratch), repositories=given.repositories, pulls=given.pulls)
        measure_limits(folder)
        measure_archive(Path(scratch))
    print(json.dumps(FIGURES))


FIGURES: dict[str, str] = {}


def tell(what: str, value: str, *, wanted: str, met: bool) -> None:
    """One line of the result."""
    FIGURES[what] = value
    print(f"{what:<58} {value:>16}   wanted {wanted:<12} {'met' if met else 'MISSED'}", flush=True)


def measure_crawl(folder: Path, scratch: Path, *, repositories: int, pulls: int) -> None:
    """A first crawl, a second one, and the same requests by a bare loop."""
    names = [f"synth/r{place:03}" for place in range(repositories)]
    total = repositories * pulls
    with forge_process(folder, repositories, pulls) as (base_url, token, of_git):
        asked, memory = asking_measured(base_url, token, names)
        url = f"sqlite:///{scratch}/crawl.db"
        upgrade(url)
        mirrors = Mirrors(scratch / "mirrors")
        with open_store(url) as store:
            api_before_s = bare_loop(asked.requests)
            spent = cpu_s()
            first, first_s, report = one_crawl(base_url, token, store, mirrors, names)
            spent = cpu_s() - spent
            peak = peak_mib()
            gits = of_git()
            api_after_s, git_s = bare_loop(first.requests), bare_loop(gits)
            api_s = (api_before_s + api_after_s) / 2
            second, second_s, _ = one_crawl(base_url, token, store, mirrors, names)
            print(
                f"{total} pulls of {repositories} repositories, {len(first.requests)} requests; "
                f"first crawl {first_s:.1f} s ({total / first_s:.0f} pulls/s), of which the API "
                f"{first.waited_s:.1f} s; bare loop {api_s:.1f} s ({api_before_s:.1f} before, "
                f"{api_after_s:.1f} after), of git's {len(gits)} requests {git_s:.1f} s; "
                f"second crawl {second_s:.1f} s"
            )
            print(
                f"  (processor: the crawl with its git {spent / total * 1000:.2f} ms a pull; "
                f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)"
            )
            if report.done != total or report.counts["base_unresolved"]:
                raise SystemExit(f"The crawl is not complete: {report}")
            per_pull = first.points / total
            tell("GraphQL points a pull, first crawl", f"{per_pull:.2f}", wanted="<= 1.0",
                 met=per_pull <= 1)  # fmt: skip
            tell("counted requests, nothing changed", str(second.counted), wanted="0",
                 met=second.counted == 0)  # fmt: skip
            tell("requests in flight for a token", str(first.most_flying), wanted="<= 1",
                 met=first.most_flying <= 1)  # fmt: skip
            ratio = first_s / (api_s + git_s)
            tell("crawl time / bare loop of its requests", f"{ratio:.2f}", wanted="<= 1.3",
                 met=ratio <= 1.3)  # fmt: skip
            print(f"  (with git / bare loop of the API's requests alone: {first_s / api_s:.2f})")
            tell("peak memory, MiB", f"{peak:.0f}", wanted="<= 300", met=peak <= 300)
            print(f"  ({memory})")
            git_ratio = crawl_git.ratio(store, mirrors)
            tell("base and split of a pull / its bare git diff", f"{git_ratio:.2f}",
                 wanted="<= 2", met=git_ratio <= 2)  # fmt: skip


def asking_measured(base_url: str, token: str, names: Sequence[str]) -> tuple[Meter, str]:
    """Ask about a quarter of the repositories, then about all; with the peaks of memory."""
    asking_alone(base_url, token, names[: max(1, len(names) // 4)])
    quarter_mib = peak_mib()
    asked = asking_alone(base_url, token, names)
    return asked, f"asking about a quarter: {quarter_mib:.0f} MiB, about all: {peak_mib():.0f} MiB"


def asking_alone(base_url: str, token: str, names: Sequence[str]) -> Meter:
    """What a first crawl asks, without git and rows; the forge has it all at hand after that."""
    meter = Meter()
    with HttpClient(base_url, tokens=[Token(token)], transport=meter) as client:
        source = GitHub(client)
        for name in names:
            repo = source.repo(name)
            source.changed(repo, etag=None)
            for _ in source.pages(repo, since=None):
                pass
    return meter


def one_crawl(
    base_url: str, token: str, store: Database, mirrors: Mirrors, names: Sequence[str]
) -> tuple[Meter, float, StageReport]:
    """A whole crawl: requests, seconds, report."""
    meter = Meter()
    begun = time.perf_counter()
    with HttpClient(base_url, tokens=[Token(token)], transport=meter) as client:
        report = crawl(
            store.crawl,
            source=GitHub(client),
            mirrors=mirrors,
            repos=names,
            since=None,
            now=lambda: datetime.now(UTC),
            progress=SilentProgress(),
        )
    return meter, time.perf_counter() - begun, report


def bare_loop(requests: Sequence[Request]) -> float:
    """The same requests back to back, nothing done with the answers but reading them: seconds."""
    begun = time.perf_counter()
    with httpx.Client(timeout=60) as client:
        for request in requests:
            answer = client.request(
                request.method, request.url, headers=dict(request.headers), content=request.body
            ).raise_for_status()
            if answer.headers["content-type"].startswith("application/json"):
                answer.json()
    return time.perf_counter() - begun


def measure_limits(folder: Path) -> None:
    """Small budgets and a clock that only sleeping moves: is anything sent before its time?"""
    moment = [datetime(2026, 1, 1, tzinfo=UTC)]
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        moment[0] += timedelta(seconds=seconds)

    data = synthetic(folder, repositories=BLOCKED_REPOSITORIES, pulls=10)
    limits = {"core": 7, "graphql": 5}
    with (
        serve(data, clock=lambda: moment[0], limits=limits) as forge,
        HttpClient(
            forge.base_url, tokens=[Token(forge.token)], clock=lambda: moment[0], sleep=sleep
        ) as client,
    ):
        source = GitHub(client)
        for place in range(BLOCKED_REPOSITORIES):
            repo = source.repo(f"synth/r{place:03}")
            source.changed(repo, etag=None)
            for _ in source.pages(repo, since=None):
                pass
        early = sum(entry.status in (403, 429) for entry in forge.requests.entries)
    tell(f"requests while a limit says wait ({len(slept)} waits)", str(early), wanted="0",
         met=early == 0 and len(slept) > 0)  # fmt: skip


def measure_archive(scratch: Path) -> None:
    """Hints of an hour against a bare gunzip + orjson loop over the same file."""
    path = scratch / "2025-11-01-5.json.gz"
    with gzip.open(path, "wb", compresslevel=6) as packed:
        for number in range(EVENTS):
            packed.write(_event(number))
    ours_s = _seconds(lambda: sum(1 for _ in hints_of(_pieces(path))))
    with gzip.open(path) as lines:
        bare_s = _seconds(lambda: sum(1 for _ in map(orjson.loads, lines)))
    ratio = bare_s / ours_s
    tell("GH Archive events a second / bare gunzip + orjson", f"{ratio:.2f}", wanted=">= 0.5",
         met=ratio >= 0.5)  # fmt: skip
    print(f"  ({EVENTS / ours_s:,.0f} events/s)")


def _event(number: int) -> bytes:
    kinds = itertools.cycle(("PushEvent", "PullRequestEvent", "IssueCommentEvent", "WatchEvent"))
    kind = next(itertools.islice(kinds, number % 4, None))
    action = "merged" if number % 12 == 1 else "opened"
    event = {
        "id": str(number),
        "type": kind,
        "actor": {"id": number, "login": f"user{number}", "url": "https://api.github.com/users/x"},
        "repo": {"id": number % 999, "name": f"o/r{number % 999}", "url": "https://x"},
        "payload": {
            "action": action,
            "number": number,
            "pull_request": {"id": number, "number": number, "url": "https://x" * 8},
            "comment": {"body": f"Text {number} " * 20},
        },
        "public": True,
        "created_at": "2025-11-01T05:06:07Z",
    }
    return json.dumps(event, separators=(",", ":")).encode() + b"\n"


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as packed:
        while piece := packed.read(1 << 18):
            yield piece


def cpu_s() -> float:
    """Processor seconds of this process and of its ended children (git; not the forge) so far."""
    own, ended = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime


def _seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def peak_mib() -> float:
    """Of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class GitRequests(RequestLog):
    """A log that keeps what git asked for, to be asked again by a bare loop."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[ForgeRequest] = []

    def add(self, *args: Any, **kwargs: Any) -> None:
        """See RequestLog."""
        super().add(*args, **kwargs)
        self.kept += [part for part in args if isinstance(part, ForgeRequest) and is_git(part)]


@contextmanager
def forge_process(
    folder: Path, repositories: int, pulls: int
) -> Iterator[tuple[str, str, Callable[[], Sequence[Request]]]]:
    """A forge of that size in another process: base URL, token, and what git has asked so far."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=_serve, args=(folder, repositories, pulls, theirs))
    child.start()

    def of_git() -> Sequence[Request]:
        ours.send("git")
        return [_again(base_url, request) for request in ours.recv()]

    try:
        base_url, token = ours.recv()
        yield base_url, token, of_git
    finally:
        ours.send("stop")
        child.join(30)


def _again(base_url: str, noted: ForgeRequest) -> Request:
    """The request as it was sent; httpx says itself where to and how long."""
    query = f"?{noted.query_string}" if noted.query_string else ""
    own = ("host", "content-length", "transfer-encoding", "connection", "expect")
    return Request(
        method=noted.method,
        url=f"{base_url}{noted.path}{query}",
        headers={name: value for name, value in noted.headers.items() if name not in own},
        body=noted.body,
    )


def _serve(folder: Path, repositories: int, pulls: int, pipe: Connection) -> None:
    data = synthetic(folder, repositories=repositories, pulls=pulls)
    plenty = {"core": 10**6, "graphql": 10**6}
    log = GitRequests()
    with serve(data, limits=plenty, requests=log) as forge:
        pipe.send((forge.base_url, forge.token))
        while pipe.recv() == "git":
            pipe.send(list(log.kept))


if __name__ == "__main__":
    main(sys.argv[1:])
