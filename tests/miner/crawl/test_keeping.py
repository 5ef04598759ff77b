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
    """Answers nothing until it is interrupted."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.interrupted = threading.Event(), threading.Event()

    def interrupt(self) -> None:
        """Whoever waits sees its end."""
        self.interrupted.set()

    def put(self, _repo: Repo, _items: Sequence[Told], *, stopped: Callable[[], bool]) -> int:  # noqa: ARG002
        """As a shelf's, which asks its store."""
        self.asked.set()
        assert self.interrupted.wait(20)
        raise RetryableError("The database cannot be reached.")


def test_ctrl_c_does_not_wait_for_a_database_that_is_silent() -> None:
    store = Silent()
    keeper = Keeper(store, shelf=cast("Shelf", store), now=lambda: NOW)
    keeper.END_S = 0

    def crawl() -> None:
        with keeper:
            errand, _ = keeper.begin(repo())
            errand.put(Batch(items=()))
            assert store.asked.wait(20)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        crawl()
    assert store.interrupted.is_set()
