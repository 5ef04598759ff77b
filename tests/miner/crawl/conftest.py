"""What the crawl's tests share: retries without waiting."""

from collections.abc import Iterator

import pytest
import stamina


@pytest.fixture(autouse=True)
def _no_waiting() -> Iterator[None]:
    with stamina.set_testing(True, attempts=3, cap=True):
        yield
