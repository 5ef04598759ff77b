"""Test sections of configuration that a model may edit otherwise: pure, from texts to one text."""

import configparser
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress

from validators.languages.python.documents import table, toml

_INI_SECTION = re.compile(r"(tool:)?pytest|nosetests|unittest|coverage:.*|pytest11")
"""The last one is of an entry_points.txt."""

_TOML_TOOL = re.compile(r"pytest.*|coverage|inline-snapshot")
_TOML_ENTRY_POINTS = "project.entry-points.pytest11"


def merged(name: str, *, model: str, final: str) -> str | None:
    """The model's text of a shared file with the final state's test sections.

    None when its test sections are the final state's already: then the file stays as it is. When
    sections cannot be told apart safely, the final state's text is taken whole.
    """
    sections = _toml_tables if name.endswith(".toml") else _ini_sections
    ours, wanted = sections(model), sections(final)
    if wanted is None:  # what cannot be read cannot be compared
        return None if model == final else final
    if ours == wanted:
        return None
    mixed = _without_test_sections(model) + "\n" + _only_test_sections(final)
    return mixed if sections(mixed) == wanted else final


def pytest_options(name: str, text: str) -> Mapping[str, object]:
    """The options of pytest in a configuration file; empty where it has none or is unreadable."""
    if name.endswith(".toml"):
        parsed = toml(text)
        tool = table(table(parsed, "tool"), "pytest")
        return {**table(parsed, "pytest"), **tool, **table(tool, "ini_options")}
    found = _ini_sections(text) or {}
    return {**found.get("pytest", {}), **found.get("tool:pytest", {})}


def _ini_sections(text: str) -> Mapping[str, Mapping[str, str]] | None:
    parser = configparser.RawConfigParser(strict=False, delimiters=("=", ":"), default_section="")
    parser.optionxform = str  # type: ignore[assignment, method-assign]  # as documented
    try:
        parser.read_string("\n".join(_ini_lines(text)))
    except configparser.Error:
        return None
    found = {name: dict(parser[name]) for name in parser.sections() if _INI_SECTION.fullmatch(name)}
    entry_points = "options.entry_points"
    if parser.has_option(entry_points, "pytest11"):
        found[entry_points] = {"pytest11": parser.get(entry_points, "pytest11")}
    return found


def _ini_lines(text: str) -> Iterator[str]:
    """Lines and headers as pytest's own reader takes them, which differs from configparser.

    Each kind of line break that Unicode knows ends a line, and a remark may follow a header.
    See `_parseline` in https://github.com/pytest-dev/iniconfig.
    """
    with suppress(UnicodeError):  # bytes came as Latin-1
        text = text.encode("latin-1").decode("utf-8")
    for line in text.splitlines():
        line = re.sub(r"\s{2,}", " ", line)  # noqa: PLW2901 - configparser's time is its square
        header = re.split(r"[#;]", line, maxsplit=1)[0].rstrip()
        yield header if line.startswith("[") and header.endswith("]") else line


def _toml_tables(text: str) -> Mapping[str, object] | None:
    try:
        parsed: object = tomllib.loads(text)
    except (ValueError, RecursionError):  # numbers too long, brackets too deep for this Python
        return None
    tools = table(parsed, "tool")
    found = {f"tool.{name}": tools[name] for name in tools if _TOML_TOOL.fullmatch(name)}
    plugins = table(table(parsed, "project"), "entry-points").get("pytest11")
    return found if plugins is None else found | {_TOML_ENTRY_POINTS: plugins}


def _blocks(text: str) -> list[tuple[str, str]]:
    """(section name, text with its header), in order; the part before the first header is ""."""
    blocks: list[tuple[str, str]] = [("", "")]
    for line in text.splitlines(keepends=True):
        header = _header(line)
        if header is not None:
            blocks.append((re.sub(r"[\"'\s]", "", header), line))
        else:
            name, body = blocks[-1]
            blocks[-1] = (name, body + line)
    return blocks


def _header(line: str) -> str | None:
    """The name in a section's header; no pattern, whose time could grow faster than the line."""
    text, closed, rest = line.strip().partition("]")
    name = text.lstrip("[").strip()
    rest = rest.lstrip("] \t")
    is_header = line.startswith("[") and closed and name and (not rest or rest.startswith("#"))
    return name if is_header else None


def _is_test_section(name: str) -> bool:
    tool, _, rest = name.partition(".")
    return (
        bool(_INI_SECTION.fullmatch(name))
        or (tool == "tool" and bool(_TOML_TOOL.fullmatch(rest.partition(".")[0])))
        or name == _TOML_ENTRY_POINTS
        or name.startswith(f"{_TOML_ENTRY_POINTS}.")
    )


def _without_test_sections(text: str) -> str:
    return "".join(body for name, body in _blocks(text) if not _is_test_section(name))


def _only_test_sections(text: str) -> str:
    return "".join(body for name, body in _blocks(text) if _is_test_section(name))
