"""What tests need by their own words: imports, fixtures and marks, read from their syntax trees."""

import ast
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from validators.languages.base import FileClass
from validators.languages.python import distributions
from validators.languages.python.paths import classify, is_test_module
from validators.languages.python.syntax import syntax_tree

_GONE_FROM_STDLIB = frozenset(
    [
        *("asynchat", "asyncore", "binhex", "cgi", "cgitb", "crypt", "distutils", "formatter"),
        *("imghdr", "imp", "lib2to3", "macpath", "msilib", "nntplib", "parser", "pipes", "smtpd"),
        *("sndhdr", "symbol", "telnetlib", "tomllib", "xdrlib", "zoneinfo", "dummy_threading"),
        *("compression", "annotationlib", "string.templatelib", "test"),
    ]
)
_PYTHON_2 = frozenset(
    [
        *("__builtin__", "__builtins__", "ConfigParser", "cPickle", "cStringIO", "cookielib"),
        *("HTMLParser", "httplib", "Queue", "StringIO", "Cookie", "urllib2", "urlparse", "thread"),
        *("exceptions", "commands", "UserDict", "UserList", "UserString", "robotparser", "sets"),
        *("BaseHTTPServer", "SimpleHTTPServer", "SocketServer", "Tkinter", "xmlrpclib", "md5"),
        *("gtk", "pygtk", "gobject", "glib"),
        *("htmlentitydefs", "anydbm", "dbhash", "copy_reg", "builtins", "winreg", "_winreg"),
    ]
)
_STDLIB = sys.stdlib_module_names | _GONE_FROM_STDLIB | _PYTHON_2
_NOT_RUN = re.compile(r"(^|/)_?(fuzz|bench|perf|profil|typing|mypy|type_)")
"""Beside the tests, and not run with them."""

_IS_TEST = re.compile(r"tests?(_|$)|conftest$")
"""Modules of tests that import each other, from wherever they are run."""

_CALLS_PIP = re.compile(
    r"""-m["',\s]+pip\b|["']pip3?["'],\s*["'](un)?install|["']pip3? (un)?install"""
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_RUNNERS = frozenset({"pytest", "_pytest"})


@dataclass(frozen=True, slots=True)
class Needs:
    """Modules imported outside of any `try`, and plug-ins whose fixtures or marks are used.

    `inner` modules are imported only when a function runs: perhaps made by the test itself.
    `calls_pip`: a test starts pip in its own environment. `yields`: a test is a generator of tests,
    as nose ran them.
    """

    modules: frozenset[str]
    inner: frozenset[str]
    plugins: frozenset[str]
    calls_pip: bool = False
    yields: bool = False


def needs_of_tests(files: Mapping[str, str], paths: Iterable[str]) -> Needs:
    """Third-party modules and pytest plug-ins that the tests among `files` name.

    `paths` are all the tree's paths: what they define is the project's own.
    """
    own = own_modules(paths) | _RUNNERS | _STDLIB
    modules: set[str] = set()
    inner: set[str] = set()
    plugins: set[str] = set()
    defined: set[str] = set()
    calls_pip = yields = False
    for path, text in files.items():
        if not path.endswith(".py") or classify(PurePosixPath(path)) is not FileClass.TEST:
            continue
        if _NOT_RUN.search(path):
            continue
        tree = syntax_tree(text)
        if tree is None:
            continue
        calls_pip = calls_pip or _CALLS_PIP.search(text) is not None
        modules |= set(_imports(tree.body))
        functions = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]
        yields = yields or any(_is_generator_of_tests(node) for node in functions)
        inner |= {name for node in functions for name in _imports(node.body)}
        plugins |= set(_marks(tree))
        defined |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        plugins |= {f"fixture:{name}" for name in _arguments(tree)}
    used = {
        plugin
        for name in plugins
        if (plugin := _plugin(name)) and name.removeprefix("fixture:") not in defined
    }
    return Needs(
        modules=frozenset(name for name in not_of(modules, own) if not _IS_TEST.match(name)),
        inner=frozenset(name for name in not_of(inner - modules, own) if not _IS_TEST.match(name)),
        plugins=frozenset(used),
        calls_pip=calls_pip,
        yields=yields,
    )


def _is_generator_of_tests(node: ast.AST) -> bool:
    """`def test_x(): yield check, 1`; a decorator makes something else of it."""
    if not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return False
    body = [inner for statement in node.body for inner in ast.walk(statement)]
    nested = any(isinstance(inner, (*_FUNCTIONS, ast.Lambda)) for inner in body)
    yields = [inner for inner in body if isinstance(inner, ast.Yield)]
    told = any(isinstance(inner.value, ast.Tuple) for inner in yields)
    return node.name.startswith("test") and told and not nested


def builds_suites(files: Mapping[str, str]) -> bool:
    """Whether test cases are made in functions and gathered by load_tests: unittest alone runs
    those, pytest does not see them."""
    return any(
        "load_tests" in text and _makes_cases(tree)
        for path, text in files.items()
        if is_test_module(PurePosixPath(path)) and (tree := syntax_tree(text)) is not None
    )


def _makes_cases(tree: ast.Module) -> bool:
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    inner = [node for function in functions for node in ast.walk(function)]
    return any(function.name == "load_tests" for function in functions) and any(
        isinstance(node, ast.ClassDef) and _speaks_of("TestCase", node.bases) for node in inner
    )


def _plugin(name: str) -> str | None:
    if name.startswith("fixture:"):
        return distributions.plugin_of_fixture(name.removeprefix("fixture:"))
    return distributions.plugin_of_mark(name)


def _imports(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Importable names that are imported with the module, but for what a `try` makes optional."""
    for node in body:
        match node:
            case ast.Import(names=names):
                yield from (distributions.importable(alias.name) for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from (distributions.importable(f"{module}.{alias.name}") for alias in names)
            case ast.If() if not _is_type_checking(node):
                yield from _imports(node.body)
            case ast.ClassDef() | ast.With():
                yield from _imports(node.body)
            case _:
                pass


def _is_type_checking(node: ast.If) -> bool:
    return _speaks_of("TYPE_CHECKING", [node.test]) or _speaks_of("PY2", [node.test])


def _speaks_of(word: str, nodes: Iterable[ast.expr]) -> bool:
    """Whether the word is in a name there."""
    inner = [each for node in nodes for each in ast.walk(node)]
    names = [each.id for each in inner if isinstance(each, ast.Name)]
    names += [each.attr for each in inner if isinstance(each, ast.Attribute)]
    return any(word in name for name in names)


def _marks(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(
                value=ast.Attribute(value=ast.Name(id="pytest"), attr="mark"), attr=name
            ):
                yield name
            case _:
                pass


def _arguments(tree: ast.Module) -> Iterator[str]:
    """Argument names of tests and fixtures."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (
            node.name.startswith("test") or _speaks_of("fixture", node.decorator_list)
        ):
            yield from (argument.arg for argument in node.args.args)


def not_of(modules: Iterable[str], own: Collection[str]) -> frozenset[str]:
    """The importable modules but for those that the tree itself can answer to."""
    return frozenset(name for name in modules if not all(part in own for part in name.split(".")))


def own_modules(paths: Iterable[str]) -> frozenset[str]:
    """Names that the tree itself can answer to in an import, wherever it is put on the path."""
    own: set[str] = set()
    for path in map(PurePosixPath, paths):
        if path.suffix in {".py", ".pyx", ".so", ".pyi"}:
            own.add(path.stem)
            own.update(path.parts[:-1])
    return frozenset(own)
