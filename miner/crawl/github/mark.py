"""What is kept of a complete crawl of one repository: text to the store, read here alone."""

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The listing's ETag, a digest of the pulls in it, and the page size that GitHub bore."""

    etag: str = ""
    digest: str = ""
    page: int | None = None

    def text(self) -> str:
        """For the store."""
        return json.dumps(asdict(self), sort_keys=True)


def read_mark(text: str | None) -> Mark:
    """A mark from the store; an empty one for what is missing or unknown."""
    try:
        told = json.loads(text or "{}")
    except ValueError:
        return Mark()
    if not isinstance(told, dict):
        return Mark()
    page = told.get("page")
    return Mark(
        etag=str(told.get("etag") or ""),
        digest=str(told.get("digest") or ""),
        page=page if isinstance(page, int) and page > 0 else None,
    )
