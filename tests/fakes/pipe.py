"""A report pipe on this machine: what the engine does for a container, for tests without one."""

import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from validators.languages.base import ReportReader
from validators.model import TestResult
from validators.transcript import Event, Transcript, authentic, events, read_transcript

NONCE = "0123456789abcdef"
REPORTER = Path(__file__).parents[2] / "validators" / "reporter.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """One local run: the process's exit code and output, and what came through the pipe."""

    exit_code: int
    output: str
    raw: bytes

    @property
    def records(self) -> Sequence[Event]:
        return events(authentic(self.raw, NONCE)[0])

    @property
    def transcript(self) -> Transcript:
        return read_transcript(self.records)

    def results(self, reader: ReportReader) -> Mapping[str, TestResult]:
        return reader(self.records)

    def statuses(self, reader: ReportReader) -> Mapping[str, tuple[str, str]]:
        """Test id → (status, phase)."""
        return {key: (str(r.status), r.phase) for key, r in self.results(reader).items()}


def _drain(pipe: Path, into: list[bytes]) -> None:
    with pipe.open("rb") as reading:
        while piece := reading.read1(65536):
            into.append(piece)


def run_reported(
    folder: Path,
    *arguments: str,
    runner: str = "pytest",
    python: str = sys.executable,
    test_timeout_s: float = 0.0,
    shuffle_seed: int = 0,
    timeout_s: float = 50.0,
    env: Mapping[str, str] | None = None,
) -> Reported:
    """Run `arguments` in `folder` as a run in a container would, with the reporter loaded."""
    kit = folder.parent / f"{folder.name}-kit"
    kit.mkdir()
    (kit / "miner_reporter.py").write_bytes(REPORTER.read_bytes())
    pipe = kit / "report"
    os.mkfifo(pipe)
    pieces: list[bytes] = []
    reader = threading.Thread(target=_drain, args=(pipe, pieces))
    reader.start()
    keep_open = os.open(pipe, os.O_WRONLY)  # so that the reader sees no end before the run's end
    command: Sequence[str] = (
        [python, "-m", "pytest", "-p", "miner_reporter", *arguments]
        if runner == "pytest"
        else [python, str(kit / "miner_reporter.py"), "watch", *arguments]
    )
    clean = {"PATH": os.environ["PATH"], "PYTHONPATH": str(kit), "PYTHONHASHSEED": "0"}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**clean, **(env or {})},
            input=f"miner-report {NONCE} {pipe} {test_timeout_s} {shuffle_seed}\n".encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout_s,
            check=False,
        )
    finally:
        os.close(keep_open)
        reader.join(timeout=10)
    output = done.stdout.decode("utf-8", "replace")
    return Reported(exit_code=done.returncode, output=output, raw=b"".join(pieces))
