"""A container that is a folder of this machine: our own shell lines run as they are."""

# ruff: noqa: ARG002 - a fake takes what the Protocol hands it

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.engine import FakeContainer, Script
from validators.model import Outcome


@dataclass(slots=True)
class LocalContainer(FakeContainer):
    """`folder` is the tree."""

    script: Script
    folder: Path = Path()

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
        done = subprocess.run(
            command,
            cwd=self.folder,
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return Outcome(exit_code=done.returncode, output=done.stdout)
