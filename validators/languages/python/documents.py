"""Texts that strangers wrote, read without raising: TOML, INI, YAML, words of a shell. Pure.

What cannot be read says nothing; what can may have any shape, so tables are asked for one by one.
"""

import shlex
import tomllib
from collections.abc import Mapping, Sequence
from configparser import ConfigParser, Error

import yaml

Table = Mapping[str, object]


def toml(text: str) -> Table:
    """A document's top table; an empty one for what is no TOML."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):  # numbers too long, brackets too deep for this Python
        return {}


def ini(text: str) -> ConfigParser:
    """Sections of an INI file, options in lower case; none of what is no INI file."""
    return _read(ConfigParser(interpolation=None, strict=False), text)


def ini_as_written(text: str) -> ConfigParser:
    """As `ini`, with options in the case they were written in."""
    parser = ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # as documented
    return _read(parser, text)


def yaml_document(text: str) -> object:
    """What a YAML text says; None for what is no YAML."""
    try:
        document: object = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return document


def table(holder: object, name: str) -> Table:
    """The table of that name in a table; an empty one where there is none, or something else."""
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if isinstance(value, dict) else {}


def words(text: str) -> Sequence[str]:
    """A command line's words; cut at blanks alone where its quotes do not fit."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def words_before_remark(text: str) -> Sequence[str]:
    """As `words`, up to a `#`."""
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.split()


def _read(parser: ConfigParser, text: str) -> ConfigParser:
    try:
        parser.read_string(text)
    except Error:
        parser.clear()
    return parser
