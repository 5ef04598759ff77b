"""Which pytest plug-ins a project's own configuration of pytest asks for."""

import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from configparser import ConfigParser
from configparser import Error as ConfigError

from validators.languages.python import distributions
from validators.languages.python.requirement_files import requirement_name

_TOML_FILES = ("pytest.toml", ".pytest.toml")  # of pytest 9
_INI_FILES = (("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("tox.ini", "pytest"),
              ("setup.cfg", "tool:pytest"), ("setup.cfg", "pytest"))  # fmt: skip


def plugins(files: Mapping[str, str]) -> Sequence[str]:
    """Distributions of the plug-ins that options and required_plugins call for."""
    options = read_options(files)
    found = [distributions.plugin_of_option(word) for word in _words(options.get("addopts", ""))]
    found += [distributions.plugin_of_ini(name) for name in options]
    required = re.split(r"[\s]+(?=[A-Za-z])", options.get("required_plugins", "").strip())
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


def _words(addopts: str) -> Iterable[str]:
    try:
        return shlex.split(addopts, comments=True)
    except ValueError:
        return addopts.split()


def _ini(text: str, section: str) -> Mapping[str, str]:
    parser = ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # keep DJANGO_… upper case
    try:
        parser.read_string(text)
    except ConfigError:
        return {}
    return dict(parser.items(section)) if parser.has_section(section) else {}


def _from_toml(text: str, name: str) -> Mapping[str, str]:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}
    tool = document if name in _TOML_FILES else document.get("tool", {})
    table = tool.get("pytest", {}) if isinstance(tool, dict) else {}
    options = table.get("ini_options", {}) or {
        name: value for name, value in table.items() if name != "ini_options"
    }
    return dict(_texts(options))


def _texts(options: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in options.items():
        yield name, " ".join(map(str, value)) if isinstance(value, list) else str(value)
