"""A recipe as a Dockerfile that anyone can build, without this project. Pure.

Classic syntax: no heredocs, no mounts, no frontend line. It is built in a folder that holds the
files of the base commit:

    docker build -f Dockerfile -t instance path/to/checkout
"""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from shlex import quote

from validators import installation, locks
from validators.engine import GUEST_UID, TREE, VENV
from validators.errors import UnknownRecipeError
from validators.model import ProjectInstall, Recipe
from validators.repository import COMMIT_LINES, tag_command, timestamp

UV_VERSION = "0.13.9"
"""The installer that resolved and installed; an image's own is used where it has one."""

_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
_LOCK = "/opt/lock.txt"
_TOOLS = "/opt/tools.txt"
_LINES_A_STEP = 200  # a step is one argument of a shell, which may have 128 KiB
_LOCAL_PATH = f"{VENV}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def dockerfile(
    recipe: Recipe, *, base: str, committed_at: datetime | None = None, tag: str | None = None
) -> str:
    """The text that makes the recipe's environment with the tree in it. Ends with a newline.

    `base` is the default of its argument BASE, such as "python:3.12-slim"; the base commit's date
    and nearest tag are those of COMMITTED_AT and TAG (where the date is unknown, the recipe's).
    The same commands run as in `environment.build_environment`. Raises UnknownRecipeError for a
    recipe without its lock: what it resolves to would differ from day to day.
    """
    if recipe.lock is None:
        raise UnknownRecipeError("A recipe without its lock has no Dockerfile: build it first.")
    parts = (
        _head(base),
        _system(recipe),
        _tree(recipe, committed_at or recipe.cutoff_at or _LONG_AGO, tag or ""),
        _environment(recipe, recipe.lock),
        _tail(recipe),
    )
    return "\n".join(line for part in parts for line in part) + "\n"


def _head(base: str) -> Iterable[str]:
    """Two stages: in what a clone is copied to, git's history stays, also once it is removed."""
    return (
        "# Build in a folder that holds the files of the base commit.",
        f"ARG BASE={base}",
        "FROM ${BASE} AS tree",
        f"COPY . {TREE}",
        f"RUN rm -rf {TREE}/.git",
        "FROM ${BASE}",
        'SHELL ["/bin/bash", "-o", "pipefail", "-c"]',
        "ENV LANG=C.UTF-8",
    )


def _system(recipe: Recipe) -> Iterable[str]:
    """Tools that the base may lack, the recipe's system packages, the user that runs tests."""
    script = f"https://astral.sh/uv/{UV_VERSION}/install.sh"
    curl = f"curl -LsSf {script} | UV_INSTALL_DIR=/usr/local/bin sh"
    apt = "apt-get update -qq && apt-get install -qq -y --no-install-recommends"
    yield f"RUN command -v git >/dev/null || ({apt} git)"
    yield (
        f"RUN command -v uv >/dev/null || python3 -m pip install -q uv=={UV_VERSION}"
        f" || ({apt} curl ca-certificates && {curl})"
    )
    yield f"RUN id guest >/dev/null 2>&1 || useradd --uid {GUEST_UID} --create-home guest"
    if recipe.apt:
        yield f"RUN {' && '.join(installation.apt_lines(recipe))}"
    files = f"{_LOCK} {_TOOLS}" if _tools(recipe) else _LOCK
    yield (
        f"RUN mkdir -p {VENV} /opt/miner {TREE} && touch {files}"
        f" && chown guest {VENV} /opt/miner {TREE} {files}"
    )


def _tree(recipe: Recipe, committed_at: datetime, tag: str) -> Iterable[str]:
    """The tree as a repository of one commit: its real history may show the fix."""
    yield f"ARG COMMITTED_AT={timestamp(committed_at)}"
    yield f"ARG TAG={_quoted(tag)}"
    yield f"COPY --from=tree --chown=guest {TREE} {TREE}"
    yield "USER guest"
    yield f"WORKDIR {TREE}"
    yield from _variables(recipe)
    steps = (
        'export GIT_AUTHOR_DATE="$COMMITTED_AT" GIT_COMMITTER_DATE="$COMMITTED_AT"',
        *COMMIT_LINES,
        f'if [ -n "$TAG" ]; then {tag_command(chr(34) + "$TAG" + chr(34))}; fi',
    )
    yield f"RUN {' && '.join(steps)}"


def _environment(recipe: Recipe, lock: str) -> Iterable[str]:
    yield f"RUN {installation.venv_line(recipe)}"
    lines = locks.without_tools(lock).splitlines()
    yield from _written(lines, _LOCK)
    if lines:
        yield f"RUN {installation.install_line(recipe, _LOCK)} --no-cache"
    for command in recipe.pre_install:
        yield f"RUN export PATH={_LOCAL_PATH} && {command}"
    tools = _tools(recipe)
    yield from _written(tools, _TOOLS)
    if project := installation.project_line(recipe, _TOOLS if tools else None):
        yield f"RUN {project} --no-cache"
    yield f"RUN {installation.compile_line()}"


def _tools(recipe: Recipe) -> Sequence[str]:
    """The lines that bind what builds the project, where it is built in isolation."""
    return (
        locks.tools_of(recipe.lock or "").splitlines() if installation.is_isolated(recipe) else ()
    )


def _tail(recipe: Recipe) -> Iterable[str]:
    yield f"ENV PATH={_LOCAL_PATH} VIRTUAL_ENV={VENV}"
    if recipe.project_install is not ProjectInstall.EDITABLE and recipe.source_paths:
        yield f"ENV PYTHONPATH={installation.python_path(recipe)}"
    if recipe.build_cmd is not None:
        yield f"# After patching, before every run: {recipe.build_cmd}"
    yield f"# Tests: {recipe.test_cmd}"
    yield f"CMD {json.dumps(['/bin/bash'])}"


def _variables(recipe: Recipe) -> Iterable[str]:
    for name, value in recipe.env_vars:
        yield f"ENV {name}={_quoted(value)}"


def _quoted(value: str) -> str:
    return json.dumps(value).replace("$", "\\$")


def _written(lines: Sequence[str], path: str) -> Iterable[str]:
    """Steps that add lines to a file."""
    for start in range(0, len(lines), _LINES_A_STEP):
        words = " \\\n    ".join(quote(line) for line in lines[start : start + _LINES_A_STEP])
        yield f"RUN printf '%s\\n' \\\n    {words} \\\n    >> {path}"
