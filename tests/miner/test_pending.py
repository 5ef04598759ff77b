"""What is not back from an executor: it comes when it is done, or when its time is over."""

from concurrent.futures import BrokenExecutor, Future

import pytest

from miner.pending import Pending


def test_what_is_done_comes_with_what_it_was_about() -> None:
    pending = Pending[str, int](within_s=60)
    first, second = Future[int](), Future[int]()
    pending.add("first", first)
    pending.add("second", second)
    second.set_result(2)
    assert pending.come() == (("second", second),)
    assert len(pending) == 1


def test_what_is_late_is_cancelled_and_comes_as_failed() -> None:
    pending = Pending[str, int](within_s=0)
    lost = Future[int]()
    pending.add("lost", lost)
    ((item, given_up),) = pending.come()
    assert item == "lost"
    assert lost.cancelled()
    with pytest.raises(BrokenExecutor, match="no result within 0 s"):
        given_up.result()
    assert not pending


def test_nothing_is_waited_for_when_nothing_is_pending() -> None:
    assert not Pending[str, int](within_s=60).come()


def test_what_is_not_begun_can_be_called_off() -> None:
    pending = Pending[str, int](within_s=60)
    future = Future[int]()
    pending.add("one", future)
    pending.cancel()
    assert future.cancelled()
