"""How a project calls pytest: the options without which its tests are others than it means.

tox, nox, hatch, make, invoke and CI are wrappers: what counts is the call of pytest inside, and of
that only what changes how tests are found, imported or set up. Which tests are run, how many at a
time and what is measured is not the project's business here.
"""

import ast
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from validators.languages.python import documents, shell_lines
from validators.languages.python.syntax import syntax_tree

_CALL = re.compile(
    r"(?<![\w./-])(?:(?:python[\d.]*|\{envpython\}|\$\w+|\$\(\w+\))\s+(?:-W\s*\S+\s+)?-m\s+)?"
    r"(?:py\.test|pytest)(?=\s+-|\s+[\w./]+\s)"
    r"((?:\s+[^\s;&|>\"'`,\]\)]+(?:(?<==)(?:\"[^\"\n]*\"|'[^'\n]*'))?|\s+\"[^\"\n]*\"|\s+'[^'\n]*')+)"
)
_WITH_VALUE = frozenset({"-c", "-p", "-o", "--ds", "--dc", "--import-mode", "--asyncio-mode"})
_ALONE = frozenset({"--nomigrations", "--no-migrations", "--strict-markers"})
_LONG = {"--config-file": "-c", "--override-ini": "-o"}
_OWN_PLUGIN = re.compile(r"[A-Za-z_]\w*(\.\w+)*")
_INI = re.compile(
    r"(python_(files|classes|functions)|pythonpath|asyncio_mode|django_\w+|DJANGO_\w+)=.+"
)


def pytest_options(files: Mapping[str, str], paths: Sequence[str], tox: str) -> Sequence[str]:
    """The options that matter of the first call of pytest that has any; none is the rule.

    Looked at in turn: tox (`tox` is the text of a tox.ini), noxfile, CI, Makefile and Dockerfile,
    scripts in pyproject.toml. `paths` are the tree's.
    """
    present = frozenset(paths)
    for text in _texts(files, tox):
        for match in _CALL.finditer(text):
            before = text[: match.start()].rpartition("\n")[2]
            if "install" in before:
                continue
            if found := tuple(_kept(documents.words(match.group(1)), present)):
                return found
    return ()


def _texts(files: Mapping[str, str], tox: str) -> Iterator[str]:
    yield documents.ini(tox).get("testenv", "commands", fallback="")
    yield "\n".join(_nox_calls(files.get("noxfile.py", "")))
    yield from shell_lines.scripts(files)
    yield files.get("pyproject.toml", "")


def _nox_calls(text: str) -> Iterator[str]:
    """`session.run("pytest", "-c", "x.ini", …)` as a line."""
    module = syntax_tree(text)
    for node in ast.walk(module) if module is not None else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            words = [each.value for each in node.args
                     if isinstance(each, ast.Constant) and isinstance(each.value, str)]  # fmt: skip
            if node.func.attr in {"run", "run_always"} and "pytest" in words:
                yield shlex.join([*words, "."])


def _kept(words: Sequence[str], present: frozenset[str]) -> Iterator[str]:
    """Options with their values as single words: "-c=x" is no form of pytest's, "--ds=x" is."""
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if re.fullmatch(r"-[cpo]\S+", name):
            name, equals, value = name[:2], "=", name[2:]
        name = _LONG.get(name, name)
        if name in _ALONE:
            yield name
        elif name in _WITH_VALUE:
            value = value if equals else next(rest, "")
            if _is_meant(name, value, present):
                yield from (name, value) if len(name) == 2 else (f"{name}={value}",)
                if name == "-c":  # its folder would be what test ids are relative to
                    yield "--rootdir=."


def _is_meant(name: str, value: str, present: frozenset[str]) -> bool:
    if re.search(r"[{}$]", value) or not value:
        return False
    match name:
        case "-c":
            return value in present
        case "-p":  # a plug-in of the project's own; no plug-in is switched off
            return bool(_OWN_PLUGIN.fullmatch(value)) and bool(
                {f"{value.replace('.', '/')}.py", f"{value.replace('.', '/')}/__init__.py"}
                & {path.removeprefix("src/") for path in present}
            )
        case "-o":
            return bool(_INI.fullmatch(value))
        case _:
            return bool(re.fullmatch(r"[\w.-]+", value))
