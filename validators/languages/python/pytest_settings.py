"""Which pytest plug-ins a project's own configuration of pytest asks for."""

import re
from collections.abc import Iterator, Mapping, Sequence

from validators.languages.python import distributions
from validators.languages.python.documents import (
    ini_as_written,
    table,
    toml,
    words_before_remark,
)
from validators.languages.python.requirement_files import requirement_name

_TOML_FILES = ("pytest.toml", ".pytest.toml")  # of pytest 9
_INI_FILES = (("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("tox.ini", "pytest"),
              ("setup.cfg", "tool:pytest"), ("setup.cfg", "pytest"))  # fmt: skip


def plugins(files: Mapping[str, str]) -> Sequence[str]:
    """Distributions of the plug-ins that options and required_plugins call for."""
    options = read_options(files)
    words = words_before_remark(options.get("addopts", ""))
    found = [distributions.plugin_of_option(word) for word in words]
    found += [distributions.plugin_of_ini(name) for name in options]
    required = re.split(r"(?<!\s)\s+(?=[A-Za-z])", options.get("required_plugins", "").strip())
    found += [name for name in required if requirement_name(name)]
    return tuple(dict.fromkeys(name for name in found if name))


def read_options(files: Mapping[str, str]) -> Mapping[str, str]:
    """pytest's configuration, from the first file that has one, as pytest looks for it."""
    own = ((name, "") for name in _TOML_FILES)
    for name, section in (*own, *_INI_FILES[:2], ("pyproject.toml", ""), *_INI_FILES[2:]):
        if name not in files:
            continue
        found = _ini(files[name], section) if section else _from_toml(files[name], name)
        if found:
            return found
    return {}


def _ini(text: str, section: str) -> Mapping[str, str]:
    parser = ini_as_written(text)  # DJANGO_… is upper case
    return dict(parser.items(section)) if parser.has_section(section) else {}


def _from_toml(text: str, name: str) -> Mapping[str, str]:
    document = toml(text)
    found = table(document if name in _TOML_FILES else table(document, "tool"), "pytest")
    options = table(found, "ini_options") or {
        name: value for name, value in found.items() if name != "ini_options"
    }
    return dict(_texts(options))


def _texts(options: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in options.items():
        yield name, " ".join(map(str, value)) if isinstance(value, list) else str(value)
