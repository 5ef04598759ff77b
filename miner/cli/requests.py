"""`miner request`: work beyond what is due."""

from typing import Annotated

import typer

from miner.cli.options import AuthorOption, LimitOption, ago
from miner.cli.options import author as known_author
from miner.cli.speech import say
from miner.cli.wiring import House, now
from miner.errors import ConfigError
from validators.plural import counted

GROUP = typer.Typer(no_args_is_help=True, help="Ask for work beyond what is due.")
REVALIDATED = 50
"""Instances a call of `request revalidation` asks for unless told otherwise."""

IdsArgument = Annotated[list[str], typer.Argument(help="Instances or candidates: owner__name-123.")]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why; kept with the row.")]
DaysOption = Annotated[
    int, typer.Option("--older-than", min=1, help="Verified more than so many days ago.")
]


@GROUP.command("verify")
def verify_again(
    ids: IdsArgument, reason: ReasonOption = "asked for", author: AuthorOption = None
) -> None:
    """Make instances or candidates due for verification once more, parked ones too."""
    who = known_author(author)
    with House.of_environment().store() as store:
        for instance_id in ids:
            found = store.admin.evidence(instance_id)
            if found is None or found.candidate is None:
                raise ConfigError(f"There is no candidate {instance_id!r}; nothing was asked for.")
        for instance_id in ids:
            store.admin.request("verify", instance_id, author=who, reason=reason)
    say(f"{len(ids)} asked for; `miner verify` does it")


@GROUP.command("revalidation")
def revalidate(older_than: DaysOption = 90, limit: LimitOption = REVALIDATED) -> None:
    """Make the instances verified longest ago due once more; new work goes before them."""
    before = ago(now(), f"--older-than {older_than}", days=older_than)
    with House.of_environment().store() as store:
        asked = store.admin.revalidate(
            examined_before=before, limit=limit, reason=f"older than {counted(older_than, 'day')}"
        )
    say(f"{asked} asked for; `miner verify` does it")
