"""Files that no run of a model may change, since they are its tests: sealed, and looked at again.

A seal is the content's digest and the kernel's own mark of the last change (time of change and
number of the file), which no guest can set: what is changed and put back is seen too. Other files
of the tests, their data, are sealed all together and without digests: tests may write there.

A folder that is moved away and back leaves its files as they were: its own mark tells it, as long
as nothing was put into it since. Bytecode of the tests is kept nowhere: Python would take it for
the tests themselves. Where it would be is closed, and sealed. Where that of other modules will be
is laid before: else each import would put something into a folder.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from validators.engine import END_GUEST, TREE, Container
from validators.errors import EngineUnavailableError
from validators.grade_scripts import BYTECODE, CLOSE, CODE, FOLDER, SEAL, SEALED
from validators.model import Outcome
from validators.restoration import is_kept, rivals
from validators.run import LISTING_MB, PREPARE_S
from validators.surroundings import Surroundings, import_roots
from validators.testimony import tail

DATA = "data of the tests"
"""Stands for all of it: many tests have thousands of such files."""

_SLOW_S = PREPARE_S / 3
"""Where the look before took longer, one that is not done in time says nothing of the guest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """`digest` is empty where there is no regular file, `mark` where there is none at all."""

    digest: str = ""
    mark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guards:
    """`paths` are looked after; `closed` are folders for bytecode, in which there is to be none,
    `laid` those in which there may be."""

    paths: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    laid: tuple[str, ...] = ()

    @property
    def sealed(self) -> tuple[str, ...]:
        """All of which there are seals."""
        return (*self.paths, *self.closed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seals:
    """The seals of `paths`: of each that holds code or configuration, of folders, and of DATA.

    `took_s` is how long that took before any code of the guest ran.
    """

    paths: tuple[str, ...] = ()
    each: Mapping[str, Seal] = field(default_factory=dict)
    took_s: float = field(default=0.0, compare=False)


def guarded_paths(surroundings: Surroundings) -> tuple[str, ...]:
    """Tests, their data and their configuration in the final state, sorted.

    And where something could be put that would be imported instead: that it is not there is sealed.
    """
    kept = {each for each in surroundings.final_paths if is_kept(each, surroundings)}
    folders = {f"{folder}{FOLDER}" for folder in _folders(filter(_is_code, kept))}
    return tuple(sorted(kept.union(folders, *map(rivals, kept))))


def closed_folders(surroundings: Surroundings) -> tuple[str, ...]:
    """Where Python would keep the bytecode of the required tests and their conftests, sorted.

    Nowhere else: modules that are data of the tests are listed, copied and compiled by some.
    """
    known = surroundings.final_paths
    tests = {path for path in surroundings.held & known if path.endswith(".py")}
    above = {f"{folder}/conftest.py" for folder in _folders(tests)} | {"conftest.py"}
    folders = {PurePosixPath(path).parent / BYTECODE for path in tests | (above & known)}
    taken = {str(parent) for path in known for parent in PurePosixPath(path).parents}
    return tuple(sorted({str(folder) for folder in folders} - taken))


def laid_folders(surroundings: Surroundings) -> tuple[str, ...]:
    """Where Python keeps other bytecode in sealed folders, sorted: of the program's modules, and of
    packages that can be imported. Not of modules that are data of the tests, as above."""
    known, closed = surroundings.final_paths, closed_folders(surroundings)
    beside_tests = {str(PurePosixPath(folder).parent) for folder in closed}
    roots = {root or "." for root in import_roots(surroundings)} | beside_tests

    def is_package(folder: str) -> bool:
        parent = str(PurePosixPath(folder).parent)
        return f"{folder}/__init__.py" in known and (parent in roots or is_package(parent))

    code = {path for path in known if _is_code(path)}
    kept = {path for path in code if is_kept(path, surroundings)}
    modules = {path for path in code - kept if path.endswith(".py")}
    programs = {str(PurePosixPath(path).parent) for path in modules}
    folders = {each for each in _folders(kept) if each in programs or is_package(each)}
    return tuple(sorted({f"{folder}/{BYTECODE}" for folder in folders}.difference(closed)))


def close(container: Container, folders: Sequence[str]) -> Outcome:
    """Make them such that nothing is kept there; restore.sh does it where there is no build."""
    return _make(container, "close", folders)


def lay(container: Container, folders: Sequence[str]) -> Outcome:
    """Make those that are not there, as Python would; restore.sh as above."""
    return _make(container, "lay", folders)


def _make(container: Container, how: str, folders: Sequence[str]) -> Outcome:
    return container.exec(
        ("/bin/bash", "-c", f"{CLOSE}{how}"),
        timeout_s=PREPARE_S,
        workdir=TREE,
        stdin="".join(f"{path}\0" for path in folders).encode("utf-8", "surrogateescape"),
    )


def _folders(paths: Iterable[str]) -> set[str]:
    """All folders above these files but the tree itself, which cannot be moved."""
    return {str(parent) for path in paths for parent in PurePosixPath(path).parents} - {"."}


def _is_code(path: str) -> bool:
    return path.endswith(CODE)


def sealed(outcome: Outcome, paths: Sequence[str]) -> Seals:
    """The seals that `SEAL` printed before any code of the guest ran.

    Raises EngineUnavailableError when one is missing: without it, a change would go unseen.
    """
    seals = _seals(outcome, paths)
    if seals is None:
        raise EngineUnavailableError(
            f"The tests could not be looked at in their container: {tail(outcome.output)[-300:]}"
        )
    return replace(seals, took_s=outcome.duration_s)


def look(container: Container, paths: Sequence[str]) -> Outcome:
    """Run `SEAL` as root: the guest's processes are out of the way then."""
    return container.exec(
        ("/bin/bash", "-c", f"{SEAL}seal"),
        timeout_s=PREPARE_S,
        root=True,
        output_mb=LISTING_MB,
        workdir=TREE,
        stdin="".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape"),
    )


def look_again(container: Container, before: Seals) -> Outcome:
    """Look after code of the guest ran; once more, without its processes, when that was in vain.

    Raises EngineUnavailableError when the machine is too slow: then nothing is known of the guest.
    """
    first = look(container, before.paths)
    if _seals(first, before.paths) is not None:
        return first
    container.exec(END_GUEST, timeout_s=PREPARE_S)
    again = look(container, before.paths)
    late = first.timed_out or again.timed_out
    if late and before.took_s > _SLOW_S and _seals(again, before.paths) is None:
        raise EngineUnavailableError(
            f"The machine is too busy: a look at the tests took {before.took_s:.0f} s before they "
            f"ran, and more than {PREPARE_S:.0f} s after. Run fewer workers at a time."
        )
    return again


def renewed(before: Seals, outcome: Outcome) -> Seals:
    """Seals after code of the guest ran, for a later look; `changed` tells what it changed."""
    after = _seals(outcome, before.paths)
    return before if after is None else replace(after, took_s=before.took_s)


def changed(before: Seals, outcome: Outcome) -> tuple[str, ...]:
    """Whose content is not what it was, after code of the guest ran.

    All of them when that cannot be told: only what the guest left can keep the look from its end.
    """
    after = _seals(outcome, before.paths)
    return tuple(
        path
        for path, seal in before.each.items()
        if _is_code(path) and (after is None or after.each[path].digest != seal.digest)
    )


def touched(before: Seals, outcome: Outcome) -> tuple[str, ...]:
    """What was written to, whatever it holds now."""
    after = _seals(outcome, before.paths)
    return tuple(
        path
        for path, seal in before.each.items()
        if after is None or _is_other(path, seal.mark, after.each[path].mark)
    )


def refilled(before: Seals, outcome: Outcome) -> tuple[str, ...]:
    """Folders of tests into which something was put, or from which something was taken: honest
    tests do that too, and who moves such a folder can hide behind it."""
    after = _seals(outcome, before.paths)
    return tuple(
        path
        for path, seal in before.each.items()
        if path.endswith(FOLDER) and (after is None or after.each[path].mark != seal.mark)
    )


def _is_other(path: str, before: str, after: str) -> bool:
    """Of a folder, another mark counts unless it stands for what was put into it or taken out."""
    if not path.endswith(FOLDER) or before == after:
        return before != after
    changed_at, _, content_changed_at, *_ = [*after.split("|"), "", "", ""]
    return changed_at != content_changed_at


def _seals(outcome: Outcome, paths: Sequence[str]) -> Seals | None:
    """None when the output is not whole."""
    fields = outcome.output.decode("utf-8", "surrogateescape").split(f"{SEALED}\0")[1:]
    if not outcome.ok or outcome.truncated or len(fields) != 4:
        return None
    digests = {line[66:]: line[:64] for line in fields[0].split("\0") if len(line) > 66}
    marks = {line.split("|", 3)[-1]: line for line in fields[1].split("\0") if line}
    code = {
        path: Seal(digest=digests.get(path, ""), mark=marks.get(path, ""))
        for path in paths
        if path.endswith((*CODE, FOLDER, BYTECODE))
    }
    return Seals(paths=tuple(paths), each={**code, DATA: Seal(mark=fields[2].strip())})
