"""Hints of merged pulls from hourly dumps: both payload forms, broken hours, bounded memory."""

import gzip
import json
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from miner.crawl.gharchive import BadHour, Hint, archived_hints, hints_of, hour_range
from miner.errors import BadItemError, ConfigError, NotFoundError
from miner.http import HttpClient
from miner.wire import Request, Response

NOW = datetime(2025, 11, 5, 13, 30, tzinfo=UTC)


def event(number: int, *, repo: str = "o/r", repo_id: int = 1, **payload: Any) -> dict[str, Any]:
    """A pull's event in the archive's form."""
    return {
        "id": str(number),
        "type": "PullRequestEvent",
        "repo": {"id": repo_id, "name": repo},
        "payload": {"number": number, **payload},
        "created_at": "2025-11-01T05:06:07Z",
    }


def thin(number: int, action: str = "merged", **more: Any) -> dict[str, Any]:
    """As since October 2025: no title, no merged."""
    return event(number, action=action, pull_request={"id": 1, "number": number}, **more)


def full(number: int, *, merged: bool = True, action: str = "closed") -> dict[str, Any]:
    """As before."""
    pull = {"id": 1, "number": number, "merged": merged, "title": "x"}
    return event(number, action=action, pull_request=pull)


def packed(*events: object) -> bytes:
    return gzip.compress(b"".join(json.dumps(e, separators=(",", ":")).encode() + b"\n"
                                  for e in events))  # fmt: skip


def pieces(data: bytes, size: int = 100) -> Iterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


def test_both_payload_forms_are_hints() -> None:
    data = packed(
        thin(1),
        full(2),
        thin(3, action="closed"),  # says nothing about merging any more
        full(4, merged=False),
        full(5, action="opened"),
        {"type": "PushEvent", "payload": {"action": "merged"}, "repo": {"id": 1, "name": "o/r"}},
        {"type": "IssueCommentEvent", "payload": {"x": 'PullRequestEvent "action":"merged"'}},
    )
    found = list(hints_of(pieces(data)))
    assert [hint.number for hint in found] == [1, 2]
    assert found[0] == Hint(
        repo="o/r", repo_id=1, number=1, seen_at=datetime(2025, 11, 1, 5, 6, 7, tzinfo=UTC)
    )


def test_lines_of_an_unknown_form_are_no_hints() -> None:
    odd = [b'not json "PullRequestEvent" "merged":true', b"[]", b"", b'{"type": 3}']
    data = gzip.compress(b"\n".join(odd))
    assert list(hints_of(pieces(data))) == []


def test_members_in_a_row_and_a_last_line_without_end_are_read() -> None:
    data = packed(thin(1)) + gzip.compress(json.dumps(thin(2)).encode())
    assert [hint.number for hint in hints_of(pieces(data, 7))] == [1, 2]


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_pieces_of_any_size_give_the_same(size: int) -> None:
    data = packed(*(thin(n) for n in range(1, 50)))
    assert [hint.number for hint in hints_of(pieces(data, size))] == list(range(1, 50))


def test_a_cut_off_hour_gives_what_was_readable_and_an_error() -> None:
    data = packed(*(thin(n, note="x" * (n % 97)) for n in range(1, 5000)))
    found: list[Hint] = []
    with pytest.raises(BadItemError, match="cut off"):
        found.extend(hints_of(pieces(data[: len(data) // 2])))
    assert 0 < len(found) < 4999


def test_what_is_no_gzip_is_corrupt() -> None:
    with pytest.raises(BadItemError, match="corrupt"):
        list(hints_of([b"<html>not found</html>"]))


def test_an_hour_is_never_held_in_memory() -> None:
    line = json.dumps({"type": "PushEvent", "payload": {"text": "x" * 2000}}).encode() + b"\n"
    data = gzip.compress(line * 40_000)  # 80 MB unpacked
    tracemalloc.start()
    try:
        assert list(hints_of(pieces(data, 1 << 16))) == []
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 << 20


def test_a_line_without_end_is_given_up() -> None:
    data = gzip.compress(b"x" * (80 << 20))
    with pytest.raises(BadItemError, match="64 MiB"):
        list(hints_of(pieces(data, 1 << 16)))


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2025-11-01..2025-11-02", (1, 0), (2, 23)),
        ("2025-11-01", (1, 0), (1, 23)),
        ("2025-11-01-5..2025-11-01-7", (1, 5), (1, 7)),
        ("2025-11-05..2025-11-05", (5, 0), (5, 13)),  # today, as far as it is over
    ],
)
def test_a_range_of_days_or_hours(text: str, start: tuple[int, int], end: tuple[int, int]) -> None:
    first, last = hour_range(text, now=NOW)
    assert ((first.day, first.hour), (last.day, last.hour)) == (start, end)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2025-11-06..2025-11-07", "future"),
        ("2025-11-01..2025-12-01", "future"),
        ("2025-11-02..2025-11-01", "backwards"),
        ("2014-01-01..2014-01-02", "2015"),
        ("yesterday", "no range"),
        ("2025-13-01..2025-13-02", "no range"),
        ("2025-11-01-25", "no range"),
    ],
)
def test_a_wrong_range_is_told(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        hour_range(text, now=NOW)


class Archive:
    """A transport that holds files."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files

    def send(self, request: Request) -> Response:
        raise AssertionError(request)

    def stream(self, request: Request) -> Iterator[bytes]:
        name = request.url.rsplit("/", 1)[1]
        if name not in self.files:
            raise NotFoundError(f"{name} does not exist.")
        assert "authorization" not in request.headers
        yield from pieces(self.files[name])

    def close(self) -> None:
        """Nothing is held."""


HOURS = {
    "2025-11-01-8.json.gz": packed(thin(1), thin(2, repo="a/b", repo_id=2)),
    "2025-11-01-9.json.gz": packed(thin(3))[:30],
    "2025-11-01-11.json.gz": packed(thin(1), thin(4)),
}


@pytest.mark.parametrize("local", [True, False])
def test_bad_hours_are_told_and_the_rest_goes_on(tmp_path: Path, local: bool) -> None:
    start, end = hour_range("2025-11-01-8..2025-11-01-11", now=NOW)
    for name, data in HOURS.items():
        (tmp_path / name).write_bytes(data)
    client = HttpClient("https://api.test", transport=Archive(HOURS))
    where = tmp_path if local else "https://archive.test/"
    told = list(archived_hints(client, start, end, where=where))
    assert [(h.repo, h.number) for h in told if isinstance(h, Hint)] == [
        ("o/r", 1), ("a/b", 2), ("o/r", 4),
    ]  # fmt: skip
    bad = [hour for hour in told if isinstance(hour, BadHour)]
    assert [hour.hour for hour in bad] == ["2025-11-01-9", "2025-11-01-10"]
    assert "cut off" in bad[0].error
