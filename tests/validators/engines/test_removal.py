"""Removals go on in the background: few at a time, none forgotten, failures told once."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import pytest
from docker.api.client import APIClient
from requests.exceptions import ReadTimeout

from validators.engines import DockerEngine
from validators.engines.confinement import Habits
from validators.engines.container import DockerContainer
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


def fail() -> None:
    """A removal that the engine refuses."""
    raise EngineUnavailableError("The container engine failed to remove a container: busy.")


class Silent:
    """An engine's API that answers nothing; `waited` is how long each removal did, in seconds."""

    def __init__(self) -> None:
        self.timeout = DockerEngine.ANSWER_S
        self.waited: list[float] = []

    def remove_container(self, _: str, **__: object) -> None:
        self.waited.append(self.timeout)
        raise ReadTimeout

    def close(self) -> None:
        """Nothing is open."""


class Left:
    """A container that is still there."""

    def give_up(self) -> None:
        """Nothing runs in it."""


def test_beside_a_silent_engine_many_containers_share_the_time_for_closing() -> None:
    api = Silent()
    engine = DockerEngine(cast("APIClient", api), url="", name="docker", habits=Habits())
    engine.CLOSING_S = 0
    engine._live.update({name: cast("DockerContainer", Left()) for name in "abc"})
    engine.close()
    assert api.waited == [1, 1, 1]
