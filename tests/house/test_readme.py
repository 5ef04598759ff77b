"""README.md tells every command, option, setting and exit code, and no other."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.core import TyperArgument, TyperCommand, TyperOption

from miner import config
from tests.house.reference import README, commands, renewed

TEXT = README.read_text(encoding="utf-8")
COMMANDS = dict(commands())
GROUPS = {name.split()[0] for name in COMMANDS if " " in name}
PAGES = [README, *sorted((README.parent / "docs").glob("*.md"))]


def test_the_reference_is_as_the_code_says() -> None:
    assert renewed(TEXT) == TEXT, "renew it by `python -m tests.house.reference`"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_explains_itself(name: str) -> None:
    command = COMMANDS[name]
    assert command.help
    silent = [p.name for p in command.params if not getattr(p, "help", None)]
    assert silent == []


def test_every_command_in_a_text_would_be_taken() -> None:
    examples = [(page.name, line) for page in PAGES for line in _examples(page)]
    assert len(examples) > 60
    refused = [f"{name}: {line}: {why}" for name, line in examples if (why := _trouble(line))]
    assert refused == []


@pytest.mark.parametrize(
    ("line", "trouble"),
    [
        ("status --repo owner/name", "no such option: --repo"),
        ("images base 3.8", "too much: 3.8"),
        ("nonsense", "no such command"),
        ("images base --python 3.8", ""),
    ],
)
def test_a_wrong_example_would_be_found(line: str, trouble: str) -> None:
    assert trouble in _trouble(line) if trouble else _trouble(line) == ""


def test_every_variable_named_is_a_setting() -> None:
    known = {config.PREFIX + name.upper() for name in config.Settings.model_fields}
    assert _variables(README) == known
    assert {page.name for page in PAGES if not _variables(page) <= known} == set()


def _variables(page: Path) -> set[str]:
    named = set(re.findall(r"\bMINER_[A-Z_]+[A-Z]\b", page.read_text(encoding="utf-8")))
    return {name for name in named if not name.startswith(config.TEST_PREFIX)}


def _examples(page: Path) -> list[str]:
    """What follows `miner` on lines of code and in quoted code."""
    text = page.read_text(encoding="utf-8")
    lines: list[str] = re.findall(r"^ *(?:\.venv/bin/)?miner ([a-z][^|\n]*)$", text, flags=re.M)
    return lines + re.findall(r"`miner ([a-z][^`…]*)`", text)


def _trouble(line: str) -> str:
    """Why the command line would be refused; "" when it would be taken."""
    words = shlex.split(re.split(r"#|&&|>", line)[0])
    for length in (2, 1):
        command = COMMANDS.get(" ".join(words[:length]))
        if command is not None:
            return _refused(command, words[length:])
    return "" if words[0] in GROUPS and len(words) == 1 else "no such command"


def _refused(command: TyperCommand, words: Sequence[str]) -> str:
    options = {opt: p for p in command.params if isinstance(p, TyperOption) for opt in p.opts}
    arguments = [p.nargs for p in command.params if isinstance(p, TyperArgument)]
    room = len(words) if -1 in arguments else sum(arguments)
    given = iter(words)
    for word in given:
        name, _, value = word.partition("=")
        if not word.startswith("-"):
            room -= 1
        elif name in options and not options[name].is_flag and not value:
            next(given, None)
        elif name not in {*options, "--debug", "--help"}:
            return f"no such option: {name}"
        if room < 0:
            return f"too much: {word}"
    return ""


def test_every_link_leads_somewhere() -> None:
    broken = [
        f"{page.name}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert broken == []


def test_every_guide_is_in_the_index() -> None:
    docs = README.parent / "docs"
    index = (docs / "README.md").read_text(encoding="utf-8")
    missing = [page.name for page in docs.glob("*.md") if f"({page.name})" not in index]
    assert missing in ([], ["README.md"])
