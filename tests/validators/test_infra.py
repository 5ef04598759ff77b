"""Which failed installs are the machine's fault."""

import pytest

from validators.infra import Cause, cause, sentence

MACHINE = [
    (
        b"error: Request failed after 3 retries\n  Caused by: Failed to fetch: `https://i/simple/x/`"
        b"\n  Caused by: error sending request for url (https://i/simple/x/)\n  Caused by: client "
        b"error (Connect)\n  Caused by: dns error: failed to lookup address information",
        Cause.INDEX_UNREACHABLE,
    ),
    (b"  Caused by: invalid peer certificate: UnknownIssuer", Cause.CERTIFICATE),
    (
        b"  Caused by: HTTP status server error (503 Service Unavailable) for url (https://i/x/)",
        Cause.INDEX_FAILING,
    ),
    (
        b"HTTP status client error (429 Too Many Requests) for url (https://i/x/)",
        Cause.RATE_LIMITED,
    ),
    (
        b"Err:1 http://deb.example bookworm InRelease\n"
        b"  Temporary failure resolving 'deb.example'\n"
        b"E: Failed to fetch http://deb.example/dists/bookworm/InRelease",
        Cause.MIRROR_UNREACHABLE,
    ),
]
PROJECT = [
    b"",
    "  × No solution found when resolving dependencies:\n  ╰─▶ Because nope was not found in the "
    "package registry and you require nope, your requirements are unsatisfiable.".encode(),
    b"E: Unable to locate package libnothing-dev",
    b"fatal error: ffi.h: No such file or directory",
    b"OSError: [Errno 28] No space left on device",
    b"HTTP status client error (404 Not Found) for url (https://i/simple/nope/)",
    b"ModuleNotFoundError: No module named 'numpy'",
]


@pytest.mark.parametrize(("output", "expected"), MACHINE)
def test_a_broken_machine_is_recognized(output: bytes, expected: Cause) -> None:
    assert cause(output) is expected


@pytest.mark.parametrize("output", PROJECT)
def test_a_broken_project_is_its_own_fault(output: bytes) -> None:
    assert cause(output) is None


def test_every_cause_says_what_to_do() -> None:
    assert {sentence(each)[-1] for each in Cause} == {"."}
