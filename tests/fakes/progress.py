"""A stage's progress that nobody follows."""


class SilentProgress:
    """Says nothing."""

    def start(self, what: str, *, total: int | None) -> None:
        """Say nothing."""

    def advance(self, what: str, note: str, *, by: int = 1) -> None:
        """Say nothing."""

    def tell(self, what: str, note: str) -> None:
        """Say nothing."""

    def end(self, what: str) -> None:
        """Say nothing."""
