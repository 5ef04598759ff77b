"""`miner images`: base images and environments on this machine's engine."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

import typer

from miner.cli.options import DryRunOption, JsonOption
from miner.cli.speech import complain, say, say_json, table
from miner.cli.wiring import House, now
from miner.errors import ConfigError
from validators import images as housekeeping
from validators.base_images import base_image
from validators.languages import LANGUAGES
from validators.plural import counted

GROUP = typer.Typer(no_args_is_help=True, help="Base images and environments on this machine.")
PYTHONS = ("3.12",)

PythonOption = Annotated[
    list[str] | None, typer.Option("--python", help="A version like 3.11; may be repeated.")
]

DaysOption = Annotated[
    int | None,
    typer.Option("--older-than", min=0, max=36500, help="Those made more than so many days ago."),
]
BudgetOption = Annotated[
    int | None,
    typer.Option("--budget-mb", min=0, max=1 << 40, help="The oldest until the rest fits this."),
]


@GROUP.command("base")
def base(python: PythonOption = None) -> None:
    """Make the base images of the given Python versions; those that are there stay."""
    known = LANGUAGES["python"].versions
    for version in python or ():
        if version not in known:
            raise ConfigError(f"--python {version} is unknown; known are {', '.join(known)}.")
    house = House.of_environment()
    settings = house.workshop().settings
    with house.engine() as engine:
        for version in python or PYTHONS:
            image, origin = base_image(engine, version, settings=settings, progress=complain)
            say(f"{version}: {image.tag} {origin} ({image.digest})")


@GROUP.command("ls")
def list_images(as_json: JsonOption = False) -> None:
    """Our images on this machine's engine: their size without the layers they share."""
    with House.of_environment().engine() as engine:
        rows = [
            [kept.kind.value, kept.image.tag, kept.python, _mb(kept.own_bytes),
             f"{kept.created_at:%Y-%m-%d %H:%M}"]
            for kept in housekeeping.images(engine)
        ]  # fmt: skip
    columns = ["kind", "tag", "python", "MB", "made"]
    if as_json:
        say_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        table(f"Images: {len(rows)}", columns, rows)


@GROUP.command("gc")
def collect(
    older_than: DaysOption = None, budget_mb: BudgetOption = None, dry_run: DryRunOption = False
) -> None:
    """Remove old package caches and environments, never instances' own: a lock makes them again.

    What an earlier version of miner made, and nothing finds any more, goes with them.
    """
    if older_than is None and budget_mb is None:
        raise ConfigError("Say which may go: --older-than DAYS, --budget-mb MB, or both.")
    house = House.of_environment()
    with house.store() as store:
        keep = store.admin.instance_images()
    bounds = housekeeping.Bounds(
        keep=keep,
        now=now(),
        older_than=None if older_than is None else timedelta(days=older_than),
        budget_mb=budget_mb,
    )
    with house.engine() as engine:
        if dry_run:
            foretell(housekeeping.foreseen(engine, bounds))
        else:
            collected = housekeeping.gc(engine, bounds)
            say(f"{_told(collected)} removed; still in use: {len(collected.in_use)}")


def foretell(collected: housekeeping.Collected) -> None:
    """What would go, one line each, and how much space that is."""
    rows: list[Sequence[object]] = [
        *(["package cache", each.volume, "", _mb(each.size_bytes), f"{each.created_at:%Y-%m-%d}"]
          for each in collected.caches),
        *([each.kind.value, each.image.tag, each.python, _mb(each.own_bytes),
           f"{each.created_at:%Y-%m-%d}"] for each in collected.removed),
    ]  # fmt: skip
    table(f"Would go: {len(rows)}", ["kind", "name", "python", "MB", "made"], rows)
    say(f"{_told(collected)} would go, unless a container uses them; nothing was removed")


def _told(collected: housekeeping.Collected) -> str:
    """How many images and caches, and their space."""
    images = counted(len(collected.removed), "image")
    caches = counted(len(collected.caches), "package cache")
    return f"{images} and {caches} ({_mb(collected.freed_bytes)} MB)"


def _mb(size_bytes: int) -> int:
    """As `--budget-mb` counts them."""
    return size_bytes >> 20
