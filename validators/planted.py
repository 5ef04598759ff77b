"""What a build leaves that would change how tests run: looked for, and taken away before they do.

Restoring comes before the build, which runs code of the model's. So what lies at places that
restoring looks after is compared before and after: what is new is removed, what is changed is told.
"""

import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from glob import escape
from pathlib import PurePosixPath
from shlex import quote

from validators.archive import guests_members
from validators.engine import TREE, Container
from validators.model import Outcome
from validators.restoration import (
    CONFIGURATION,
    SHARED,
    before_a_test,
    is_kept,
    is_shared,
)
from validators.run import LISTING_MB, PREPARE_S
from validators.sections import merged
from validators.shadowing import shadowed
from validators.surroundings import Surroundings, import_roots

_ENTRY_POINTS = "entry_points.txt"
_NAMES = (*sorted(CONFIGURATION | SHARED), _ENTRY_POINTS, "*.pth")
_PARTED = "//parted"
_BYTECODE = "__pycache__"
_DEPTH = "-mindepth {0} -maxdepth {0}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Files that configure test runs, by path (None: no regular file), and what can be imported.

    `compiled` are compiled modules and bytecode anywhere, and what hides some: links and folders
    that cannot be read.
    """

    files: Mapping[str, bytes | None]
    modules: frozenset[str]
    compiled: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Planting:
    """What a build did: `new` may go, `changed` cannot be undone. Paths are sorted.

    `bytecode` must go: nothing shows whether it is that of the tests, and Python makes it again.
    """

    new: tuple[str, ...] = ()
    bytecode: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def layout(container: Container, surroundings: Surroundings) -> Layout | None:
    """How the tree lies now; None when that cannot be seen, which only its files can cause.

    Looked at as guest: root has no rights of its own here, so folders could be closed to it alone.
    """
    outcome = container.exec(
        ("/bin/bash", "-c", _script(surroundings)),
        timeout_s=PREPARE_S,
        workdir=TREE,
        stdin=_folders(surroundings).encode("utf-8", "surrogateescape"),
        output_mb=LISTING_MB,
    )
    return _read(outcome)


def planting(before: Layout | None, after: Layout | None, surroundings: Surroundings) -> Planting:
    """What came between, of what restoring would not have left."""
    if before is None or after is None:
        return Planting(changed=("files that configure how tests run",))
    new = {path for path in after.modules - before.modules if shadowed(path, surroundings)}
    appeared = after.compiled - before.compiled
    new |= {path for path in appeared if before_a_test(PurePosixPath(path), surroundings)}
    changed = {*appeared} & _folders_of_tests(surroundings)
    for path in {*before.files, *after.files}:
        old, found = before.files.get(path, b""), after.files.get(path, b"")
        if old == found and (path in before.files) == (path in after.files):
            continue
        by_section = is_shared(path, surroundings.language)
        if by_section or PurePosixPath(path).name == _ENTRY_POINTS:
            if _differ(path, old, found):
                changed.add(path)
        elif path in before.files:
            changed.add(path)
        else:
            new.add(path)
    bytecode = {path for path in after.compiled if PurePosixPath(path).name == _BYTECODE}
    bytecode |= {path for path in appeared if path.endswith(".pyc")}
    return Planting(
        new=tuple(sorted(new)), bytecode=tuple(sorted(bytecode)), changed=tuple(sorted(changed))
    )


def remove(container: Container, paths: Iterable[str]) -> Outcome:
    """Take what was planted away; the build's processes must have ended."""
    stdin = "".join(f"./{path}\0" for path in paths).encode("utf-8", "surrogateescape")
    command = ("/bin/bash", "-c", "xargs -0 -r rm -rf --")
    return container.exec(command, timeout_s=PREPARE_S, workdir=TREE, stdin=stdin)


def _folders(surroundings: Surroundings) -> str:
    """Where modules are imported from, each ended by NUL: tests may lie in very many folders."""
    shared = {name.partition("/")[0] for name in surroundings.installed if "/" in name}
    inner = {f"{root}/{top}".strip("/") for root in import_roots(surroundings) for top in shared}
    return "".join(f"./{root}\0" for root in sorted(import_roots(surroundings) | inner))


def _script(surroundings: Surroundings) -> str:
    places = (f"-path {quote('./' + escape(path))}" for path in sorted(surroundings.named))
    names = " -o ".join((*(f"-name {quote(name)}" for name in _NAMES), *places))
    return f"""
mapfile -d '' -t roots
printf '%s\\0' "${{roots[@]}}" |
    xargs -0 /bin/sh -c 'find "$@" {_DEPTH.format(1)} ! -type d -printf "%p\\0"
        find "$@" {_DEPTH.format(2)} -name "__init__.*" -printf "%p\\0"' find 2>/dev/null || true
printf '{_PARTED}\\0'
find . -path ./.git -prune -o -name {_BYTECODE} -prune -print0 -o \\( -type l \
    -o -type d \\( ! -readable -o ! -executable \\) -o ! -type d \\( -name '*.so' -o -name '*.pyc' \
    -o -name '__init__.*' ! -name '__init__.py' \\) \\) -print0 2>/dev/null
printf '{_PARTED}\\0'
find . -path ./.git -prune -o \\( {names} \\) ! -type d -print0 |
    tar --create --null --no-recursion --files-from=- --file=- 2>/dev/null
"""


def _read(outcome: Outcome) -> Layout | None:
    modules, *rest = outcome.output.split(f"{_PARTED}\0".encode(), maxsplit=2)
    if not outcome.ok or outcome.truncated or len(rest) != 2:
        return None
    files: dict[str, bytes | None] = {}
    try:
        for name, content in guests_members(rest[1]):
            files[name.removeprefix("./")] = content
    except tarfile.TarError:
        return None
    return Layout(files=files, modules=_paths(modules), compiled=_paths(rest[0]))


def _paths(names: bytes) -> frozenset[str]:
    paths = (name.decode("utf-8", "surrogateescape") for name in names.split(b"\0") if name)
    return frozenset(str(PurePosixPath(path)) for path in paths)


def _folders_of_tests(surroundings: Surroundings) -> set[str]:
    """A link in place of one, or one that cannot be read, could hold what is not seen here."""
    kept = (path for path in surroundings.final_paths if is_kept(path, surroundings))
    return {str(parent) for path in kept for parent in PurePosixPath(path).parents}


def _differ(path: str, old: bytes | None, found: bytes | None) -> bool:
    """Whether test sections do; a link in place of such a file says what it likes."""
    if old is None or found is None:
        return True
    return merged(path, model=found.decode("latin-1"), final=old.decode("latin-1")) is not None
