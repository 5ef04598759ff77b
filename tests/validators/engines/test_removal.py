"""Removals go on in the background: few at a time, none forgotten, failures told once."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from validators.engines.removal import AT_ONCE, Removals
from validators.errors import EngineUnavailableError


def test_who_leaves_does_not_wait_until_there_are_too_many() -> None:
    removals = Removals()
    go_on = threading.Event()
    seen: list[bool] = []
    for _ in range(AT_ONCE):
        removals.begin(lambda: seen.append(go_on.wait()))  # would hang if it waited
    assert not seen
    assert not removals._room.acquire(blocking=False)  # whoever is next waits here
    with ThreadPoolExecutor(AT_ONCE) as others:
        more = [others.submit(removals.begin, lambda: seen.append(go_on.is_set())) for _ in "ab"]
        go_on.set()
        for each in more:
            each.result()
    removals.close()
    assert seen == [True] * (AT_ONCE + 2)


def test_settling_waits_for_all_that_are_under_way() -> None:
    removals = Removals()
    go_on, gone = threading.Event(), threading.Event()

    def removal() -> None:
        go_on.wait()
        gone.set()

    removals.begin(removal)
    with ThreadPoolExecutor(1) as other:
        settled = other.submit(removals.settle)
        go_on.set()
        settled.result()
    assert gone.is_set()
    removals.close()


def test_a_failure_is_told_once_and_makes_room() -> None:
    removals = Removals()
    for _ in range(2 * AT_ONCE):
        removals.begin(fail)
    removals.settle()
    with pytest.raises(EngineUnavailableError, match="failed"):
        removals.check()
    removals.check()
    removals.close()


def test_what_is_left_after_the_end_is_removed_at_once() -> None:
    removals = Removals()
    removals.close()
    with pytest.raises(EngineUnavailableError, match="failed"):
        removals.begin(fail)


def refused(_: threading.Thread) -> None:
    """As on a machine whose limit of processes is reached."""
    raise RuntimeError("can't start new thread")


def test_where_no_thread_is_left_each_is_done_at_once_and_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threading.Thread, "start", refused)
    removals = Removals()
    done: list[int] = []
    for number in range(2 * AT_ONCE):
        removals.begin(partial(done.append, number))
        assert done == list(range(number + 1))
    removals.settle()
    removals.begin(fail)
    with pytest.raises(EngineUnavailableError, match="failed"):
        removals.check()
    removals.close()
    assert done == list(range(2 * AT_ONCE))


def test_what_a_lack_of_threads_left_is_not_done_again_by_a_later_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pool would have kept it in its queue."""
    removals, done = Removals(), list[str]()
    with monkeypatch.context() as lack:
        lack.setattr(threading.Thread, "start", refused)
        removals.begin(partial(done.append, "first"))
    removals.begin(partial(done.append, "second"))
    removals.close()
    assert done == ["first", "second"]


def fail() -> None:
    """A removal that the engine refuses."""
    raise EngineUnavailableError("The container engine failed to remove a container: busy.")


NEVER = """
import threading
from validators.engines.removal import Removals

Removals().begin(threading.Event().wait)
"""


def test_the_end_of_the_program_waits_for_no_engine_that_is_silent() -> None:
    subprocess.run([sys.executable, "-c", NEVER], timeout=50, check=True)
