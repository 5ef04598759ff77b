"""What a test leaves running is named at once, and never keeps a run from ending.

The interpreter waits at its end for children that `multiprocessing` started and for threads: one
failed test that had not ended its own would hold a gate up for ever.
"""

import faulthandler
import multiprocessing
from collections.abc import Iterator

import pytest

END_S = 60
"""How long the interpreter may take to end once all is told."""


@pytest.fixture(autouse=True)
def no_process_left() -> Iterator[None]:
    """A test ends what it started; what it left is killed, and is an error of that test."""
    yield
    left = multiprocessing.active_children()
    for process in left:
        process.kill()
        process.join()
    assert not left, f"{len(left)} processes were left running"


def pytest_unconfigure() -> None:
    """Whatever still runs after `END_S` is shown by its stack, and the run ends red."""
    faulthandler.dump_traceback_later(END_S, exit=True, file=2)
