"""What a source of merged pulls must do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from miner.model import PullRequest, Repo


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A pull as told (`base` unresolved, `diff` empty) and its raw payload."""

    pull: PullRequest
    raw: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A pull that the source told in a form we cannot read. `number` 0: not even that."""

    repo: str
    number: int
    error: str
    raw: bytes = field(repr=False)


Told = Fetched | Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Pulls that were told together. `after`: the source's own mark of where to go on once they
    are stored, as text; None after the last page, or where a source cannot go on."""

    items: Sequence[Told]
    after: str | None = None


class Source(Protocol):
    """One place where pulls are merged, e.g. GitHub or a GitHub Enterprise server."""

    @property
    def name(self) -> str:
        """Stored with every row: "github"."""
        ...

    def repo(self, name: str) -> Repo:
        """Facts of one repository. ConfigError (with the closest match) when there is none."""
        ...

    def changed(self, repo: Repo, *, etag: str | None) -> tuple[bool, str | None]:
        """Has any pull moved since `etag`? With the new etag. Costs no quota when nothing did.

        `etag` is the source's own mark: the store keeps it as text and never looks inside.
        NotFoundError, BlockedError when the repository is gone or taken down.
        """
        ...

    def sealed(self, repo: Repo, mark: str | None) -> str | None:
        """`mark` with what reading all pulls has taught, for the next crawl's `changed`."""
        ...

    def pages(
        self, repo: Repo, *, since: datetime | None, after: str | None = None
    ) -> Iterator[Page]:
        """Merged pulls updated at or after `since`, newest update first; none is left out.

        With `after`, a mark of an earlier page, only what comes behind that page: what was updated
        meanwhile stands before it. A mark that the source knows no more begins from the top.
        """
        ...

    def git_credentials(self) -> tuple[str, str] | None:
        """(user, secret) for cloning over HTTP, handed to git by its askpass, or None."""
        ...
