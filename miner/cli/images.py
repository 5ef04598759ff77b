"""`miner images`: base images and environments on this machine's engine."""

from typing import Annotated

import typer

from miner.cli.speech import complain, say
from miner.cli.wiring import House
from validators.base_images import base_image

GROUP = typer.Typer(no_args_is_help=True, help="Base images and environments on this machine.")
PYTHONS = ("3.12",)

PythonOption = Annotated[
    list[str] | None, typer.Option("--python", help="A version like 3.11; may be repeated.")
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
