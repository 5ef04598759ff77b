"""The commands that make an environment of a recipe: pure, for a container and for a Dockerfile.

Both run the same lines in the same order, so that the text stored with an instance is what was
done. Nothing of this machine is in them: a CA bundle or an index of one's own come by environment
variables that only the container of an install is given.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from posixpath import normpath
from shlex import quote

from validators.engine import KEPT, TREE, VENV
from validators.model import ProjectInstall, Recipe, Tree
from validators.repository import repository_lines, timestamp

GENERATED = f"{KEPT}/generated.tar"
"""What an install left in the tree beside its files."""

_PYTHON = f"{VENV}/bin/python"
_OPTION = re.compile(r"(-r|-c|--requirement|--constraint)[\s=]*(\S.*)")
_GROUP = re.compile(r"--group[\s=]+(\S+)")
_LOCAL = re.compile(r"(?:-e\s+)?\.(\[[^\]]*\])?(\s*;.*)?")


@dataclass(frozen=True, slots=True)
class OutsideTreeError(ValueError):
    """A recipe names a file that is not under the tree."""

    path: str


def apt_lines(recipe: Recipe) -> Sequence[str]:
    """Shell lines that install the recipe's system packages, as root."""
    if not recipe.apt:
        return ()
    packages = " ".join(map(quote, recipe.apt))
    return (
        "apt-get update -qq",
        f"DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends -- "
        f"{packages}",  # none of them is an option
        "rm -rf /var/lib/apt/lists/*",
    )


def unpack_line() -> str:
    """The shell line that unpacks standard input, the tree's tar, into its folder."""
    return f"/bin/tar --extract --no-same-owner --file=- --directory={TREE}"


def tree_lines(tree: Tree) -> Sequence[str]:
    """Shell lines that make the tree, in its folder, a repository of one commit."""
    # no archive format of a build takes a file from before 1980
    touch = f"touch -d {timestamp(tree.committed_at)}"
    return (
        f"find . -type f -not -newermt 1980-01-02 -exec {touch} {{}} +",
        *repository_lines(tree),
    )


def venv_line(recipe: Recipe, folder: str = VENV) -> str:
    """The shell line that makes a virtual environment."""
    return f"uv venv -q --no-config --no-python-downloads --python python{recipe.python} {folder}"


def resolve_line(recipe: Recipe, requirements: str, lock: str, *, tree: str = TREE) -> str:
    """The shell line that resolves the file `requirements` and the groups of the recipe, which are
    in `tree`, into the file `lock`, as of the date."""
    named = filter(None, map(_GROUP.fullmatch, recipe.requirements))
    groups = "".join(f"--group {quote(f'{tree}/pyproject.toml:{each[1]}')} " for each in named)
    return (
        f"{_compile(recipe)} {groups}--output-file {lock} {requirements}"
        " >/dev/null"  # it prints the lock as well; its warnings are wanted
    )


def tools_line(recipe: Recipe) -> str:
    """The shell line that resolves standard input, what builds the project, as of the date.

    It prints the lock, and nothing beside it.
    """
    return f"{_compile(recipe)} -q -"


def _compile(recipe: Recipe) -> str:
    return (
        f"uv pip compile --no-config --no-sources --python {_PYTHON} {_dates(recipe)}"
        "--generate-hashes --no-header --no-annotate --no-emit-index-url"
    )


def install_line(recipe: Recipe, lock: str) -> str:
    """The shell line that installs exactly the file `lock`: every hash must agree."""
    return (
        f"uv pip install -q --no-config --python {_PYTHON} {_dates(recipe)}--no-deps"
        f" --require-hashes -r {lock}"
    )


def is_isolated(recipe: Recipe) -> bool:
    """Whether the project is built apart from its environment, with tools of its own."""
    return recipe.project_install is not ProjectInstall.NONE and not recipe.build_requirements


def project_line(recipe: Recipe, tools: str | None = None) -> str | None:
    """The shell line that installs the project itself, without its dependencies.

    With build requirements of the recipe's own, they are in the environment and build it there;
    else with the versions of the file `tools`, or those of the date.
    """
    if recipe.project_install is ProjectInstall.NONE:
        return None
    isolation = "--no-build-isolation " if recipe.build_requirements else ""
    return f"{_project(recipe, _PYTHON, tools)} {isolation}{_source(recipe)}"


def ahead_line(recipe: Recipe, folder: str, tools: str | None = None) -> str:
    """The shell line that builds the project in isolation, and installs it in `folder` only.

    The installer remembers the build: that is what it is for, while the lock is being installed.
    """
    python = f"{folder}/bin/python"
    return f"{venv_line(recipe, folder)} && {_project(recipe, python, tools)} {_source(recipe)}"


def built_line(recipe: Recipe, tools: str | None = None) -> str:
    """The shell line that installs the project as `ahead_line` built it.

    What stands in a file of requirements is built only when it changed since; what is named in the
    command, always.
    """
    project = _project(recipe, _PYTHON, tools)
    return f"printf '%s\\n' {quote(_source(recipe))} | {project} -r -"


def compile_line() -> str:
    """The shell line that compiles the environment's bytecode (some files are not meant to).

    Packages' own tests are left out: they are half of some packages, and nobody imports them; and
    the lexers of pygments, which pytest brings: of hundreds, a run loads one at the most. Two
    processes share the files, a few hundred at a time: compileall's own workers cost as much as
    they bring until there are thousands.
    """
    unused = "-not -path '*/tests/*' -not -path '*/pygments/lexers/*'"
    find = f"find {VENV}/lib -name '*.py' {unused} -print0"
    compileall = f"{_PYTHON} -m compileall -q"
    return (
        f"mapfile -d '' files < <({find}); printf '%s\\0' \"${{files[@]}}\""
        f" | xargs -0 -P 2 -n $((${{#files[@]}} / 8 + 50)) {compileall} >/dev/null 2>&1 || true"
    )


def together(line: str, other: str) -> str:
    """A shell line that runs both at once, and fails when either does. `line` has the input."""
    return f"( {other} ) & ( {line} ) && wait $!"


def in_turn(*lines: str) -> str:
    """A shell line that prints a zero byte between one line's output and the next's.

    It ends with the first that fails, so their number tells which it was.
    """
    return " && printf '\\0' && ".join(f"( {line} )" for line in lines)


def listing_line() -> str:
    """The shell line that prints what is kept of what the install left in the tree."""
    return f"tar --list --file={GENERATED}"


def freeze_line() -> str:
    """The shell line that prints the packages of the environment."""
    return f"uv pip freeze -q --no-config --python {_PYTHON}"


def generated_line() -> str:
    """The shell line that keeps what the install left in the tree, caches and copies apart.

    Where meson builds stays: what it installed for editing looks there, and builds again.
    """
    built = r"^(build/(bdist|lib|scripts|temp)[^/]*|dist)/"
    leave = rf"(^|/)(__pycache__|\.git)(/|$)|{built}|\.egg-info/SOURCES\.txt$"
    return (
        f"git ls-files --others -z | grep -zvE '{leave}'"
        f" | tar --create --null --no-recursion --files-from=- --file={GENERATED}"
    )


def bare_metadata_line() -> str:
    """The shell line that cuts the project's long description.

    An environment is shared by commits with the same dependencies: what a newer one says of itself
    must not be read at an older.
    """
    cut = "sed -i '/^\\r\\?$/q'"
    return (
        f"for file in $(grep -ls 'file://{TREE}\"' {VENV}/lib/*/site-packages/*/direct_url.json);"
        f' do {cut} "${{file%direct_url.json}}METADATA"; done;'
        f" find {TREE} -path '*.egg-info/PKG-INFO' -exec {cut} {{}} +"
    )


def python_path(recipe: Recipe) -> str:
    """The value of PYTHONPATH that puts the recipe's source paths on the import path."""
    return ":".join(normpath(f"{TREE}/{folder}") for folder in recipe.source_paths)


def requirements_text(recipe: Recipe, *, tree: str = TREE) -> str:
    """The recipe's requirements as a file, without groups: what is relative is under `tree`.

    Raises OutsideTreeError for a file that is not.
    """
    wanted = (line for line in recipe.requirements if not _GROUP.fullmatch(line))
    lines = [_absolute(line, tree) for line in (*wanted, *recipe.build_requirements)]
    return "".join(f"{line}\n" for line in lines)


def requirement_paths(recipe: Recipe) -> Sequence[str]:
    """The files of the tree that the recipe's requirements name, relative to it."""
    named = filter(None, map(_OPTION.fullmatch, recipe.requirements))
    return tuple(normpath(match.group(2)).removeprefix(f"{TREE}/") for match in named)


def _absolute(line: str, tree: str) -> str:
    if match := _LOCAL.fullmatch(line):
        return f"{tree}{match.group(1) or ''}{match.group(2) or ''}"
    if match := _OPTION.fullmatch(line):
        path = match.group(2)
        inside = normpath(path if path.startswith("/") else f"{tree}/{path}")
        if not inside.startswith(f"{tree}/"):
            raise OutsideTreeError(path)
        return f"{match.group(1)} {inside}"
    return line


def _project(recipe: Recipe, python: str, tools: str | None) -> str:
    options = "-q --no-config --no-sources"
    bound = "" if tools is None else f" --build-constraints {tools}"
    return f"uv pip install {options} --python {python} {_dates(recipe)}--no-deps{bound}"


def _source(recipe: Recipe) -> str:
    return f"-e {TREE}" if recipe.project_install is ProjectInstall.EDITABLE else TREE


def _dates(recipe: Recipe) -> str:
    """The options that say as of when packages are chosen, for builds in isolation too."""
    if recipe.cutoff_at is None:
        return ""
    exempt = "".join(
        f"--exclude-newer-package {quote(name)}={_stamp(until)} "
        for name, until in recipe.cutoff_exempt
    )
    return f"--exclude-newer {_stamp(recipe.cutoff_at)} {exempt}"


def _stamp(date: datetime) -> str:
    return f"{date.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
