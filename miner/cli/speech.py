"""How the commands speak: tables and JSON on stdout, progress and errors on stderr, no secrets."""

import json
import logging
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.table import Table
from rich.text import Text
from stamina.instrumentation import RetryDetails, set_on_retry_hooks

from miner.model import StageReport
from miner.progress import Progress

_log = logging.getLogger(__name__)

Json = Mapping[str, object] | Sequence[object]
_SECRET_SHAPE = re.compile(
    r"\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,})|(?<=://)[^\s/@]+:[^\s/@]+(?=@)"
)
"""GitHub's tokens, such as those that an App is given; name and password in an address."""

WIDTH = 120
"""Columns where there is no terminal to ask."""

NOTE_CHARS = 100
"""So much of a note stands beside a bar."""


def console(stream: TextIO | None = None) -> Console:
    """Where people read: stdout unless told otherwise; never narrower than a table needs."""
    file = stream or sys.stdout
    width = None if file.isatty() else WIDTH
    return Console(file=file, width=width, highlight=False, soft_wrap=not file.isatty())


def say(text: str) -> None:
    """A line on stdout. Square brackets are text, not mark-up: test ids have them."""
    console().print(printable(text), markup=False)


def say_json(value: Json) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(as_text(value))


def as_text(value: Json) -> str:
    """A JSON document as text."""
    return json.dumps(value, indent=2, default=_plain) + "\n"


def complain(text: str) -> None:
    """A line on stderr. Where that cannot be written to, work goes on without it."""
    with suppress(OSError):
        sys.stderr.write(printable(text) + "\n")


def printable(text: str) -> str:
    """The text with nothing in it that commands a terminal or that no file can hold.

    Issues, paths and test ids are strangers' words: escape sequences and lone surrogates are in
    some of them.
    """
    return "".join(
        char if char in "\n\t" or char.isprintable() else char.encode("unicode_escape").decode()
        for char in text
    )


def brief(text: str) -> str:
    """One line of it: of a log's end the last, which names the error. Logs are told elsewhere."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return text.strip() if len(lines) < 2 else f"… {lines[-1]}"


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table on stdout, of no rows its title alone; numbers to the right.

    Square brackets are text here, too.
    """
    if not rows:
        say(title)
        return
    drawn = Table(title=_plain_text(title, style="bold"), title_justify="left")
    for index, column in enumerate(columns):
        numeric = all(isinstance(row[index], int | float) for row in rows)
        drawn.add_column(
            _plain_text(column), justify="right" if numeric else "left", overflow="fold"
        )
    for row in rows:
        drawn.add_row(*(_cell(value) for value in row))
    console().print(drawn)


def say_report(report: StageReport, *, as_json: bool) -> None:
    """What a stage did, as a line or as JSON."""
    if as_json:
        say_json(report_document(report))
    else:
        say(report_line(report))


def report_line(report: StageReport) -> str:
    """ "verify: 3 done, 1 rejected, 0 to try again, 12.0 s (accepted 3, build_failed 1)"."""
    seconds = (report.ended_at - report.started_at).total_seconds()
    counts = ", ".join(f"{name} {count}" for name, count in sorted(report.counts.items()))
    return (
        f"{report.stage}: {report.done} done, {report.rejected} rejected, "
        f"{report.retried} to try again, {seconds:.1f} s{f' ({counts})' if counts else ''}"
    )


def report_document(report: StageReport) -> dict[str, object]:
    """A stage's report, JSON-able."""
    return {
        "stage": report.stage.value,
        "done": report.done,
        "rejected": report.rejected,
        "retried": report.retried,
        "counts": dict(sorted(report.counts.items())),
        "started_at": report.started_at,
        "ended_at": report.ended_at,
    }


def _cell(value: object) -> Text:
    return _plain_text("" if value is None else str(value))


def _plain_text(text: str, *, style: str = "") -> Text:
    return Text(printable(text), style=style)


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


class BarProgress:
    """Progress on a terminal: one bar a piece of work, its last note beside it."""

    def __init__(self) -> None:
        self._bars = Bars(
            TextColumn("{task.description:<9}", markup=False),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=console(sys.stderr),
        )
        self._open: dict[str, TaskID] = {}

    def start(self, what: str, *, total: int | None) -> None:
        """A new bar."""
        if not self._open:
            self._bars.start()
        self._open[what] = self._bars.add_task(what, total=total, note="")

    def advance(self, what: str, note: str, *, by: int = 1) -> None:
        """The bar moves and says what was last."""
        bar = self._open[what]
        self._bars.update(bar, advance=by, note=printable(note)[:NOTE_CHARS])
        task = next(task for task in self._bars.tasks if task.id == bar)
        if task.total is not None:  # there may be more to do than there was at first
            self._bars.update(bar, total=max(task.total, task.completed))

    def tell(self, what: str, note: str) -> None:
        """The bar's note changes."""
        if what in self._open:
            self.advance(what, note, by=0)

    def end(self, what: str) -> None:
        """The bar stays as it is; the display ends with the last one."""
        task = self._open.pop(what, None)
        if task is not None:
            self._bars.stop_task(task)
        if not self._open:
            self._bars.stop()


class LineProgress:
    """Progress where no terminal is: a line an item on stderr."""

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, int | None]] = {}

    def start(self, what: str, *, total: int | None) -> None:
        """A line, and remember the total."""
        self._counts[what] = (0, total)
        complain(f"{what} begins")

    def advance(self, what: str, note: str, *, by: int = 1) -> None:
        """A line with count and note; a mere note (`by` 0) is for bars."""
        if not by:
            return
        done, total = self._counts.get(what, (0, None))
        done += by
        self._counts[what] = (done, total)
        # there may be more to do than there was at first
        of = "" if total is None else f"/{max(total, done)}"
        complain(f"{what} {done}{of}: {note}")

    def tell(self, what: str, note: str) -> None:
        """A line of its own."""
        complain(f"{what}: {note}")

    def end(self, what: str) -> None:
        """Nothing to say."""
        self._counts.pop(what, None)


class BriefProgress(LineProgress):
    """A line for each piece of work, none for its items."""

    def advance(self, what: str, note: str, *, by: int = 1) -> None:
        """Nothing to say."""


def brief_progress() -> BarProgress | BriefProgress:
    """Bars for people, a line a piece of work where items are of no interest."""
    return BarProgress() if sys.stderr.isatty() else BriefProgress()


def progress() -> BarProgress | LineProgress:
    """Bars for people, lines for logs."""
    return BarProgress() if sys.stderr.isatty() else LineProgress()


@contextmanager
def live(bars: Progress, what: str, *, source: str) -> Iterator[None]:
    """While the block runs, what the logger `source` is told of the work goes to `bars`.

    Work in other processes logs where it runs.
    """
    logger, handler = logging.getLogger(source), _Live(bars, what)
    level, propagates = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagates


class _Live(logging.Handler):
    """Log records as progress."""

    def __init__(self, bars: Progress, what: str) -> None:
        super().__init__()
        self._bars, self._what = bars, what

    def emit(self, record: logging.LogRecord) -> None:
        self._bars.tell(self._what, record.getMessage())


def redacted(text: str, secrets: Sequence[str]) -> str:
    """The text without the secrets, and without what looks like one."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):  # one may hold another
        text = text.replace(secret, "***")
    return _SECRET_SHAPE.sub("***", text)


def log_to_stderr(*, level: int, secrets: Sequence[str]) -> None:
    """Send log records to stderr, redacted, traces included. Retries are told with their reason."""
    set_on_retry_hooks([_log_retry])
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_RedactingFormatter(secrets))
    logging.basicConfig(level=level, handlers=[handler], force=True)


def _log_retry(details: RetryDetails) -> None:
    _log.warning(
        "%s Attempt %d follows in %.1f s.",
        printable(str(details.caused_by)),
        details.retry_num + 1,
        details.wait_for,
    )


class _RedactingFormatter(logging.Formatter):
    """Takes secrets out of every record, wherever it came from, with its trace."""

    def __init__(self, secrets: Sequence[str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._hidden = tuple(secrets)

    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record), self._hidden)
