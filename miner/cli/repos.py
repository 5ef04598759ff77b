"""`miner repos`: which repositories are watched."""

import difflib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from miner.cli.options import JsonOption
from miner.cli.speech import say, say_json, table
from miner.cli.wiring import House
from miner.errors import ConfigError
from miner.given import read_text
from miner.store import Database

GROUP = typer.Typer(no_args_is_help=True, help="Which repositories are watched.")

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}/[A-Za-z0-9_.-]{1,100}")
"""What GitHub lets an owner and a repository be called."""

NamesArgument = Annotated[
    list[str] | None, typer.Argument(help="Repositories: owner/name.", show_default=False)
]
FileOption = Annotated[
    Path | None, typer.Option("--file", help="Take names from this file, one a line.")
]
ReasonOption = Annotated[str | None, typer.Option("--reason", help="Why; kept with the row.")]
LeftOutOption = Annotated[
    bool,
    typer.Option("--left-out", help="Those found or removed and not watched, with the reason."),
]


@GROUP.command("add")
def add(names: NamesArgument = None, file: FileOption = None, reason: ReasonOption = None) -> None:
    """Watch repositories: the next crawl fetches what was merged in them."""
    house = House.of_environment()
    wanted = _named(names, file)
    with house.store() as store:
        fresh = [name for name in wanted if store.admin.watch(name, reason=reason)]
    say(f"{len(fresh)} added, {len(wanted) - len(fresh)} were watched already")


@GROUP.command("remove")
def remove(names: NamesArgument = None, reason: ReasonOption = None) -> None:
    """Watch repositories no longer; what was mined of them stays."""
    wanted = _named(names, None)
    with House.of_environment().store() as store:
        gone = [name for name in wanted if store.admin.unwatch(name, reason=reason)]
    say(f"{len(gone)} removed, {len(wanted) - len(gone)} were not watched")


@GROUP.command("list")
def list_watched(
    left_out: LeftOutOption = False,
    as_json: JsonOption = False,
) -> None:
    """The watched repositories, in the order they were added; or those that are left out."""
    with House.of_environment().store() as store:
        watches = store.admin.left_out() if left_out else store.admin.watches()
    if as_json:
        say_json([{"name": w.name, "reason": w.reason, "added_at": w.added_at} for w in watches])
        return
    rows = [[w.name, f"{w.added_at:%Y-%m-%d}", w.reason or ""] for w in watches]
    table(
        f"{'Left out' if left_out else 'Watched'}: {len(rows)}",
        ["repository", "since", "reason"],
        rows,
    )


def _named(names: list[str] | None, file: Path | None) -> list[str]:
    """All names given, each checked, each once."""
    found = list(names or [])
    if file is not None:
        found += [line.split("#")[0].strip() for line in read_text(file).splitlines()]
    found = list(dict.fromkeys(name for name in found if name))
    if not found:
        raise ConfigError("Name at least one repository, as owner/name.")
    for name in found:
        check_name(name)
    return found


def check_name(name: str) -> None:
    """ConfigError when it is not owner/name."""
    if NAME.fullmatch(name) is None or name.rpartition("/")[2] in {".", ".."}:
        raise ConfigError(f"{name!r} is no repository; write owner/name.")


def check_known(store: Database, name: str | None) -> None:
    """ConfigError, with the closest name, when no such repository was ever crawled or watched."""
    if name is None:
        return
    check_name(name)
    hint = stranger(store, name)
    if hint is not None:
        raise ConfigError(f"No repository {name} was crawled or is watched here{hint}.")


def stranger(store: Database, name: str) -> str | None:
    """None for a known repository; else what to say of it: the closest name, or what to do."""
    names = store.admin.repo_names()
    if name.lower() in {known.lower() for known in names}:
        return None
    return closest(name, names) or f"; `miner crawl --repo {name}` fetches one"


def closest(name: str, names: Iterable[str]) -> str:
    """What to add to a sentence about an unknown name; nothing when no name is like it."""
    by_lower = {known.lower(): known for known in names}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    return f"; the closest name is {by_lower[close[0]]}" if close else ""
