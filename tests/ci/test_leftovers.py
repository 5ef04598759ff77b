"""A failed test that leaves something running ends the run all the same, and red."""

import subprocess
import sys
from pathlib import Path

import pytest

LEAVES = {
    "a process": """
import multiprocessing, time

def test_it():
    multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,)).start()
""",
    "a thread": """
import threading

def test_it():
    threading.Thread(target=threading.Event().wait).start()
""",
}
TELLS = {"a process": "1 processes were left running", "a thread": "Timeout"}


@pytest.mark.parametrize("what", LEAVES)
def test_what_is_left_running_neither_stays_nor_goes_untold(what: str, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(LEAVES[what])
    (tmp_path / "conftest.py").write_text(
        "from tests import leftovers\n"
        "from tests.leftovers import no_process_left, pytest_unconfigure\n"
        "leftovers.END_S = 1\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    run = subprocess.run(
        [*command, "--rootdir", str(tmp_path), "-c", "/dev/null"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert run.returncode == 1
    assert TELLS[what] in run.stdout + run.stderr
