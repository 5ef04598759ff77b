"""`miner images`: base images and environments on this machine's engine."""

from typing import Annotated

import typer

from miner.cli.options import DryRunOption, JsonOption
from miner.cli.speech import complain, say, say_json, table
from miner.cli.wiring import House
from validators.base_images import BASE_LABEL, base_image
from validators.environment import LABEL as ENVIRONMENT_LABEL

GROUP = typer.Typer(no_args_is_help=True, help="Base images and environments on this machine.")
PYTHONS = ("3.12",)
KEY_CHARS = 12

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


@GROUP.command("ls")
def list_images(as_json: JsonOption = False) -> None:
    """Base images and environments on this machine's engine, with their size."""
    rows: list[tuple[str, str, str, int]] = []
    with House.of_environment().engine() as engine:
        for kind, label in (("base", BASE_LABEL), ("environment", ENVIRONMENT_LABEL)):
            rows += [
                (kind, image.tag, labels.get(label, ""), size // 1_000_000)
                for image, labels, size in engine.images(label=label)
                if kind == "environment" or ENVIRONMENT_LABEL not in labels
            ]
    if as_json:
        say_json([dict(zip(("kind", "tag", "of", "mb"), row, strict=True)) for row in rows])
        return
    shown = [[kind, tag, of[:KEY_CHARS], size] for kind, tag, of, size in sorted(rows)]
    table(f"Images: {len(rows)}", ["kind", "tag", "of", "MB"], shown)


@GROUP.command("gc")
def collect(dry_run: DryRunOption = False) -> None:
    """Remove environments that belong to no instance; a lock can make any of them again."""
    house = House.of_environment()
    with house.store() as store:
        instances = store.publish.instances(window=(None, None))
    kept = {instance.environment.key for instance in instances}
    with house.engine() as engine:
        loose = [
            (image, size)
            for image, labels, size in engine.images(label=ENVIRONMENT_LABEL)
            if labels.get(ENVIRONMENT_LABEL) not in kept
        ]
        gone = loose if dry_run else [one for one in loose if engine.remove_image(one[0])]
    size_mb = sum(size for _, size in gone) // 1_000_000
    word = "would be removed" if dry_run else "removed"
    say(f"{len(gone)} environments {word} ({size_mb} MB, layers they share counted with each)")
