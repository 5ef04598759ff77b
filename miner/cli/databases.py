"""`miner db`: make the database, and see that it fits."""

import typer

from miner.cli.speech import say
from miner.cli.wiring import House
from miner.store import check, upgrade

GROUP = typer.Typer(no_args_is_help=True, help="Make the database, and see that it fits.")


@GROUP.command("upgrade")
def upgrade_database() -> None:
    """Make the database, or bring it to this version. Run again, it changes nothing."""
    settings = House.of_environment().settings
    say(f"{settings.masked()['database_url']}: revision {upgrade(settings.database)}")


@GROUP.command("check")
def check_database() -> None:
    """Does the database fit this version? Exit 70 when it does not."""
    settings = House.of_environment().settings
    say(f"{settings.masked()['database_url']}: revision {check(settings.database)}")
