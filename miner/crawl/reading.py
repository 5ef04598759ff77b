"""What is read of one repository: what is new, then what is missing further back."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from miner.crawl.depth import OVERLAP, Marks, lacks
from miner.crawl.keeping import Batch, Errand
from miner.crawl.paging import Trail, batches, newest_of, placeless
from miner.crawl.source import Page, Source, Told
from miner.model import EVER, Depth, Place, Repo
from miner.progress import Progress
from validators.plural import counted


class Places(Marks, Protocol):
    """How far a repository was read, and where the last reading stopped."""

    def place(self, repo: Repo) -> Place | None:
        """Where a crawl that was not completed stopped; None after a complete one."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Asks a source, and hands over to an errand what it tells."""

    marks: Places
    source: Source
    progress: Progress
    what: str  # the work that progress is told of

    def is_unread(self, repo: Repo, since: datetime | None) -> bool:
        """Is there something to read though nothing moved?

        What an ended crawl left, or what an earlier, later `since` left out.
        """
        return self.marks.place(repo) is not None or lacks(self.marks, repo, since=since)

    def start(self, repo: Repo, since: datetime | None) -> datetime | None:
        """Where the reading of what is new ends."""
        watermark = self.marks.watermark(repo)
        if watermark is not None:
            return watermark - OVERLAP
        empty_since = self.marks.depth(repo).back_to  # an earlier crawl found nothing so late
        return min(filter(None, (since, empty_since)), default=None)

    def tell_all(
        self, errand: Errand, start: datetime | None, since: datetime | None
    ) -> tuple[datetime | None, Depth | None]:
        """Hand over what is new, then what is missing further back.

        The newest update, and how far back the repository is read then; None: as far as before.
        """
        repo = errand.repo
        watermark, before = self.marks.watermark(repo), self.marks.depth(repo)
        is_lacking = lacks(self.marks, repo, since=since)
        trail = Trail()
        newest = self._tell(errand, start, trail)
        if watermark is None:
            return newest, Depth(back_to=start or EVER, after=trail.last or before.after)
        if not is_lacking or errand.failed:
            return newest, None
        trail = Trail(before.after)
        rest = trail.along(self.source.pages(repo, since=since, after=before.after))
        for items, after in self._read(repo, rest):
            depth = replace(before, after=after) if after else None
            if not errand.put(Batch(items, depth=depth)):
                break
        return newest, Depth(back_to=since, after=trail.last)

    def _tell(self, errand: Errand, start: datetime | None, trail: Trail) -> datetime | None:
        """Hand over everything since `start`; the newest update.

        A crawl that was not completed goes on where it stopped, after what was updated since.
        """
        place = self.marks.place(errand.repo)
        if place is None:
            pages = self.source.pages(errand.repo, since=start)
            return self._hand_over(errand, trail.along(pages))
        since_then = place.newest - OVERLAP
        top = since_then if start is None else max(start, since_then)
        moved = placeless(self.source.pages(errand.repo, since=top))
        newest = max(self._hand_over(errand, moved) or place.newest, place.newest)
        if errand.failed:
            return newest
        trail.last = place.after
        rest = self.source.pages(errand.repo, since=start, after=place.after)
        return self._hand_over(errand, trail.along(rest), newest=newest)

    def _hand_over(
        self, errand: Errand, pages: Iterable[Page], *, newest: datetime | None = None
    ) -> datetime | None:
        """Hand over all pages; the newest update, which is their first one unless it is given."""
        for items, after in self._read(errand.repo, pages):
            newest = newest or newest_of(items)
            place = Place(after=after, newest=newest) if after and newest else None
            if not errand.put(Batch(items, place)):
                break
        return newest

    def _read(
        self, repo: Repo, pages: Iterable[Page]
    ) -> Iterator[tuple[Sequence[Told], str | None]]:
        """Batches, each of them told."""
        read = 0
        for items, after in batches(pages):
            read += len(items)
            self.progress.advance(self.what, f"{repo.name}: {counted(read, 'pull')} read", by=0)
            yield items, after
