"""How a recipe's test command is called: pure, from recipe and selection to one line of bash."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from posixpath import normpath

from validators.engine import KIT, REPORT_PIPE, TREE, VENV
from validators.errors import UnknownRecipeError
from validators.model import Recipe

LIBRARY = f"{KIT}/lib"
REPORTER_MODULE = "miner_reporter"

FIXED_ENV: Mapping[str, str] = {
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
}
"""The same in every run, so that states differ by their patches alone. A recipe may override."""

_PYTHON = re.compile(
    r"(?P<python>(?<!\S)(?:/\S*/)?python[\d.]*)"
    r"(?P<options>(?:\s+-(?:[WX]\s*\S+|[BbdEiIOqsSuvx]+))*)\s+(?=\S)"
)
_PLACES_OF_COMMANDS = (f"{VENV}/", "/usr/", "/bin/", "/sbin/")
"""Where no guest writes in a run."""

_TEST_TIME_SHARE = 5
"""One test may take a fifth of the run's time, so that a hang leaves time for the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """`line` is bash, run in the tree with the selection as its arguments.

    `by_path`: the selection is paths, not dotted names.
    """

    line: str
    selection: tuple[str, ...]
    by_path: bool
    env: Mapping[str, str]


def invocation(
    recipe: Recipe, *, selection: Sequence[str], env: Mapping[str, str] | None = None
) -> Invocation:
    """The call that runs `selection` (paths in the tree; empty: the whole suite) and reports.

    `env` overrides what is fixed and what the recipe says. Raises UnknownRecipeError when the
    command cannot be made to report.
    """
    variables = {**FIXED_ENV, **dict(recipe.env_vars), **(env or {})}
    entries = [f"{TREE}/{path}".rstrip("/.") for path in recipe.source_paths]
    given = variables.get("PYTHONPATH")
    library = [LIBRARY] if recipe.runner == "pytest" else []
    path = ":".join([*library, *entries, *([given] if given else [])])
    if path:
        variables["PYTHONPATH"] = path
    if "PATH" in variables:
        variables["PATH"] = _commands_first(variables["PATH"])
    line, chosen = _line(recipe, selection)
    return Invocation(line=line, selection=chosen, by_path=recipe.runner == "pytest", env=variables)


def _commands_first(path: str) -> str:
    """PATH with the places of the image first: a file of the tree, or one that a build makes, must
    not stand in for `python`, which reads the nonce."""
    entries = path.split(":")
    ours = [entry for entry in entries if f"{normpath(entry)}/".startswith(_PLACES_OF_COMMANDS)]
    return ":".join([*ours, *(entry for entry in entries if entry not in ours)])


def header(recipe: Recipe, nonce: str, *, shuffle_seed: int = 0) -> bytes:
    """The first line of the test process's standard input; see `reporter.py`."""
    limit_s = recipe.timeout_s / _TEST_TIME_SHARE
    return f"miner-report {nonce} {REPORT_PIPE} {limit_s:g} {shuffle_seed}\n".encode()


def _line(recipe: Recipe, selection: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    match recipe.runner:
        case "pytest":
            return f'{recipe.test_cmd} -p {REPORTER_MODULE} "$@"', tuple(selection)
        case "unittest":
            simple = re.fullmatch(r"\S*python[\d.]*\s+-m\s+unittest(\s+-\w+)*", recipe.test_cmd)
            modules = _modules(selection, recipe.source_paths) if simple is not None else ()
            return f'{_watched(recipe.test_cmd)} "$@"', modules
        case "django":
            return f'{_watched(recipe.test_cmd)} --parallel=1 "$@"', _labels(recipe, selection)
        case _:
            raise UnknownRecipeError(
                f"The recipe names the test runner {recipe.runner!r}; known are pytest, unittest "
                "and django."
            )


def _watched(test_cmd: str) -> str:
    """The command with our reporter between the interpreter and what it runs."""
    found = _PYTHON.search(test_cmd)
    if found is None:
        raise UnknownRecipeError(
            f"The test command {test_cmd!r} does not start Python visibly, so nothing can report "
            "from inside: write it as `python …`."
        )
    watcher = f"{found['python']}{found['options']} {LIBRARY}/{REPORTER_MODULE}.py watch "
    return test_cmd[: found.start()] + watcher + test_cmd[found.end() :]


def _modules(selection: Sequence[str], source_paths: Sequence[str]) -> tuple[str, ...]:
    """Dotted names of the selected modules; none when a folder is among them."""
    if any(not path.endswith(".py") for path in selection):
        return ()
    return tuple(_dotted(path, source_paths) for path in selection)


def _dotted(path: str, roots: Sequence[str]) -> str:
    for root in sorted(roots, key=len, reverse=True):
        inside = path.removeprefix(f"{root.strip('/')}/")
        if root not in {"", "."} and inside != path:
            path = inside
            break
    return ".".join(PurePosixPath(path).with_suffix("").parts)


def _labels(recipe: Recipe, selection: Sequence[str]) -> tuple[str, ...]:
    """Django's labels: dotted, and relative to the folder of the script that runs them."""
    scripts = [word for word in recipe.test_cmd.split() if word.endswith(".py")]
    folder = str(PurePosixPath(scripts[0]).parent) if scripts else "."
    return _modules(selection, (*recipe.source_paths, folder))
