"""What a project's CI says of its interpreters and system packages, beside what it runs."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from validators.languages.python.documents import table, yaml_document
from validators.languages.python.interpreters import tox_versions, versions_in

_VERSION_KEYS = frozenset({"python-version", "python", "python_version", "python-versions", "py"})


def is_ci_file(path: str) -> bool:
    """A workflow or the configuration of another CI that names Python versions."""
    pure = PurePosixPath(path)
    if path.startswith(".github/workflows/"):
        return pure.suffix in {".yml", ".yaml"}
    return path in {".travis.yml", "appveyor.yml", ".circleci/config.yml", "azure-pipelines.yml"}


def python_versions(files: Mapping[str, str]) -> Sequence[str]:
    """The Python 3 versions that CI runs, in no order of merit."""
    found: list[str] = []
    for path in filter(is_ci_file, files):
        values = list(_values(yaml_document(files[path]), _VERSION_KEYS))
        found += versions_in(values)
        found += tox_versions(files[path])
    return tuple(dict.fromkeys(found))


def apt_addons(files: Mapping[str, str]) -> Sequence[str]:
    """The Debian packages that Travis installs by itself (`addons: apt: packages:`)."""
    document = yaml_document(files.get(".travis.yml", ""))
    apt = table(document, "addons").get("apt")
    packages = apt.get("packages") if isinstance(apt, dict) else apt
    return tuple(str(name) for name in _scalars(packages) if isinstance(name, str))


def _values(node: object, keys: frozenset[str], *, depth: int = 12) -> Iterator[object]:
    """The scalars under any of `keys`, wherever they stand."""
    if depth == 0:
        return
    if isinstance(node, dict):
        for key, value in node.items():
            if key in keys:
                yield from _scalars(value)
            else:
                yield from _values(value, keys, depth=depth - 1)
    elif isinstance(node, list):
        for item in node:
            yield from _values(item, keys, depth=depth - 1)


def _scalars(node: object) -> Iterator[object]:
    if isinstance(node, list):
        for item in node:
            yield from _scalars(item)
    elif not isinstance(node, dict):
        yield node
