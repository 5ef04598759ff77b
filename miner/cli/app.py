"""Every command and its place: what `miner --help` shows.

A command's module is imported when the command is called: SQL, GitHub's client, Docker's and the
demo's server take seconds together, and nobody needs them all.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Annotated

import typer
from typer.main import get_command

from miner import __version__

PLACES: Mapping[str, str] = {
    "demo": "demo.GROUP",
    "doctor": "doctor.doctor",
    "config": "settings.show",
    "db": "databases.GROUP",
    "repos": "discovery.GROUP",
    "gates": "gates.GROUP",
    "recipes": "recipes.GROUP",
    "images": "images.GROUP",
    "request": "requests.GROUP",
    "crawl": "crawling.crawl",
    "split": "stages.split",
    "verify": "stages.verify",
    "assess": "stages.assess",
    "publish": "snapshots.publish",
    "export": "snapshots.export",
    "evaluate": "grades.evaluate",
    "leaderboard": "grades.leaderboard",
    "show": "looks.show",
    "funnel": "looks.funnel",
    "status": "standing.status",
    "run": "mining.run",
    "nightly": "passes.nightly",
    "schedule": "passes.schedule",
    "version": "app.version",
}
"""Command or group → the function or group of commands in `miner.cli`."""


def app(only: str | None = None) -> typer.Typer:
    """All commands in the order of `PLACES`, or the one command or group `only`."""
    made = typer.Typer(
        name="miner",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
        callback=_miner,
    )
    for name in PLACES if only is None else [only]:
        module, _, attribute = PLACES[name].partition(".")
        found = getattr(import_module(f"miner.cli.{module}"), attribute)
        if isinstance(found, typer.Typer):
            made.add_typer(found, name=name)
        else:
            made.command(name)(found)
    return made


def carry_out(words: list[str]) -> object:
    """Run a command line; its exit code, or None. Raises what the command raises."""
    called = next((word for word in words if not word.startswith("-")), None)
    helped = any(word in {"-h", "--help"} for word in words[:1])
    alone = called if called in PLACES and not helped else None
    return get_command(app(alone)).main(words, prog_name="miner", standalone_mode=False)


def _miner(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the trace of an error, and every log line.")
    ] = False,
) -> None:
    """Mines merged pull requests into verified, dated task sets, and grades models on them."""


def version() -> None:
    """Print the version."""
    typer.echo(__version__)
