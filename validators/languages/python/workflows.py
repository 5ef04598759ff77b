"""What developers' tools install before they test: noxfile (as a syntax tree), Pipfile, conda."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from validators.languages.python import documents, poetry
from validators.languages.python.interpreters import versions_in
from validators.languages.python.requirement_files import is_test_word
from validators.languages.python.syntax import syntax_tree

_NOT_PYTHONS_OWN = re.compile(
    r"python|pip|conda.*|.*-compilers?|compilers|gcc.*|gxx.*|make|cmake|ninja|nodejs|git|lib.*|mkl"
    r"|blas|openblas|openssl|pandoc|graphviz|hdf5|gdal|geos|proj|boost.*|m2-.*|vs20.*"
)
"""Conda packages that are no distributions."""

_BY_CONDA_NAME = {
    "pytables": "tables",
    "msgpack-python": "msgpack",
    "matplotlib-base": "matplotlib",
    "opencv": "opencv-python-headless",
    "pytorch": "torch",
    "importlib_metadata": "importlib-metadata",
    "dask-core": "dask",
    "protobuf-python": "protobuf",
}


def nox_lines(text: str) -> Sequence[str]:
    """What the sessions of a noxfile that test install: requirements, `.[extra]`, `-r FILE`.

    All sessions count when none is named for tests.
    """
    words = [word for session in _sessions(text) for word in _installed(session)]
    lines = []
    for word, following in zip(words, [*words, ""][1:], strict=True):
        if word in {"-r", "--requirement", "-c", "--constraint"}:
            lines.append(f"-{word.lstrip('-')[0]} {following}")
        elif not word.startswith("-") and (not lines or lines[-1][3:] != word):
            lines.append(word)
    return tuple(dict.fromkeys(lines))


def nox_pythons(text: str) -> Sequence[str]:
    """The versions that the same sessions are run with: `@nox.session(python=["3.9", "3.10"])`."""
    called = [
        keyword.value
        for session in _sessions(text)
        for decorator in session.decorator_list
        if isinstance(decorator, ast.Call)
        for keyword in decorator.keywords
        if keyword.arg in {"python", "py"}
    ]
    constants = [node for value in called for node in ast.walk(value)]
    return versions_in(node.value for node in constants if isinstance(node, ast.Constant))


def _sessions(text: str) -> Sequence[ast.FunctionDef]:
    """The sessions of a noxfile that test; all when none is named for tests."""
    module = syntax_tree(text)
    body = module.body if module is not None else []
    sessions = [node for node in body if isinstance(node, ast.FunctionDef)]
    return [node for node in sessions if is_test_word(node.name)] or sessions


def _installed(session: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(session):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr not in {"install", "run_install"}:
            continue
        for argument in node.args:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield argument.value


def pipfile_groups(text: str) -> Mapping[str, tuple[str, ...]]:
    """Requirements of a Pipfile: "dev" and "default"."""
    document = documents.toml(text)
    names = {"dev": "dev-packages", "default": "packages"}
    tables = {group: document.get(table) for group, table in names.items()}
    return {
        group: poetry.requirements(table)
        for group, table in tables.items()
        if isinstance(table, dict)
    }


def pipfile_pythons(text: str) -> Sequence[str]:
    """The Python of a Pipfile: `python_version = "3.9"`, or in full."""
    required = documents.table(documents.toml(text), "requires")
    return versions_in(required.get(name) for name in ("python_version", "python_full_version"))


def conda_lines(text: str) -> Sequence[str]:
    """Distributions that an environment.yml asks for, conda's by name alone, pip's as they are."""
    found: list[str] = []
    for entry in _conda_entries(text):
        if isinstance(entry, str):
            name = re.split(r"[=<>!~\s\[]", entry.rpartition("::")[2].strip())[0].lower()
            if name and not _NOT_PYTHONS_OWN.fullmatch(name):
                found.append(_BY_CONDA_NAME.get(name, name))
        elif isinstance(entry, dict):
            pip = entry.get("pip")
            found += (
                [line for line in pip if isinstance(line, str)] if isinstance(pip, list) else []
            )
    return tuple(dict.fromkeys(line for line in found if not line.startswith(("-", "."))))


def conda_pythons(text: str) -> Sequence[str]:
    """The Pythons an environment.yml pins: "python=3.8"."""
    texts = [entry for entry in _conda_entries(text) if isinstance(entry, str)]
    found = [re.match(r"python\s*(?:=|==|>=|~=)\s*(3\.\d+)", entry) for entry in texts]
    return tuple(match.group(1) for match in found if match is not None)


def _conda_entries(text: str) -> Sequence[object]:
    document = documents.yaml_document(text)
    entries = document.get("dependencies") if isinstance(document, dict) else None
    return entries if isinstance(entries, list) else ()
