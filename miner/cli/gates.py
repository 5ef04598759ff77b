"""`miner gates`: the limits that a pull must keep to become a candidate."""

from pathlib import Path
from typing import Annotated

import typer

from miner.cli.options import AuthorOption
from miner.cli.options import author as known_author
from miner.cli.speech import say
from miner.cli.wiring import House, gate_policy
from miner.given import read_text
from miner.split.policy import policy_from_json

GROUP = typer.Typer(no_args_is_help=True, help="The limits a pull must keep.")

FileArgument = Annotated[
    Path, typer.Argument(help="JSON with what you change; `gates show` prints all there is.")
]


@GROUP.command("show")
def show() -> None:
    """The gate policy in force, as JSON."""
    with House.of_environment().store() as store:
        say(gate_policy(store).to_json())


@GROUP.command("set")
def set_policy(file: FileArgument, author: AuthorOption = None) -> None:
    """Put a gate policy in force; every pull is due for splitting again."""
    policy = policy_from_json(read_text(file))
    who = known_author(author)
    with House.of_environment().store() as store:
        changed = store.admin.set_gate_policy(policy.digest, policy.to_json(), author=who)
    say("in force; `miner split` judges every pull again" if changed else "in force already")
