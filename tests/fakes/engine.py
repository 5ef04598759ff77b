"""A scripted container: says what a run's report and outcome are, without any container.

Only `run` is scripted: each container takes the next `Script`. What was asked of it is kept.
"""

# ruff: noqa: ARG002 - a fake takes what the Protocol hands it

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from validators.engine import KIT, NotPulled
from validators.errors import EngineUnavailableError
from validators.model import Cache, Image, Limits, Outcome, StoredImage

DONE = Outcome(exit_code=0, output=b"")


def passing(*ids: str) -> list[Mapping[str, object]]:
    """The records of a whole pytest run in which these tests passed."""
    return events(dict.fromkeys(ids, "passed"))


def events(outcomes: Mapping[str, str], *, status: int | None = None) -> list[Mapping[str, object]]:
    """The records of a whole pytest run: test id → passed, failed, skipped or error (in setup)."""
    records: list[Mapping[str, object]] = [{"event": "begin", "runner": "pytest"}]
    records.append({"event": "items", "ids": list(outcomes)})
    records.append({"event": "collected", "count": len(outcomes)})
    for identifier, outcome in outcomes.items():
        records.append({"event": "start", "id": identifier})
        in_setup = outcome in {"error", "skipped"}
        first = {"error": "failed"}.get(outcome, outcome) if in_setup else "passed"
        phases = [("setup", first), ("teardown", "passed")]
        if not in_setup:
            phases.insert(1, ("call", outcome))
        records += [
            {"event": "phase", "id": identifier, "when": when, "outcome": result}
            for when, result in phases
        ]
    bad = any(outcome in {"failed", "error"} for outcome in outcomes.values())
    records.append({"event": "end", "status": int(bad) if status is None else status})
    return records


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What happens in one container. The test command's exit code follows the report's end.

    `during` is called while the tests run.
    """

    records: Sequence[Mapping[str, object]] = ()
    prepare: Outcome = DONE
    build: Outcome = DONE
    test: Outcome | None = None
    packed: bytes | None = None
    during: Callable[[], object] = lambda: None

    @property
    def outcome(self) -> Outcome:
        if self.test is not None:
            return self.test
        ends = [record["status"] for record in self.records if record["event"] == "end"]
        return Outcome(exit_code=int(str(ends[-1])) if ends else 137, output=b"")


@dataclass(slots=True)
class FakeContainer:
    """Plays one Script."""

    script: Script
    commands: list[Sequence[str]] = field(default_factory=list)
    files: dict[str, list[bytes]] = field(default_factory=dict)
    nonce: str = ""

    def exec(
        self,
        command: Sequence[str],
        *,
        timeout_s: float,
        root: bool = False,
        env: Mapping[str, str] | None = None,
        workdir: str | None = None,
        stdin: bytes | None = None,
        output_mb: int | None = None,
    ) -> Outcome:
        self.commands.append(command)
        return self.script.build

    def begin(
        self, command: Sequence[str], *, env: Mapping[str, str] | None = None, workdir: str
    ) -> "FakeTalk":
        return FakeTalk(self, command)

    def put(self, path: str, tar: bytes, *, root: bool = False) -> Outcome:
        self.files.setdefault(path, []).append(tar)
        return DONE

    def get(self, path: str, *, limit_mb: int = 64, only: str = "*") -> bytes | None:
        return self.script.packed

    def report(self) -> bytes:
        lines = [f"\n{self.nonce} . {json.dumps(record)}\n" for record in self.script.records]
        return "".join(lines).encode()

    def commit(self, tag: str, *, labels: Mapping[str, str]) -> Image:
        raise NotImplementedError


@dataclass(slots=True)
class FakeTalk:
    """The one command that prepares and then tests; what it was called with is kept when tests ran.

    Input that is a header tells the tests' nonce.
    """

    container: FakeContainer
    command: Sequence[str]

    def until(
        self, mark: bytes, *, stdin: bytes, timeout_s: float, output_mb: int | None = None
    ) -> Outcome:
        return self.container.script.prepare

    def end(self, *, stdin: bytes, timeout_s: float) -> Outcome:
        self.container.commands.append(self.command)
        self.container.nonce = stdin.split()[1].decode()
        self.container.script.during()
        return self.container.script.outcome


@dataclass(slots=True)
class FakeEngine:
    """Plays one Script a run, in order; when they are used up, the machinery has failed."""

    scripts: Sequence[Script]
    containers: list[FakeContainer] = field(default_factory=list)
    name: str = "scripted"
    open: int = 0
    most_open: int = 0
    played: int = 0
    pulled: Image | NotPulled = NotPulled.ABSENT
    pulls: list[str] = field(default_factory=list)

    @property
    def tested(self) -> list[FakeContainer]:
        """Those in which tests ran; one more may have been made ready and not used."""
        return [container for container in self.containers if container.nonce]

    @contextmanager
    def run(
        self,
        image: Image,
        limits: Limits,
        *,
        labels: Mapping[str, str] | None = None,
        kit: bytes = b"",
    ) -> Iterator[FakeContainer]:
        if self.played == len(self.scripts):
            raise EngineUnavailableError("the script has no more runs")
        container = FakeContainer(self.scripts[self.played], files={KIT: [kit]})
        self.played += 1
        self.containers.append(container)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            yield container
        finally:
            self.open -= 1
            if not container.nonce and container.script.prepare.ok and container.script.build.ok:
                self.played -= 1  # made ready ahead and not needed: its script is still to come

    @contextmanager
    def install(
        self,
        image: Image,
        limits: Limits,
        *,
        labels: Mapping[str, str] | None = None,
        cache: str | None = None,
        kit: bytes = b"",
    ) -> Iterator[FakeContainer]:
        raise NotImplementedError
        yield

    def find(self, tag: str) -> Image | None:
        return None

    def pull(self, reference: str) -> Image | NotPulled:
        self.pulls.append(reference)
        return self.pulled

    def import_root(self, tar: Path, *, tag: str, labels: Mapping[str, str]) -> Image:
        raise NotImplementedError

    def images(self, *, label: str) -> Sequence[StoredImage]:
        return ()

    def remove_image(self, image: Image) -> bool:
        return True

    def caches(self) -> Sequence[Cache]:
        return ()

    def remove_cache(self, cache: Cache) -> bool:
        return True

    def sweep(self) -> int:
        return 0

    def close(self) -> None:
        """Nothing is open."""
