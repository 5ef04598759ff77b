"""Frozen values ↔ ASCII JSON. Bytes are not in documents: they are blobs.

ASCII, because paths and guests' words may hold what no database's text can: lone surrogates (bytes
that are no UTF-8) and NUL stay escapes here and come back as they were.
"""

import json
from functools import cache
from typing import TypeVar

from pydantic import TypeAdapter

from miner.errors import FatalError

T = TypeVar("T")


@cache
def _adapter(kind: type[T]) -> TypeAdapter[T]:
    return TypeAdapter(kind)


def dump(kind: type[T], value: T) -> str:
    """Canonical: sorted keys, no spaces. Equal values give equal text."""
    plain = _adapter(kind).dump_python(value, mode="json")
    return json.dumps(plain, sort_keys=True, separators=(",", ":"))


def load(kind: type[T], text: str) -> T:
    """The value again. FatalError when the text was not written by `dump` of a fitting version."""
    try:
        return _adapter(kind).validate_python(json.loads(text))
    except ValueError as error:
        raise FatalError(
            f"A stored {kind.__name__} cannot be read by this version; "
            "run the version that wrote it or restore the database."
        ) from error
