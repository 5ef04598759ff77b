"""`miner demo serve`: what it prints, and that ending it is no trouble."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from miner.cli.demo import _listed
from miner.demo import made_forge

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_served_forge_says_little_and_ends_well(tmp_path: Path, number: signal.Signals) -> None:
    made_forge(tmp_path / "made")
    folder = tmp_path / "made"
    words = ["demo", "serve", "--git", str(folder / "git"), "--pulls", str(folder / "pulls.jsonl")]
    with subprocess.Popen(
        [sys.executable, "-m", "miner", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as serving:
        assert serving.stderr is not None
        assert serving.stderr.readline() == "serving; Ctrl-C ends it\n"
        serving.send_signal(number)
        out, err = serving.communicate(timeout=100)
    assert serving.returncode == 0
    assert err == "The forge ends.\n"
    export, names = out.splitlines()
    assert export.startswith("export MINER_GITHUB_URL=http://127.0.0.1:")
    assert names == "# 2 repositories: demo/ledger, demo/tally"


def test_of_many_repositories_the_first_are_named() -> None:
    said = _listed([f"o/r{number}" for number in range(99)])
    assert said.startswith("99 repositories: o/r0, o/r1, ")
    assert said.endswith("o/r19 and 79 more")
