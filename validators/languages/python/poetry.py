"""Poetry's tables, whose carets and tildes are no PEP 440."""

import re
from collections.abc import Mapping

from packaging.version import InvalidVersion, Version

Table = Mapping[str, object]


def groups(table: Table) -> Mapping[str, tuple[str, ...]]:
    """Requirements by group name from `[tool.poetry]`; the old dev table is group "dev"."""
    found: dict[str, tuple[str, ...]] = {}
    dev = table.get("dev-dependencies")
    if isinstance(dev, dict):
        found["dev"] = requirements(dev)
    declared = table.get("group")
    for name, group in declared.items() if isinstance(declared, dict) else ():
        wanted = group.get("dependencies") if isinstance(group, dict) else None
        if isinstance(wanted, dict):
            found[name] = (*found.get(name, ()), *requirements(wanted))
    return found


def python_specifier(constraint: object) -> str | None:
    """Poetry's `python = "^3.8"` as requires-python."""
    return _specifier(constraint) or None if isinstance(constraint, str) else None


def requirements(table: Table) -> tuple[str, ...]:
    """A table of name → constraint as PEP 508 lines; what is not of the index is left out."""
    found = []
    for name, wanted in table.items():
        entry = wanted[0] if isinstance(wanted, list) and wanted else wanted
        if name == "python" or entry is None:
            continue
        if isinstance(entry, str):
            found.append(f"{name}{_specifier(entry)}")
        elif isinstance(entry, dict) and not {"git", "path", "url"} & set(entry):
            extras = entry.get("extras")
            extra = f"[{','.join(map(str, extras))}]" if isinstance(extras, list) else ""
            found.append(f"{name}{extra}{_specifier(str(entry.get('version', '*')))}")
    return tuple(found)


def _specifier(constraint: str) -> str:
    """PEP 440's way of saying it; of alternatives (||) the last, which is the newest."""
    clauses = constraint.rpartition("||")[2].replace(" ", ",").split(",")
    return ",".join(filter(None, (_clause(clause.strip()) for clause in clauses)))


def _clause(clause: str) -> str:
    if clause in {"", "*"}:
        return ""
    if match := re.fullmatch(r"(\^|~)(\d.*)", clause):
        return _range(match.group(2), caret=match.group(1) == "^")
    if re.match(r"[<>=!~]", clause):
        return clause
    return f"=={clause}"


def _range(version: str, *, caret: bool) -> str:
    try:
        release = Version(version.rstrip(".*")).release
    except InvalidVersion:
        return ""
    if caret:
        kept = next((index for index, part in enumerate(release) if part), len(release) - 1)
    else:
        kept = min(1, len(release) - 1)
    upper = (*release[:kept], release[kept] + 1)
    return f">={version},<{'.'.join(map(str, upper))}"
