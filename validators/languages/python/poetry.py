"""Poetry's tables, whose carets and tildes are no PEP 440."""

import re
from collections.abc import Mapping

from packaging.markers import InvalidMarker, Marker
from packaging.version import Version

Table = Mapping[str, object]
_MARKERS = ("sys_platform", "os_name", "platform_system", "python_version", "platform_machine")


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


def dependencies(table: Table) -> tuple[str, ...]:
    """What an installed project requires, without what only its extras do."""
    declared = table.get("dependencies")
    wanted = declared.items() if isinstance(declared, dict) else ()
    return requirements(
        {
            name: entry
            for name, entry in wanted
            if not (isinstance(entry, dict) and entry.get("optional") is True)
        }
    )


def python_specifier(constraint: object) -> str | None:
    """Poetry's `python = "^3.8"` as requires-python."""
    return _specifier(constraint) or None if isinstance(constraint, str) else None


def requirements(table: Table) -> tuple[str, ...]:
    """A table of name → constraint as PEP 508 lines; what is not of the index is left out.

    A list of constraints is one line each: their markers tell them apart.
    """
    found = []
    for name, wanted in table.items():
        for entry in wanted if isinstance(wanted, list) else [wanted]:
            if name == "python" or entry is None:
                continue
            if isinstance(entry, str):
                found.append(f"{name}{_specifier(entry)}")
            elif isinstance(entry, dict) and not {"git", "path", "url", "file"} & set(entry):
                extras = entry.get("extras")
                extra = f"[{','.join(map(str, extras))}]" if isinstance(extras, list) else ""
                version = _specifier(str(entry.get("version", "*")))
                found.append(f"{name}{extra}{version}{_marker(entry)}")
    return tuple(found)


def _marker(entry: Table) -> str:
    """What a table says of where it holds, as a marker: Poetry's words and those of a Pipfile."""
    parts = []
    if isinstance(stated := entry.get("markers"), str):
        parts.append(f"({stated})")
    if isinstance(python := entry.get("python"), str):
        clauses = _specifier(python).split(",")
        matches = (re.fullmatch(r"([<>=!~]+)\s*([\w.*]+)", clause) for clause in clauses)
        parts += [f"python_version {m.group(1)} '{m.group(2)}'" for m in matches if m is not None]
    if isinstance(platform := entry.get("platform"), str):
        parts.append(f"sys_platform == '{platform}'")
    for name in _MARKERS:
        if isinstance(condition := entry.get(name), str):
            parts.append(f"{name} {condition}")
    marker = " and ".join(parts)
    try:
        return f"; {Marker(marker)}" if marker else ""
    except InvalidMarker:
        return ""


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
    except ValueError:  # no version, or a number too long for this Python
        return ""
    if caret:
        kept = next((index for index, part in enumerate(release) if part), len(release) - 1)
    else:
        kept = min(1, len(release) - 1)
    upper = (*release[:kept], release[kept] + 1)
    return f">={version},<{'.'.join(map(str, upper))}"
