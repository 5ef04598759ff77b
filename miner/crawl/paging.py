"""Pages of pulls on their way to the store: together, and with the place where one can go on."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from miner.crawl.source import Fetched, Page, Told
from miner.errors import MinerError

PULLS_A_FETCH = 100
"""Pulls whose refs are fetched together, or a page more: a night's pulls at once, a first crawl in
steps, and after each of them the place is kept."""


@dataclass(slots=True)
class Trail:
    """The last place on the way back from which one can go on."""

    last: str | None = None

    def along(self, pages: Iterable[Page]) -> Iterator[Page]:
        """The same pages."""
        for page in pages:
            self.last = page.after or self.last
            yield page


def newest_of(items: Sequence[Told]) -> datetime | None:
    """The first pull's update: what moves while we page is newer, and found next time."""
    return next((item.pull.updated_at for item in items if isinstance(item, Fetched)), None)


def placeless(pages: Iterable[Page]) -> Iterator[Page]:
    """Pages after which one cannot go on: what comes behind them is not all that is missing."""
    for page in pages:
        yield Page(items=page.items)


def batches(pages: Iterable[Page]) -> Iterator[tuple[Sequence[Told], str | None]]:
    """Pages together, until they are worth a fetch, with the last one's `after`.

    What was told before a failure is paid for: it comes too.
    """
    items: list[Told] = []
    after: str | None = None
    try:
        for page in pages:
            items += page.items
            after = page.after
            if len(items) >= PULLS_A_FETCH:
                yield items, after
                items = []
    except MinerError:
        if items:
            yield items, after
        raise
    if items:
        yield items, after
