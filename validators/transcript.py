"""What arrived through the report pipe: records of `reporter.py`, checked by nonce, put together.

`authentic` keeps what bears the run's nonce and gives plain JSON lines (what logs store); `events`
parses them, once a run. `read_transcript` says of them how far the run came, `Language.read_report`
what became of each test.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

Event = Mapping[str, object]

DIED = "the process died in this test"
"""Message of a test that began and of which nothing more was heard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """How far a run came. `counts` is the runner's own tally, None when it gave none."""

    begun: bool = False
    ids: tuple[str, ...] = ()
    collected: int | None = None
    started: tuple[str, ...] = ()
    ended_with: int | None = None
    counts: Mapping[str, int] | None = None
    seen: Mapping[str, int]  # the same categories, counted from the records
    internal_errors: tuple[str, ...] = ()

    @property
    def counts_agree(self) -> bool:
        """Nothing the runner counted differs from what was reported."""
        return self.counts is None or all(
            self.seen.get(name, 0) == count for name, count in self.counts.items()
        )


def authentic(raw: bytes, nonce: str) -> tuple[bytes, int]:
    """JSON lines of the records that bear `nonce`, and how many other lines there were.

    A record whose end never came (the process was killed while writing) is left out.
    """
    prefix = nonce.encode("ascii") + b" "
    whole: list[bytes] = []
    pieces: list[bytes] = []
    foreign = 0
    complete = raw[: raw.rfind(b"\n") + 1]
    for line in complete.split(b"\n"):
        if not line:
            continue
        if not line.startswith((prefix + b". ", prefix + b"+ ")):
            foreign += 1
            continue
        mark, piece = line[len(prefix) : len(prefix) + 1], line[len(prefix) + 2 :]
        pieces.append(piece)
        if mark == b".":
            whole.append(b"".join(pieces))
            pieces = []
    return b"".join(line + b"\n" for line in whole), foreign


def events(report: bytes) -> Sequence[Event]:
    """The records of JSON lines, in order; lines that are no JSON object are skipped."""
    return tuple(_parsed(report))


def _parsed(report: bytes) -> Iterator[Event]:
    for line in report.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):  # numbers too long, brackets too deep
            continue
        if isinstance(event, dict) and isinstance(event.get("event"), str):
            yield event


def text(event: Event, name: str) -> str:
    """A string field; empty when absent or of another type."""
    value = event.get(name)
    return _storable(value) if isinstance(value, str) else ""


def strings(event: Event, name: str) -> tuple[str, ...]:
    """A field that is a list of strings."""
    value = event.get(name)
    if not isinstance(value, list):
        return ()
    return tuple(_storable(each) for each in value if isinstance(each, str))


def _storable(value: str) -> str:
    """NUL and lone surrogates, which no database takes, as escapes: tests may report them."""
    return value.replace("\0", "\\x00").encode(errors="backslashreplace").decode()


_INVENTED = 10**9
"""No count and no status is so large."""

_COLLECTED_BADLY = {"failed": "error", "skipped": "skipped"}
_PHASES = {
    ("passed", "call", False): "passed",
    ("passed", "call", True): "xpassed",
    ("failed", "call", False): "failed",
}


def category(event: Event) -> str | None:
    """Under which of the runner's own counts a record falls; None: under none.

    Names are those of pytest's summary; unittest's result lists map onto them one to one.
    """
    outcome, when, expected = text(event, "outcome"), text(event, "when"), event.get("xfail")
    match event["event"]:
        case "collect":
            return _COLLECTED_BADLY.get(outcome)
        case "phase" if event.get("sub") is True:
            return "subtests failed" if outcome == "failed" else None
        case "phase":
            if outcome == "skipped":
                return "xfailed" if expected is True else "skipped"
            if outcome == "error" or (outcome == "failed" and when != "call"):
                return "error"
            return _PHASES.get((outcome, when, outcome == "passed" and expected is True))
        case _:
            return None


def _counts(event: Event) -> Mapping[str, int] | None:
    value = event.get("counts")
    if not isinstance(value, dict):
        return None
    return {str(name): count for name in value if (count := _whole(value, name)) is not None}


def _whole(event: Event, name: str) -> int | None:
    value = event.get(name)
    return value if isinstance(value, int) and abs(value) < _INVENTED else None


def read_transcript(records: Sequence[Event]) -> Transcript:
    """How far the run came."""
    everything: dict[object, list[Event]] = {}
    seen: Counter[str] = Counter()
    for event in records:
        everything.setdefault(event["event"], []).append(event)
        name = category(event)
        if name is not None:
            seen[name] += 1
    sums = [_whole(event, "count") for event in everything.get("collected", [])]
    ends = everything.get("end", [])
    return Transcript(
        begun="begin" in everything,
        ids=tuple(i for event in everything.get("items", []) for i in strings(event, "ids")),
        collected=sum(each or 0 for each in sums) if sums else None,
        started=tuple(text(event, "id") for event in everything.get("start", [])),
        ended_with=_whole(ends[-1], "status") if ends else None,
        counts=_counts(ends[-1]) if ends else None,
        seen=seen,
        internal_errors=tuple(text(e, "message") for e in everything.get("internal", [])),
    )
