"""Only so many suites at a time: whatever happens to one, no turn is lost, nobody waits for ever.

Threads meet by events; where one would wait for ever, its test fails.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fakes.turns import WAIT_S, During, Turns, graded, verified
from validators.errors import EngineUnavailableError
from validators.model import Grade, Verdict

Work = Callable[[Turns, During], Verdict | Grade]
GONE = EngineUnavailableError("The container engine is gone: start it, then try again.")

each_work = pytest.mark.parametrize("work", [verified, graded])


def good(found: Verdict | Grade) -> bool:
    return found.accepted if isinstance(found, Verdict) else found.resolved


@each_work
@pytest.mark.parametrize("error", [GONE, KeyError("ours"), KeyboardInterrupt(), SystemExit(1)])
def test_whatever_ends_the_tests_gives_the_turn_back(work: Work, error: BaseException) -> None:
    def fail() -> None:
        raise error

    turns = Turns(1)
    with pytest.raises(type(error)):
        work(turns, fail)
    assert turns.free() == 1
    assert good(work(turns, lambda: None))


@each_work
def test_a_failure_of_a_later_suite_gives_its_turn_back_too(work: Work) -> None:
    for number in range(1, 6):
        left = [number]

        def fail(left: list[int] = left) -> None:
            left[0] -= 1
            if not left[0]:
                raise GONE

        turns = Turns(2)
        if work is graded and number > 1:
            assert good(work(turns, fail))
        else:
            with pytest.raises(EngineUnavailableError):
                work(turns, fail)
        assert turns.free() == 2


@each_work
@pytest.mark.parametrize(("number", "workers"), [(1, 2), (2, 3), (3, 8), (1, 8)])
def test_many_share_the_turns_and_all_come_to_their_end(
    work: Work, number: int, workers: int
) -> None:
    """Every third suite is ended by its engine."""
    turns, lock, suites = Turns(number), threading.Lock(), [0]

    def sometimes() -> None:
        with lock:
            suites[0] += 1
            bad = suites[0] % 3 == 0
        if bad:
            raise GONE

    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(work, turns, sometimes) for _ in range(24)]
    failed = [future for future in futures if future.exception() is not None]
    assert {type(future.exception()) for future in failed} == {EngineUnavailableError}
    assert all(good(future.result()) for future in futures if future not in failed)
    assert len(failed) == suites[0] // 3
    assert turns.free() == number


@each_work
def test_who_waits_for_a_turn_is_ended_with_who_has_it_when_the_engine_closes(work: Work) -> None:
    closed, turns = threading.Event(), Turns(1)

    def until_closed() -> None:
        assert closed.wait(WAIT_S)
        raise GONE

    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(work, turns, until_closed) for _ in range(2)]
        for _ in futures:
            assert turns.asked.acquire(timeout=WAIT_S)
        assert not any(future.done() for future in futures)
        closed.set()
        for future in futures:
            with pytest.raises(EngineUnavailableError):
                future.result(timeout=WAIT_S)
    assert turns.free() == 1


@each_work
def test_a_task_that_is_cancelled_in_the_queue_takes_no_turn(work: Work) -> None:
    go, turns = threading.Event(), Turns(1)

    def held() -> None:
        assert go.wait(WAIT_S)

    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(work, turns, held) for _ in range(2)]
        for _ in running:
            assert turns.asked.acquire(timeout=WAIT_S)
        queued = pool.submit(work, turns, held)
        assert queued.cancel()
        go.set()
        assert all(good(future.result(timeout=WAIT_S)) for future in running)
    assert turns.free() == 1
