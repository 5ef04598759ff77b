"""Texts that strangers wrote, read without raising: TOML, INI, YAML, words of a shell. Pure.

What cannot be read says nothing; what can may have any shape, so tables are asked for one by one.
"""

import shlex
import tomllib
from collections.abc import Mapping, Sequence
from configparser import ConfigParser, Error

import yaml

Table = Mapping[str, object]

_DEEPEST = 50
_MOST = 100_000
"""No document that people wrote holds more; aliases of aliases could grow without end."""


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
    """What a YAML text says; None for what is no YAML, or far more than its text by its aliases.

    Where a tag's value is none of its kind (`!!bool x`), PyYAML raises whatever comes up.
    """
    try:
        document: object = yaml.load(text, Loader=_BoundedLoader)  # noqa: S506 - it is a safe one
    except (yaml.YAMLError, AttributeError, LookupError, RecursionError, ValueError):
        return None
    return document if _is_bounded(document) else None


def table(holder: object, name: str) -> Table:
    """The table of that name in a table; an empty one where there is none, or something else."""
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if isinstance(value, dict) else {}


def words(text: str) -> Sequence[str]:
    """A command line's words; cut at blanks alone where its quotes do not fit."""
    return _split(text, comments=False)


def words_before_remark(text: str) -> Sequence[str]:
    """As `words`, up to a `#`."""
    return _split(text, comments=True)


class _BoundedLoader(yaml.SafeLoader):
    """Merges (`<<: [*a, *a]`) are expanded while it reads: not without end."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """See SafeConstructor."""
        super().flatten_mapping(node)
        if len(node.value) > _MOST:
            raise yaml.YAMLError("too many merged keys")


def _is_bounded(document: object) -> bool:
    """Whether a walk through it comes to an end, as what stands in it twice is met twice."""
    level, met = [document], 0
    for _ in range(_DEEPEST):
        inner: list[object] = []
        for node in level:
            inner += (
                node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
            )
            if met + len(inner) > _MOST:
                return False
        met += len(inner)
        level = inner
    return not level


def _split(text: str, *, comments: bool) -> Sequence[str]:
    try:
        return shlex.split(text, comments=comments)
    except ValueError:
        return text.split()


def _read(parser: ConfigParser, text: str) -> ConfigParser:
    try:
        parser.read_string(text)
    except Error:
        parser.clear()
    return parser
