"""Options that several commands share: same name, same meaning everywhere."""

import getpass
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated

import typer

from miner.errors import ConfigError

RepoOption = Annotated[
    str | None, typer.Option("--repo", help="Only this repository (owner/name).", metavar="NAME")
]
ReposOption = Annotated[
    list[str] | None,
    typer.Option("--repo", help="Only this repository (owner/name); may be repeated."),
]
NO_LIMIT = 1_000_000

LimitOption = Annotated[
    int, typer.Option("--limit", min=1, max=NO_LIMIT, help="At most so many items, newest first.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
SinceOption = Annotated[
    str | None,
    typer.Option(
        "--since", help="How far back: to this day (2024-05-01) or so long ago (30d, 12h)."
    ),
]
AuthorOption = Annotated[str | None, typer.Option("--author", help="Who says so; default: you.")]


def since(text: str | None, *, now: datetime) -> datetime | None:
    """A moment from a date or an age."""
    if text is None:
        return None
    unit = {"h": "hours", "d": "days", "w": "weeks"}.get(text[-1:])
    if unit and text[:-1].isdecimal():
        return ago(now, f"--since: {text!r}", **{unit: int(text[:-1])})
    moment = datetime.combine(day(text, option="--since"), time(), tzinfo=UTC)
    if moment > now:
        raise ConfigError(f"--since: {text} is yet to come; it is {now:%Y-%m-%d} (UTC).")
    return moment


def ago(now: datetime, what: str, **age: int) -> datetime:
    """`now` less an age. ConfigError, beginning with `what`, when no calendar goes back so far."""
    try:
        return now - timedelta(**age)
    except OverflowError:
        raise ConfigError(f"{what} is too far back; give a smaller number.") from None


def day(text: str, *, option: str) -> date:
    """A date from YYYY-MM-DD."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ConfigError(
            f"{option}: {text!r} is no date; write 2024-05-01"
            + (", 30d or 12h." if option == "--since" else ".")
        ) from None


def window(first: str | None, last: str | None) -> tuple[date | None, date | None]:
    """The days of --from and --to, both included. ConfigError when they run backwards."""
    start, end = maybe_day(first, option="--from"), maybe_day(last, option="--to")
    if start is not None and end is not None and end < start:
        raise ConfigError(f"--from {start} is after --to {end}; put the earlier day first.")
    return start, end


def maybe_day(text: str | None, *, option: str) -> date | None:
    """A date, or None when the option was not given."""
    return None if text is None else day(text, option=option)


def author(given: str | None) -> str:
    """Who says so: the given name, else the user's. ConfigError where this user has no name."""
    if given:
        return given
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # KeyError before Python 3.13
        raise ConfigError("The user who runs this has no name here; give --author.") from None
