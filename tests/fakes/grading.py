"""A scripted container for one grade: what each of the grader's own scripts says.

By default all goes well: the tests are put back, nothing guarded is changed, the report is whole.
"""

# ruff: noqa: ARG002 - a fake takes what the Protocol hands it

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from tests.fakes.engine import DONE, FakeContainer, FakeEngine, FakeTalk, Script
from validators.grade_scripts import PATCHING, SEALED
from validators.model import Image, Limits, Outcome


def prepared(*changes: tuple[str, str], final_paths: Sequence[str] = (), added: str = "") -> bytes:
    """What prepare.sh prints: (git's status, path) of each change; MARKER stands for the marker.

    `added` is the diff of what the model's tree adds.
    """
    told = [word for change in changes for word in change]
    listed = [*told, "MARKER", *final_paths, "MARKER", "pytest", "MARKER", "", "MARKER", ""]
    listed += [*["MARKER"] * 4, ""]
    fields = ["MARKER", "model", "final", str(len(added)), added + "\0".join(listed)]
    return f"\0{PATCHING}\x001\napplied plain\n\0".encode() + "\0".join(fields).encode()


def seals(code: Mapping[str, tuple[str, int]], *, data: str = "data") -> bytes:
    """What `seal` prints: path → (content, time of change)."""
    digests = "".join(f"{content:<64}  {path}\0" for path, (content, _) in code.items())
    marks = "".join(f"{time}|7|{time}|{path}\0" for path, (_, time) in code.items())
    mark = f"{SEALED}\0"
    return f"{mark}{digests}{mark}{marks}{mark}{data}  -\n{mark}".encode()


GUARDED = {"tests/test_a.py": ("as it was", 1)}
SEALS = Outcome(exit_code=0, output=seals(GUARDED))


@dataclass(slots=True, kw_only=True)
class GradingContainer(FakeContainer):
    """`looks` are the answers to looking at what is guarded, in order; the last one stays.

    `layouts` the same of what lies in the tree; `blobs` by tree and path; `forged` goes into the
    report; `looked` is what was asked for.
    """

    script: Script = field(default_factory=Script)
    prepare: Outcome = field(
        default_factory=lambda: Outcome(
            exit_code=0, output=prepared(final_paths=("calc.py", *GUARDED))
        )
    )
    restore: Outcome = SEALS
    looks: list[Outcome] = field(default_factory=lambda: [SEALS])
    layouts: list[Outcome] = field(default_factory=list)
    blobs: Mapping[tuple[str, str], Outcome] = field(default_factory=dict)
    written: Outcome = DONE
    built: Outcome = DONE
    removed: Outcome = DONE
    forged: int = 0
    orders: bytes = b""
    looked: list[bytes] = field(default_factory=list)

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
        script = command[2] if command[1] == "-c" else command[1]
        if script.endswith("blob.sh"):
            return self.blobs[command[2], command[3]]
        if script.endswith("}\nseal"):
            self.looked.append(stdin or b"")
            return self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        if "kill" in script or script.endswith(("}\nclose", "}\nlay")):
            return DONE
        if "-printf" in script:
            return self.layouts.pop(0)
        if "rm -rf" in script:
            return self.removed
        return self.built

    def begin(
        self, command: Sequence[str], *, env: Mapping[str, str] | None = None, workdir: str
    ) -> "GradingTalk":
        return GradingTalk(self, command)

    def put(self, path: str, tar: bytes, *, root: bool = False) -> Outcome:
        self.files.setdefault(path, []).append(tar)
        return self.written

    def report(self) -> bytes:
        lines = [f"\n{self.nonce} . {json.dumps(record)}\n" for record in self.script.records]
        return "".join([*lines, *["\nnonce . {}\n"] * self.forged]).encode()


@dataclass(slots=True)
class GradingTalk(FakeTalk):
    """Prepares, restores, tests."""

    container: GradingContainer
    parts: int = 0

    def until(
        self, mark: bytes, *, stdin: bytes, timeout_s: float, output_mb: int | None = None
    ) -> Outcome:
        self.parts += 1
        if self.parts > 1:
            self.container.orders = stdin
            return self.container.restore
        outcome, marker = self.container.prepare, mark.removesuffix(b"-end")
        return replace(outcome, output=outcome.output.replace(b"MARKER", marker))


@dataclass(slots=True)
class GradingEngine(FakeEngine):
    """Runs one container."""

    container: GradingContainer = field(default_factory=GradingContainer)

    @contextmanager
    def run(
        self,
        image: Image,
        limits: Limits,
        *,
        labels: Mapping[str, str] | None = None,
        kit: bytes = b"",
    ) -> Iterator[GradingContainer]:
        self.open += 1
        try:
            yield self.container
        finally:
            self.open -= 1
