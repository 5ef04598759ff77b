"""`miner images`: base images and environments on this machine's engine."""

from datetime import timedelta
from typing import Annotated

import typer

from miner.cli.options import JsonOption
from miner.cli.speech import complain, say, say_json, table
from miner.cli.wiring import House, now
from miner.errors import ConfigError
from validators import images as housekeeping
from validators.base_images import base_image

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
            [kept.kind.value, kept.image.tag, kept.python, kept.own_bytes // 1_000_000,
             f"{kept.created_at:%Y-%m-%d %H:%M}"]
            for kept in housekeeping.images(engine)
        ]  # fmt: skip
    columns = ["kind", "tag", "python", "MB", "made"]
    if as_json:
        say_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        table(f"Images: {len(rows)}", columns, rows)


@GROUP.command("gc")
def collect(older_than: DaysOption = None, budget_mb: BudgetOption = None) -> None:
    """Remove old package caches and environments, never instances' own; a lock makes them again."""
    if older_than is None and budget_mb is None:
        raise ConfigError("Say which may go: --older-than DAYS, --budget-mb MB, or both.")
    house = House.of_environment()
    with house.store() as store:
        keep = store.admin.instance_images()
    with house.engine() as engine:
        collected = housekeeping.gc(
            engine,
            keep=keep,
            now=now(),
            older_than=None if older_than is None else timedelta(days=older_than),
            budget_mb=budget_mb,
        )
    freed_mb = collected.freed_bytes // 1_000_000
    say(
        f"{len(collected.removed)} environments and {collected.caches} package caches removed,"
        f" {freed_mb} MB; {len(collected.in_use)} are in use"
    )
