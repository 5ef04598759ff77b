"""Work that an executor was given and has not given back, each piece with its deadline."""

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from time import monotonic
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Pending(Generic[Item, Result]):
    """Futures, and what each was about. A lost cluster accepts work without ever doing it: what is
    not back within `within_s` seconds is given up.
    """

    def __init__(self, *, within_s: float) -> None:
        self._within_s = within_s
        self._waiting: dict[Future[Result], tuple[Item, float]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, item: Item, future: Future[Result]) -> None:
        """Its time begins now."""
        self._waiting[future] = item, monotonic() + self._within_s

    def come(self) -> Sequence[tuple[Item, Future[Result]]]:
        """What is done next, waiting for one; nothing pending: nothing comes.

        What is late is cancelled, and comes as a future that failed with BrokenExecutor.
        """
        if not self._waiting:
            return ()
        nearest = min(deadline for _, deadline in self._waiting.values())
        left_s = max(nearest - monotonic(), 0)
        done, _ = wait(self._waiting, timeout=left_s, return_when=FIRST_COMPLETED)
        back = [(self._waiting.pop(future)[0], future) for future in done]
        return (*back, *self._given_up())

    def cancel(self) -> None:
        """Begin nothing more; what runs already runs on."""
        for future in self._waiting:
            future.cancel()

    def _given_up(self) -> Iterator[tuple[Item, Future[Result]]]:
        now = monotonic()
        for future, (item, deadline) in tuple(self._waiting.items()):
            if deadline <= now:
                del self._waiting[future]
                future.cancel()
                lost = Future[Result]()
                lost.set_exception(BrokenExecutor(f"no result within {self._within_s:.0f} s"))
                yield item, lost
