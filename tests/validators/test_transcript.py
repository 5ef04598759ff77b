"""Records that a hostile test process writes raise nothing and can be stored."""

import json

import pytest

from tests.fakes.engine import passing
from validators.languages import LANGUAGES
from validators.model import TestStatus
from validators.transcript import Event, authentic, events, read_transcript

READ = LANGUAGES["python"].read_report["pytest"]
GOOD = b"".join(json.dumps(record).encode() + b"\n" for record in passing("t.py::a"))


@pytest.mark.parametrize(
    "line",
    [
        b'{"event": "phase", "id": ' + b"[" * 200_000,
        b'{"event": "collected", "count": ' + b"9" * 5000 + b"}",
        b'{"event": "collected", "count": ' + b"9" * 4299 + b"}",
        b'{"event": "phase", "id": "x", "duration": ' + b"9" * 400 + b"}",
        b'{"event": "phase", "id": "x", "duration": NaN}',
        b'{"event": "phase", "id": ["x"], "when": 7, "outcome": {}}',
        b'{"event": "end", "status": ' + b"9" * 4299 + b', "counts": {"passed": 1e999}}',
        b'["event"]',
        b"\xff\xfe",
    ],
    ids=lambda line: line[:34].decode("ascii", "replace"),
)
def test_no_record_raises(line: bytes) -> None:
    """What raised would be called the machine's failure, and keep a patch out of the score."""
    for report in (GOOD + line + b"\n", line + b"\n" + GOOD):
        records = events(report)
        transcript = read_transcript(records)
        assert "t.py::a" in READ(records)
        assert len(str((transcript.collected, transcript.counts, transcript.ended_with))) < 200


def test_what_no_database_takes_is_escaped() -> None:
    record = {
        "event": "phase", "id": "t.py::a", "when": "call", "outcome": "failed",
        "message": "\ud800 is not \0 but \U0001f600",
    }  # fmt: skip
    found = READ(events(GOOD + json.dumps(record).encode() + b"\n"))["t.py::a"]
    assert found.message == "\\ud800 is not \\x00 but \U0001f600"


def test_records_of_another_nonce_are_counted() -> None:
    raw = b'\nmine . {"event": "begin"}\n\nyours . {"event": "end", "status": 0}\n'
    assert authentic(raw, "mine") == (b'{"event": "begin"}\n', 1)


def test_many_classes_that_cannot_be_set_up_are_blamed_for_their_own_tests_alone() -> None:
    """Looking at every test for each of them would take minutes here."""
    classes = [f"test_a.T{number}" for number in range(20_000)]
    ids = [f"{each}.test_{number}" for each in classes for number in range(3)]
    broken = [each for each in classes if not each.endswith("1")]
    failed = {"event": "phase", "outcome": "error", "when": "setup", "message": "no"}
    records: list[Event] = [
        {"event": "items", "ids": ids},
        *({**failed, "id": f"setUpClass ({each})"} for each in broken),
    ]
    found = READ(records)
    blamed = {key for key, result in found.items() if result.status is TestStatus.ERROR}
    assert blamed == {
        *(f"setUpClass ({each})" for each in broken),
        *(f"{each}.test_{number}" for each in broken for number in range(3)),
    }
