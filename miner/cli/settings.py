"""`miner config`: the settings in force."""

from miner import config
from miner.cli.options import JsonOption
from miner.cli.speech import say_json, table


def show(as_json: JsonOption = False) -> None:
    """Print the settings in force, secrets masked."""
    masked = config.load().masked()
    if as_json:
        say_json(masked)
        return
    fields = config.Settings.model_fields
    table(
        "Settings",
        ["variable", "value", "what for"],
        [
            [config.PREFIX + name.upper(), value, fields[name].description or ""]
            for name, value in masked.items()
        ],
    )
