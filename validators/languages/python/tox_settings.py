"""tox's configuration, wherever a project keeps it, as the text of one tox.ini."""

import json
import re
from collections.abc import Iterator, Mapping

from validators.languages.python import documents
from validators.languages.python.documents import Table, table


def tox_text(files: Mapping[str, str]) -> str:
    """The tox.ini of a project; one made of tox.toml, pyproject.toml or setup.cfg; or "".

    tox itself looks in this order: tox.ini, setup.cfg, pyproject.toml, tox.toml.
    """
    ini = files.get("tox.ini", "")
    if "[tox]" in ini or "[testenv" in ini:
        return ini
    if (from_cfg := _from_setup_cfg(files.get("setup.cfg", ""))) is not None:
        return from_cfg
    tool = table(table(documents.toml(files.get("pyproject.toml", "")), "tool"), "tox")
    legacy = tool.get("legacy_tox_ini")
    if isinstance(legacy, str):
        return legacy
    found = tool or documents.toml(files.get("tox.toml", ""))
    return _from_toml(found) if found else ""


def _from_setup_cfg(text: str) -> str | None:
    """setup.cfg holds the same sections, with `tox:` before the name of the first."""
    has_it = documents.ini(text).has_section("tox:tox")
    return text.replace("[tox:tox]", "[tox]") if has_it else None


def _from_toml(found: Table) -> str:
    """`env_run_base` is what `[testenv]` was; an environment called "test" adds to it."""
    environments = table(found, "env")
    parts = [table(found, "env_run_base"), table(environments, "test")]
    names = [re.sub(r"^3\.", "py3.", name) for name in _strings(found.get("env_list"))]
    lines = ["[tox]", f"envlist = {','.join([*names, *environments])}", "[testenv]"]
    for option in ("deps", "extras", "commands"):
        lines.append(f"{option} =")
        lines += [f"  {line}" for part in parts for line in _strings(part.get(option))]
    lines.append("setenv =")
    for part in parts:
        variables = table(part, "set_env") or table(part, "setenv")
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
