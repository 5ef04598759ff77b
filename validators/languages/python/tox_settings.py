"""tox's configuration, wherever a project keeps it, as the text of one tox.ini."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from configparser import ConfigParser
from configparser import Error as ConfigError


def tox_text(files: Mapping[str, str]) -> str:
    """The tox.ini of a project; one made of tox.toml, pyproject.toml or setup.cfg; or "".

    tox itself looks in this order: tox.ini, setup.cfg, pyproject.toml, tox.toml.
    """
    ini = files.get("tox.ini", "")
    if "[tox]" in ini or "[testenv" in ini:
        return ini
    if (from_cfg := _from_setup_cfg(files.get("setup.cfg", ""))) is not None:
        return from_cfg
    tool = _table(_table(_toml(files.get("pyproject.toml", "")), "tool"), "tox")
    legacy = tool.get("legacy_tox_ini")
    if isinstance(legacy, str):
        return legacy
    table = tool or _toml(files.get("tox.toml", ""))
    return _from_toml(table) if table else ""


def _from_setup_cfg(text: str) -> str | None:
    """setup.cfg holds the same sections, with `tox:` before the name of the first."""
    parser = ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except ConfigError:
        return None
    return text.replace("[tox:tox]", "[tox]") if parser.has_section("tox:tox") else None


def _from_toml(table: Mapping[str, object]) -> str:
    """`env_run_base` is what `[testenv]` was; an environment called "test" adds to it."""
    environments = _table(table, "env")
    parts = [_table(table, "env_run_base"), _table(environments, "test")]
    names = [re.sub(r"^3\.", "py3.", name) for name in _strings(table.get("env_list"))]
    lines = ["[tox]", f"envlist = {','.join([*names, *environments])}", "[testenv]"]
    for option in ("deps", "extras", "commands"):
        lines.append(f"{option} =")
        lines += [f"  {line}" for part in parts for line in _strings(part.get(option))]
    lines.append("setenv =")
    for part in parts:
        variables = _table(part, "set_env") or _table(part, "setenv")
        lines += [f"  {name} = {value}" for name, value in variables.items()]
    return "\n".join(lines) + "\n"


def _strings(value: object) -> Iterator[str]:
    """The lines of a list: strings as they are, a command's list of words as one line."""
    for entry in value if isinstance(value, list) else []:
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, list):
            words = [word for word in entry if isinstance(word, str)]
            yield " ".join(word if " " not in word else json.dumps(word) for word in words)


def _toml(text: str) -> Mapping[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _table(holder: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = holder.get(name)
    return value if isinstance(value, dict) else {}
