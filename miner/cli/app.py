"""Every command and its place: what `miner --help` shows."""

from typing import Annotated

import typer

from miner import __version__
from miner.cli import settings

APP = typer.Typer(
    name="miner",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@APP.callback()
def _miner(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the trace of an error, and every log line.")
    ] = False,
) -> None:
    """Mines merged pull requests into verified, dated task sets, and grades models on them."""


def _version() -> None:
    """Print the version."""
    typer.echo(__version__)


APP.command("version")(_version)
APP.command("config")(settings.show)
