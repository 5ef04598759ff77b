"""How a stage tells people where it is. `cli` draws bars or writes log lines."""

from typing import Protocol


class Progress(Protocol):
    """One open piece of long work at a time per stage."""

    def start(self, what: str, *, total: int | None) -> None:
        """Work begins; `total` items when known."""
        ...

    def advance(self, what: str, note: str, *, by: int = 1) -> None:
        """`by` more items are done; `note` says the last one's outcome in a few words."""
        ...

    def tell(self, what: str, note: str) -> None:
        """What is going on inside an item, from any thread: "o__r-1: before 1: 3 failed …"."""
        ...

    def end(self, what: str) -> None:
        """Work ended, done or not."""
        ...
