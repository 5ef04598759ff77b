"""An engine whose installs are scripted: what each step of an install says, without a container."""

# ruff: noqa: ARG002 - a fake takes what the Protocol hands it

import io
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tests.fakes.engine import DONE, FakeEngine
from validators.engine import Talk
from validators.model import Image, Limits, Outcome, StoredImage

Answer = Callable[[str], Outcome | None]
"""The shell line of a step → what it says; None: it succeeds."""


def silent(line: str) -> None:
    """Every step succeeds; also a progress that tells nobody."""


ENDED = Outcome(exit_code=0, output=b"\0\0\0pytest==8.0.0\n-e file:///testbed\n")
"""The last step of an install: its parts say nothing, but for the last, which lists packages."""

LOCK = "pytest==8.0.0 \\\n    --hash=sha256:00\n"


@dataclass(slots=True)
class FakeInstallContainer:
    """Answers each step; the lock is what `requirements.in` held, pinned."""

    answer: Answer
    younger: bytes = LOCK.encode()
    tools: bytes = b""
    lines: list[str] = field(default_factory=list)
    fed: dict[str, bytes] = field(default_factory=dict)  # shell line → its standard input
    files: dict[str, bytes] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    lock: bytes = LOCK.encode()

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
        self.lines.append(command[-1])
        self.fed[command[-1]] = stdin or b""
        if "pip compile" in command[-1] and command[-1].endswith(" -"):
            return self.answer(command[-1]) or Outcome(exit_code=0, output=self.tools)
        if "pip compile" in command[-1]:
            wanted = self.files["/tmp/miner/requirements.in"].decode()
            said = self.answer(f"{command[-1]}\n{wanted}")
            return said or DONE
        if "pip freeze" in command[-1]:
            return self.answer(command[-1]) or ENDED
        return self.answer(command[-1]) or DONE

    def put(self, path: str, tar: bytes, *, root: bool = False) -> Outcome:
        with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
            self.lines.append(" ".join([f"put {path}", *archive.getnames()]))
            for member in archive.getmembers():
                content = archive.extractfile(member)
                if content is not None:
                    self.files[f"{path}/{member.name}"] = content.read()
        return self.answer(self.lines[-1]) or DONE

    def begin(
        self, command: Sequence[str], *, env: Mapping[str, str] | None = None, workdir: str
    ) -> Talk:
        raise NotImplementedError

    def get(self, path: str, *, limit_mb: int = 64, only: str = "*") -> bytes | None:
        buffer = io.BytesIO()
        content = self.younger if path.endswith("younger.txt") else self.lock
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            member = tarfile.TarInfo(path.rpartition("/")[2])
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        return buffer.getvalue()

    def report(self) -> bytes:
        return b""

    def commit(self, tag: str, *, labels: Mapping[str, str]) -> Image:
        self.labels = labels
        return Image(digest=f"sha256:{tag}", tag=tag)


@dataclass(slots=True)
class InstallingEngine(FakeEngine):
    """Base images of every Python are there; installs answer by `answer`, runs by `scripts`.

    `younger` is the lock with what pytest needs a year younger, `tools` that of what builds.
    """

    answer: Answer = silent
    lock: bytes = LOCK.encode()
    younger: bytes = LOCK.encode()
    tools: bytes = b""
    cached: list[str | None] = field(default_factory=list)
    installs: list[FakeInstallContainer] = field(default_factory=list)
    made: dict[str, Image] = field(default_factory=dict)

    @contextmanager
    def install(  # type: ignore[override]  # its containers are of another script
        self,
        image: Image,
        limits: Limits,
        *,
        labels: Mapping[str, str] | None = None,
        cache: str | None = None,
        kit: bytes = b"",
    ) -> Iterator[FakeInstallContainer]:
        self.cached.append(cache)
        container = FakeInstallContainer(
            self.answer, lock=self.lock, younger=self.younger, tools=self.tools
        )
        self.installs.append(container)
        yield container
        if container.labels:
            key = container.labels["miner.environment"]
            tag = f"miner-environment:{key[:24]}"
            self.made[tag] = Image(digest=f"sha256:{tag}", tag=tag)

    def find(self, tag: str) -> Image | None:
        if tag.startswith("miner-base:"):
            return Image(digest=f"sha256:{tag}", tag=tag)
        return self.made.get(tag)

    def images(self, *, label: str) -> Sequence[StoredImage]:
        labels = {"miner.packages": "pytest==8.0.0"}
        made_at = datetime(2026, 1, 1, tzinfo=UTC)
        return [
            StoredImage(image=image, labels=labels, size_bytes=1, created_at=made_at)
            for image in self.made.values()
        ]
