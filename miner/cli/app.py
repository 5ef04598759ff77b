"""Every command and its place: what `miner --help` shows."""

from typing import Annotated

import typer

from miner import __version__
from miner.cli import (
    crawling,
    databases,
    demo,
    discovery,
    doctor,
    gates,
    grades,
    images,
    looks,
    mining,
    passes,
    recipes,
    repos,
    requests,
    settings,
    snapshots,
    stages,
    standing,
)

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


def version() -> None:
    """Print the version."""
    typer.echo(__version__)


APP.add_typer(demo.GROUP, name="demo")
APP.command()(doctor.doctor)
APP.command("config")(settings.show)
APP.add_typer(databases.GROUP, name="db")
repos.GROUP.command("discover")(discovery.discover)
APP.add_typer(repos.GROUP, name="repos")
APP.add_typer(gates.GROUP, name="gates")
APP.add_typer(recipes.GROUP, name="recipes")
APP.add_typer(images.GROUP, name="images")
APP.add_typer(requests.GROUP, name="request")
for _command in (
    crawling.crawl,
    stages.split,
    stages.verify,
    stages.assess,
    snapshots.publish,
    snapshots.export,
    grades.evaluate,
    grades.leaderboard,
    looks.show,
    looks.funnel,
    standing.status,
    mining.run,
    passes.nightly,
    passes.schedule,
    version,
):
    APP.command()(_command)
