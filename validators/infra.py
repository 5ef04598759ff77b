"""Signs of a broken machine in a command's output: pure, so that it is not called a failed test.

For installs only, never for test output: projects print such words in their tests too. A full disk
is not here: the guest can fill its own share, so the engine tells the two apart.
"""

import re
from collections.abc import Sequence
from enum import StrEnum


class Cause(StrEnum):
    """What is broken when the guest is not."""

    INDEX_UNREACHABLE = "index_unreachable"
    INDEX_FAILING = "index_failing"
    MIRROR_UNREACHABLE = "mirror_unreachable"
    CERTIFICATE = "certificate"
    RATE_LIMITED = "rate_limited"


_SIGNS: Sequence[tuple[Cause, str]] = (
    (
        Cause.CERTIFICATE,
        r"invalid peer certificate|certificate verify failed|UnknownIssuer"
        r"|unable to get local issuer certificate",
    ),
    (
        Cause.RATE_LIMITED,
        r"HTTP status client error \(429|429 Client Error|Too Many Requests for url",
    ),
    (
        Cause.INDEX_FAILING,
        r"HTTP status server error \(5\d\d|5\d\d Server Error|too many 5\d\d error responses",
    ),
    (
        Cause.INDEX_UNREACHABLE,
        r"error sending request for url|client error \(Connect\)|dns error|error trying to connect"
        r"|Could not connect, are you offline|Failed to establish a new connection"
        r"|Temporary failure in name resolution|operation timed out"
        r"|Failed to download distribution due to network timeout|NewConnectionError"
        r"|connection closed before message completed|error decoding response body",
    ),
    (
        Cause.MIRROR_UNREACHABLE,
        r"^E: Failed to fetch|^E: Unable to fetch|Temporary failure resolving"
        r"|^Err:\d+ .*(?:Could not connect|Connection (?:failed|timed out))",
    ),
)

_COMPILED = tuple((cause, re.compile(sign, re.MULTILINE)) for cause, sign in _SIGNS)

_WHAT_TO_DO = {
    Cause.INDEX_UNREACHABLE: (
        "The package index cannot be reached from the container engine: check its network."
    ),
    Cause.INDEX_FAILING: "The package index answers with server errors: try again later.",
    Cause.MIRROR_UNREACHABLE: (
        "The Debian mirror cannot be reached from the container engine: check its network."
    ),
    Cause.CERTIFICATE: (
        "The package index's certificate is not trusted: set MINER_CA_BUNDLE to your CA file."
    ),
    Cause.RATE_LIMITED: "The package index limits our rate: try again later.",
}


def cause(output: bytes) -> Cause | None:
    """Why an install failed, when it was the machine's fault; None when it was the project's.

    `output` is that of an install step that failed (apt, uv, pip, git).
    """
    text = output.decode(errors="replace")
    for found, sign in _COMPILED:
        if sign.search(text):
            return found
    return None


def sentence(found: Cause) -> str:
    """What a person must know and do."""
    return _WHAT_TO_DO[found]
