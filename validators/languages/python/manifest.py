"""What a repository declares about itself, gathered from all the places Python projects use."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from validators.languages.python import documents, poetry, setup_script
from validators.languages.python.documents import Table, table
from validators.languages.python.setup_script import Value, strings

_INCLUDED_MOST = 50
"""Groups that a group includes, one in the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Declared facts, those of later kinds only where earlier ones are silent.

    `extras` are names an installed project offers, `groups` requirements it does not.
    `folders` are where packages lie ("" is the root, "src" …); `scattered` ones can be imported
    from no single folder.
    """

    name: str | None = None
    installable: bool = False
    backend: str | None = None
    build_requires: tuple[str, ...] = ()
    setup_requires: tuple[str, ...] = ()
    requires_python: str | None = None
    classifiers: tuple[str, ...] = ()
    extras: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tests_require: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    scattered: bool = False
    uses_2to3: bool = False
    compiled: bool = False


def read_manifest(files: Mapping[str, str]) -> Manifest:
    """The manifest of a tree, from its `pyproject.toml`, `setup.cfg` and `setup.py`."""
    parts = [_from_pyproject(documents.toml(files.get("pyproject.toml", "")))]
    if "setup.cfg" in files:
        parts.append(_from_setup_cfg(files["setup.cfg"], has_script="setup.py" in files))
    if "setup.py" in files:
        parts.append(_from_setup_py(files["setup.py"]))
    return _merged(parts)


def _merged(parts: Sequence[Manifest]) -> Manifest:
    def first(values: Iterator[str | None]) -> str | None:
        return next((value for value in values if value), None)

    def longest(values: Iterator[tuple[str, ...]]) -> tuple[str, ...]:
        return next((value for value in values if value), ())

    return Manifest(
        name=first(part.name for part in parts),
        installable=any(part.installable for part in parts),
        backend=first(part.backend for part in parts),
        build_requires=longest(part.build_requires for part in parts),
        setup_requires=longest(part.setup_requires for part in parts),
        requires_python=first(part.requires_python for part in parts),
        classifiers=longest(part.classifiers for part in parts),
        extras={name: lines for part in reversed(parts) for name, lines in part.extras.items()},
        groups={name: lines for part in reversed(parts) for name, lines in part.groups.items()},
        tests_require=longest(part.tests_require for part in parts),
        dependencies=longest(part.dependencies for part in parts),
        folders=longest(part.folders for part in parts),
        scattered=any(part.scattered for part in parts),
        uses_2to3=any(part.uses_2to3 for part in parts),
        compiled=any(part.compiled for part in parts),
    )


def _from_pyproject(document: Table) -> Manifest:
    build, project, tool = (table(document, name) for name in ("build-system", "project", "tool"))
    poetry_table = table(tool, "poetry")
    flit = table(table(tool, "flit"), "metadata")
    build_requires = _strings(build.get("requires"))
    extras = _lists(project, "optional-dependencies")
    extras |= dict.fromkeys(table(poetry_table, "extras"), ())
    extras |= _lists(flit, "requires-extra")
    dynamic = table(table(table(tool, "setuptools"), "dynamic"), "optional-dependencies")
    extras |= dict.fromkeys(dynamic, ())
    return Manifest(
        name=_text(project.get("name"))
        or _text(poetry_table.get("name"))
        or _text(flit.get("dist-name"))
        or _text(flit.get("module")),
        installable=bool(project or build or "name" in poetry_table or flit),
        backend=_text(build.get("build-backend")),
        build_requires=build_requires,
        requires_python=_text(project.get("requires-python"))
        or poetry.python_specifier(table(poetry_table, "dependencies").get("python"))
        or _text(flit.get("requires-python")),
        classifiers=_strings(project.get("classifiers"))
        or _strings(poetry_table.get("classifiers"))
        or _strings(flit.get("classifiers")),
        extras=extras,
        groups=_groups(document, tool, poetry_table),
        dependencies=_strings(project.get("dependencies"))
        or poetry.dependencies(poetry_table)
        or _strings(flit.get("requires")),
        folders=_pyproject_folders(tool, poetry_table),
        scattered=_is_scattered(table(table(tool, "setuptools"), "package-dir")),
        compiled="ext-modules" in table(tool, "setuptools")
        or any(
            re.match(
                r"(?i)(cython|cffi|scikit-build|meson-python|maturin|setuptools-rust"
                r"|numpy|pybind11)",
                line,
            )
            for line in build_requires
        ),
    )


def _groups(document: Table, tool: Table, poetry_table: Table) -> dict[str, tuple[str, ...]]:
    """Requirements of nobody but developers, by group: PEP 735, uv, pdm, hatch, poetry."""
    groups = dict(poetry.groups(poetry_table))
    if dev := _strings(table(tool, "uv").get("dev-dependencies")):
        groups["dev"] = dev
    groups |= _lists(table(tool, "pdm"), "dev-dependencies")
    for name, environment in table(table(tool, "hatch"), "envs").items():
        if isinstance(environment, dict):
            wanted = (
                *_strings(environment.get("dependencies")),
                *_strings(environment.get("extra-dependencies")),
            )
            # hatch's own test environment is what `hatch test` uses; "default" runs scripts
            groups["test" if name in {"default", "hatch-test"} else name] = wanted
    declared = table(document, "dependency-groups")
    groups |= {name: tuple(_expand_group(declared, name, set())) for name in declared}
    return groups


def _expand_group(declared: Table, name: str, met: set[str]) -> Iterator[str]:
    """A group that is included again adds nothing: each could include all of them."""
    listed = declared.get(name)
    if name in met or not isinstance(listed, list) or len(met) == _INCLUDED_MOST:
        return
    met.add(name)
    for entry in listed:
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, dict):
            yield from _expand_group(declared, str(entry.get("include-group")), met)


def _pyproject_folders(tool: Table, poetry_table: Table) -> tuple[str, ...]:
    setuptools = table(tool, "setuptools")
    where = _strings(table(table(setuptools, "packages"), "find").get("where"))
    mapped = tuple(str(value) for value in table(setuptools, "package-dir").values())
    packages = poetry_table.get("packages")
    from_poetry = tuple(
        str(entry["from"])
        for entry in (packages if isinstance(packages, list) else [])
        if isinstance(entry, dict) and "from" in entry
    )
    wheel = table(table(tool, "scikit-build"), "wheel").get("packages")
    from_cmake = tuple(str(PurePosixPath(each).parent) for each in _strings(wheel)[:1])
    return where or mapped[:1] or from_poetry or from_cmake


def _from_setup_cfg(text: str, *, has_script: bool) -> Manifest:
    parser = documents.ini(text)

    def listed(section: str, option: str) -> tuple[str, ...]:
        value = parser.get(section, option, fallback="")
        # requirements of one line are split at semicolons only where no marker can be meant
        return tuple(line.strip() for line in value.splitlines() if line.strip())

    extras_section = "options.extras_require"
    extras = parser.options(extras_section) if parser.has_section(extras_section) else []
    mapped = parser.get("options", "package_dir", fallback="")
    folder = re.search(r"=\s*(\S+)", mapped)
    return Manifest(
        name=parser.get("metadata", "name", fallback=None),
        installable=has_script and parser.has_section("metadata"),
        setup_requires=listed("options", "setup_requires"),
        requires_python=parser.get("options", "python_requires", fallback=None)
        or parser.get("metadata", "requires-python", fallback=None),
        classifiers=listed("metadata", "classifiers") or listed("metadata", "classifier"),
        extras={name: listed(extras_section, name) for name in extras},
        tests_require=listed("options", "tests_require"),
        dependencies=listed("options", "install_requires"),
        folders=(folder.group(1),) if folder else (),
        scattered=_is_scattered(
            dict(re.findall(r"^[ \t]*(\S*)[ \t]*=[ \t]*(\S+)", mapped, re.MULTILINE))
        ),
    )


def _from_setup_py(text: str) -> Manifest:
    arguments = setup_script.setup_arguments(text)
    extras = arguments.get("extras_require")
    folders = arguments.get("package_dir")
    root = folders.get("") if isinstance(folders, dict) else None
    return Manifest(
        name=_text(arguments.get("name")),
        installable=True,
        requires_python=_text(arguments.get("python_requires")),
        classifiers=strings(arguments.get("classifiers")),
        extras={name: strings(wanted) for name, wanted in extras.items()}
        if isinstance(extras, dict)
        else {},
        setup_requires=strings(arguments.get("setup_requires")),
        tests_require=strings(arguments.get("tests_require")),
        dependencies=strings(arguments.get("install_requires")),
        folders=(root,) if isinstance(root, str) and root else _first_folder(folders),
        scattered=isinstance(folders, dict) and _is_scattered(folders),
        uses_2to3=setup_script.is_told(text, "use_2to3"),
        compiled=setup_script.is_told(text, "ext_modules")
        or setup_script.is_told(text, "cffi_modules"),
    )


def _first_folder(folders: Value | None) -> tuple[str, ...]:
    """`{"isodate": "src/isodate"}` → "src"."""
    if isinstance(folders, dict):
        for name, folder in folders.items():
            if isinstance(folder, str) and folder.endswith(f"/{name}"):
                return (folder.removesuffix(f"/{name}"),)
    return ()


def _is_scattered(folders: Mapping[str, object]) -> bool:
    """`{"pkg": "source"}`, or several roots: no one folder on the import path will do."""
    roots = set()
    for name, folder in folders.items():
        place = f"/{name.replace('.', '/')}" if name else ""
        inside = f"/{folder}".rstrip("/.").replace("/./", "/")
        if not inside.endswith(place):
            return True
        roots.add(inside.removesuffix(place))
    return len(roots) > 1


def _lists(holder: Table, name: str) -> dict[str, tuple[str, ...]]:
    return {key: _strings(value) for key, value in table(holder, name).items()}


def _strings(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
