"""GH Archive's hourly dumps as hints of merged pulls.

An hour is gzip of one event a line, read as it comes: neither packed nor unpacked is it ever held
whole. Since May 2025 the archive is a sample, an hour's file holds what was crawled in that hour,
and since October 2025 the payload is thin: so an event is a hint that a pull was merged, nothing
more. Both forms are understood: "merged" as action, and "closed" with `merged: true`.
"""

import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from miner.errors import (
    BadItemError,
    ConfigError,
    MinerError,
    NotFoundError,
    RetryableError,
    SourceUnavailableError,
)
from miner.http import HttpClient

ADDRESS = "https://data.gharchive.org"
FIRST_HOUR = datetime(2015, 1, 1, tzinfo=UTC)
"""Older dumps have another shape."""

CHUNK_BYTES = 1 << 18
UNPACKED_BYTES = 1 << 20
LONGEST_LINE_BYTES = 64 << 20

_EVENT = b"PullRequestEvent"
_MERGED = re.compile(rb'"action":\s*"merged"|"merged":\s*true')


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """A pull that was merged, by the repository's name and id at that time."""

    repo: str
    repo_id: int
    number: int
    seen_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class BadHour:
    """An hour that is missing or broken, and how many hints were read of it."""

    hour: str
    error: str
    hints: int
    is_passing: bool  # the archive may be reached another time


def hour_range(text: str, *, now: datetime) -> tuple[datetime, datetime]:
    """ "2025-11-01..2025-11-02" or with hours ("2025-11-01-5..2025-11-01-7"), both ends included.

    ConfigError for what is no range, runs backwards, begins before 2015 or reaches the future.
    """
    first, dots, last = text.partition("..")
    start = _hour(first, whole_day=0)
    end = _hour(last if dots else first, whole_day=23)
    if start is None or end is None:
        raise ConfigError(f"{text!r} is no range; it looks like 2025-11-01..2025-11-02.")
    if end < start:
        raise ConfigError(f"The range {text} runs backwards; put the earlier day first.")
    if start < FIRST_HOUR:
        raise ConfigError("GH Archive is read from 2015-01-01 on; choose a later day.")
    if start > now or (end > now and end.date() > now.date()):
        raise ConfigError(f"The range {text} reaches into the future; it is {now:%Y-%m-%d} (UTC).")
    return start, min(end, now.replace(minute=0, second=0, microsecond=0))


def archived_hints(
    client: HttpClient, start: datetime, end: datetime, *, where: str | Path = ADDRESS
) -> Iterator[Hint | BadHour]:
    """Hints of every hour from `start` to `end`, each pull once; bad hours are told in between.

    `where`: the archive's address, or a folder that holds its files.
    """
    seen: set[tuple[int, int]] = set()
    hour = start
    while hour <= end:
        name = f"{hour:%Y-%m-%d}-{hour.hour}"
        count = 0
        try:
            for hint in hints_of(_chunks(client, name, where)):
                count += 1
                if (hint.repo_id, hint.number) not in seen:
                    seen.add((hint.repo_id, hint.number))
                    yield hint
        except MinerError as error:
            passing = isinstance(error, RetryableError)
            yield BadHour(hour=name, error=str(error), hints=count, is_passing=passing)
        hour += timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Watched repositories with hints, the others with their merges (most first), bad hours."""

    watched: tuple[str, ...]
    others: tuple[tuple[str, int], ...]
    bad: tuple[BadHour, ...]


def check_read(bad: Sequence[BadHour], *, start: datetime, end: datetime) -> None:
    """See that at least one hour of the range could be read: nothing seen is not nothing merged.

    SourceUnavailableError when the archive may answer another time, else ConfigError.
    """
    hours = 1 + int((end - start) / timedelta(hours=1))
    if len(bad) < hours or any(hour.hints for hour in bad):
        return
    first = next((hour for hour in bad if hour.is_passing), bad[0])
    what = f"No hour of GH Archive could be read, the first being {bad[0].hour}: {first.error}"
    if first.is_passing:
        raise SourceUnavailableError(f"{what} Run this again when it can be reached.")
    raise ConfigError(f"{what} Check the days and --archive.")


def gathered(told: Iterable[Hint | BadHour], *, watched: Iterable[str]) -> Gathered:
    """What the hints say of watched and of other repositories. Names are compared without case."""
    names = {name.lower(): name for name in watched}
    counts: Counter[str] = Counter()
    bad = []
    for item in told:
        if isinstance(item, BadHour):
            bad.append(item)
        else:
            counts[item.repo] += 1
    hinted = {name.lower() for name in counts}
    others = [(name, count) for name, count in counts.items() if name.lower() not in names]
    return Gathered(
        watched=tuple(name for key, name in names.items() if key in hinted),
        others=tuple(sorted(others, key=lambda other: (-other[1], other[0]))),
        bad=tuple(bad),
    )


def hints_of(chunks: Iterable[bytes]) -> Iterator[Hint]:
    """The hints in one packed hour. BadItemError when it breaks, after what was readable."""
    for block in _blocks(chunks):
        for line in _about_pulls(block):
            if _MERGED.search(line) and (hint := _hint(line)):
                yield hint


def _about_pulls(block: bytes) -> Iterator[bytes]:
    """The lines that name the event. Looked for in whole blocks: most lines are about others."""
    at = 0
    while (found := block.find(_EVENT, at)) >= 0:
        start = block.rfind(b"\n", at, found) + 1 or at
        end = block.find(b"\n", found)
        end = len(block) if end < 0 else end
        yield block[start:end]
        at = end


def _hint(line: bytes) -> Hint | None:
    """A merged pull's event; None for another one, or one in a form we do not know."""
    try:
        event = json.loads(line)
        payload, repo = event["payload"], event["repo"]
        if event["type"] != "PullRequestEvent" or not _is_merged(payload):
            return None
        return Hint(
            repo=str(repo["name"]),
            repo_id=int(repo["id"]),
            number=int(payload.get("number") or payload["pull_request"]["number"]),
            seen_at=datetime.fromisoformat(event["created_at"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _is_merged(payload: Mapping[str, object]) -> bool:
    pull = payload.get("pull_request")
    was_merged = isinstance(pull, dict) and pull.get("merged") is True
    return payload.get("action") == "merged" or (payload.get("action") == "closed" and was_merged)


def _blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Some whole lines at a time."""
    rest = b""
    for piece in _unpacked(chunks):
        whole, end, last = piece.rpartition(b"\n")
        if end:
            yield rest + whole
            rest = last
        else:
            rest += piece
        if len(rest) > LONGEST_LINE_BYTES:
            raise BadItemError("It holds a line of more than 64 MiB; this is no event.")
    if rest:
        yield rest


def _unpacked(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Gunzip in bounded pieces; several members in a row are one file."""
    member = zlib.decompressobj(wbits=31)
    begun = False
    for chunk in chunks:
        packed = chunk
        while packed:
            try:
                piece = member.decompress(packed, UNPACKED_BYTES)
            except zlib.error:
                raise BadItemError("The gzip is corrupt; fetch the file again.") from None
            begun = True
            packed = member.unconsumed_tail
            if member.eof:
                packed = member.unused_data.lstrip(b"\0")
                member, begun = zlib.decompressobj(wbits=31), False
            if piece:
                yield piece
    if begun:
        raise BadItemError("The gzip is cut off; fetch the file again.")


def _chunks(client: HttpClient, name: str, where: str | Path) -> Iterator[bytes]:
    if isinstance(where, str):
        yield from client.download(f"{where.rstrip('/')}/{name}.json.gz")
        return
    try:
        with (where / f"{name}.json.gz").open("rb") as packed:
            while chunk := packed.read(CHUNK_BYTES):
                yield chunk
    except FileNotFoundError:
        raise NotFoundError(f"{where} holds no {name}.json.gz.") from None
    except OSError as error:
        raise BadItemError(f"{name}.json.gz cannot be read: {error.strerror}.") from None


def _hour(text: str, *, whole_day: int) -> datetime | None:
    """2025-11-01 → its first or last hour; 2025-11-01-5 → that hour."""
    match = re.fullmatch(r"\s*(\d{4}-\d{2}-\d{2})(?:-(\d{1,2}))?\s*", text)
    if match is None:
        return None
    try:
        day = datetime.fromisoformat(match[1]).replace(tzinfo=UTC)
        return day.replace(hour=int(match[2]) if match[2] else whole_day)
    except ValueError:
        return None
