"""How many pulls a page of one repository may hold: halved when heavy, grown slowly."""

import logging

from miner.errors import SourceUnavailableError

FIRST_PAGE = 10
"""Pulls a page to begin with: 2 points. GitHub ends queries after 10 s, so pages adapt."""

LARGEST_PAGE = 25
GOOD_PAGES_TO_GROW = 4
TRIES_AT_ONE = 3

_log = logging.getLogger(__name__)


class PageSize:
    """`learned`: a size that an earlier crawl had to come down to, else None."""

    def __init__(self, learned: int | None = None) -> None:
        self.pulls = learned or FIRST_PAGE
        self.learned = learned
        self._good = 0
        self._largest = LARGEST_PAGE
        self._tries_at_one = 0

    def shrink(self, name: str) -> None:
        """Halve; SourceUnavailableError when a single pull is too heavy again and again."""
        self._good = 0
        if self.pulls == 1:
            self._tries_at_one += 1
            if self._tries_at_one >= TRIES_AT_ONE:
                raise SourceUnavailableError(
                    f"GitHub cannot answer for a single pull of {name} in time; try again later."
                )
        self._largest = max(1, self.pulls - 1)
        self.pulls = max(1, self.pulls // 2)
        self.learned = self.pulls
        _log.info("pages of %s hold %d pulls from now on", name, self.pulls)

    def grow(self) -> None:
        """After some good pages, one more; in this crawl never again what was too heavy."""
        self._tries_at_one = 0
        self._good += 1
        if self._good >= GOOD_PAGES_TO_GROW:
            self._good = 0
            self.pulls = min(self._largest, self.pulls + max(1, self.pulls // 4))
            if self.learned is not None:
                self.learned = self.pulls if self.pulls < FIRST_PAGE else None
