"""README.md tells every command, option, setting and exit code, and no other."""

import re

import pytest
from typer.core import TyperCommand

from miner import config
from tests.house.reference import README, commands, renewed

TEXT = README.read_text(encoding="utf-8")
COMMANDS = dict(commands())


def test_the_reference_is_as_the_code_says() -> None:
    assert renewed(TEXT) == TEXT, "renew it by `python -m tests.house.reference`"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_explains_itself(name: str) -> None:
    command = COMMANDS[name]
    assert command.help
    silent = [p.name for p in command.params if not getattr(p, "help", None)]
    assert silent == []


def test_every_command_in_an_example_is_there() -> None:
    for line in _examples():
        words = line.split("#")[0].split()
        command = _longest(words)
        assert command is not None, line
        known = {option for p in command.params for option in p.opts} | {"--debug", "--help"}
        used = {word.split("=")[0] for word in words if word.startswith("-")}
        assert used <= known, line


def test_every_variable_named_is_a_setting() -> None:
    named = set(re.findall(r"\bMINER_[A-Z_]+[A-Z]\b", TEXT))
    known = {config.PREFIX + name.upper() for name in config.Settings.model_fields}
    assert {name for name in named if not name.startswith(config.TEST_PREFIX)} == known


def _examples() -> list[str]:
    return re.findall(r"^(?:\.venv/bin/)?miner ([a-z].*)$", TEXT, flags=re.M)


def _longest(words: list[str]) -> TyperCommand | None:
    for length in (2, 1):
        found = COMMANDS.get(" ".join(words[:length]))
        if found is not None:
            return found
    return None


def test_every_link_leads_somewhere() -> None:
    pages = [README, *(README.parent / "docs").glob("*.md")]
    broken = [
        f"{page.name}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert broken == []


def test_every_guide_is_in_the_index() -> None:
    docs = README.parent / "docs"
    index = (docs / "README.md").read_text(encoding="utf-8")
    missing = [page.name for page in docs.glob("*.md") if f"({page.name})" not in index]
    assert missing in ([], ["README.md"])
