"""Storing beside asking: the end does not wait for a database that is silent."""

import threading
from collections.abc import Callable, Sequence
from typing import cast

import pytest

from miner.crawl.keeping import Batch, Keeper
from miner.crawl.source import Told
from miner.crawl.storing import Shelf
from miner.errors import RetryableError
from miner.model import Repo
from tests.miner.crawl.memory_store import MemoryStore
from tests.miner.store.samples import NOW, repo


class Silent(MemoryStore):
    """Answers nothing until it is interrupted, and is asked anew so many times."""

    def __init__(self, tries: int) -> None:
        super().__init__()
        self.tries = tries
        self.asked, self.interrupted = threading.Event(), threading.Semaphore(0)

    def interrupt(self) -> None:
        """Whoever waits sees its end."""
        self.interrupted.release()

    def put(self, _repo: Repo, _items: Sequence[Told], *, stopped: Callable[[], bool]) -> int:  # noqa: ARG002
        """As a shelf's, which asks its store."""
        self.asked.set()
        while self.tries and self.interrupted.acquire(timeout=10):
            self.tries -= 1
        raise RetryableError("The database cannot be reached.")


@pytest.mark.parametrize("tries", [1, 2, 5])
def test_ctrl_c_does_not_wait_for_a_database_that_is_silent(tries: int) -> None:
    store = Silent(tries)
    keeper = Keeper(store, shelf=cast("Shelf", store), now=lambda: NOW)
    keeper.END_S = 0.01

    def crawl() -> None:
        with keeper:
            errand, _ = keeper.begin(repo())
            errand.put(Batch(items=()))
            assert store.asked.wait(20)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        crawl()
    assert store.tries == 0
