"""The README's reference, written from the code: `python -m tests.house.reference` renews it."""

import re
from collections.abc import Iterator
from pathlib import Path

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from miner import config
from miner.cli import exits
from miner.cli.app import app

README = Path(__file__).parents[2] / "README.md"


def commands() -> Iterator[tuple[str, TyperCommand]]:
    """Every command with its whole name: "repos add"."""
    root = get_command(app())
    assert isinstance(root, TyperGroup)
    yield from _below(root, "")


def _below(group: TyperGroup, prefix: str) -> Iterator[tuple[str, TyperCommand]]:
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            if command.invoke_without_command:
                yield f"{prefix}{name}", command  # type: ignore[misc]  # a group that also runs
            yield from _below(command, f"{prefix}{name} ")
        else:
            assert isinstance(command, TyperCommand)
            yield f"{prefix}{name}", command


def command_table() -> str:
    """A line a command: name, arguments, options, what it does."""
    lines = ["| command | options | what it does |", "|---|---|---|"]
    for name, command in commands():
        words = [f"miner {name}"]
        words += [_metavar(p) for p in command.params if isinstance(p, TyperArgument)]
        options = [
            f"`{max(p.opts, key=len)}`"
            for p in command.params
            if isinstance(p, TyperOption) and p.name != "help"
        ]
        lines.append(f"| `{' '.join(words)}` | {' '.join(options)} | {_first_line(command)} |")
    return "\n".join(lines)


def setting_table() -> str:
    """A line a setting: variable, default, meaning."""
    lines = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in config.Settings.model_fields.items():
        none = field.default_factory is not None or field.default in (None, ())
        default = "" if none else f"`{field.default}`"
        lines.append(f"| `{config.PREFIX}{name.upper()}` | {default} | {field.description} |")
    return "\n".join(lines)


def exit_table() -> str:
    """A line an exit code."""
    lines = ["| code | meaning |", "|---|---|"]
    return "\n".join(lines + [f"| {code} | {text} |" for code, text in exits.MEANINGS.items()])


SECTIONS = {"commands": command_table, "settings": setting_table, "exit codes": exit_table}


def renewed(text: str) -> str:
    """The README with every generated section as the code says."""
    for name, render in SECTIONS.items():
        start, end = f"<!-- {name} -->\n", f"\n<!-- end of {name} -->"
        pattern = re.escape(start) + ".*?" + re.escape(end)
        fresh = start + render() + end
        text, found = re.subn(pattern, lambda _: fresh, text, flags=re.S)  # noqa: B023 – used at once
        assert found == 1, f"README.md has no section {name!r}"
    return text


def _metavar(argument: TyperArgument) -> str:
    name = (argument.metavar or argument.name or "").upper().strip("[]")
    return name if argument.required else f"[{name}]"


def _first_line(command: TyperCommand) -> str:
    return (command.help or "").strip().splitlines()[0]


if __name__ == "__main__":
    README.write_text(renewed(README.read_text(encoding="utf-8")), encoding="utf-8")
