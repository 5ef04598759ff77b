"""Labels of images, in a spelling that every engine keeps.

Docker takes labels as JSON or as Dockerfile instructions, podman only as the latter, and it neither
unescapes what is quoted nor knows more than one line. So what is not plain is percent-encoded.
"""

import re
from collections.abc import Mapping
from urllib.parse import quote, unquote

_PLAIN = re.compile(r"[A-Za-z0-9_.:@/+=, -]*")
_ENCODED = "percent-encoded:"


def instructions(labels: Mapping[str, str]) -> list[str]:
    """Dockerfile instructions that set `labels`."""
    return [f'LABEL {key}="{_encoded(value)}"' for key, value in labels.items()]


def read(labels: Mapping[str, str] | None) -> dict[str, str]:
    """The labels as they were meant; `labels` as the engine tells them."""
    return {
        key: unquote(value.removeprefix(_ENCODED)) if value.startswith(_ENCODED) else value
        for key, value in (labels or {}).items()
    }


def _encoded(value: str) -> str:
    if _PLAIN.fullmatch(value) and not value.startswith(_ENCODED):
        return value
    return _ENCODED + quote(value)
