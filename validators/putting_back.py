"""Tests are put back into a model's tree in its container, and what is guarded is sealed."""

from collections.abc import Mapping
from dataclasses import dataclass

from validators.archive import pack
from validators.engine import KIT, NO_ROOM, TREE, Container, Talk
from validators.errors import EngineUnavailableError
from validators.grade_scripts import ABSENT, NOT_PLAIN, PUT_BACK_FAILED
from validators.guarded import Guards, Seals, look, sealed
from validators.model import Outcome
from validators.restoration import Plan
from validators.run import LISTING_MB, PREPARE_S
from validators.sections import merged
from validators.testimony import tail


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """Git's names of the model's tree and of the final state's, in the container."""

    model: str
    final: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PutBack:
    """The tests as they must be: `seals` of what is guarded, `notes` on merged files."""

    seals: Seals
    notes: tuple[str, ...]


def put_back(
    container: Container,
    talk: Talk,
    todo: Plan,
    *,
    trees: Trees,
    guards: Guards,
    mark: bytes,
) -> PutBack | Outcome:
    """Carry out the plan and bring the generated files; `talk` ends this part with `mark`.

    An Outcome when the model's files leave no room for it or stand in its way. Raises
    EngineUnavailableError when the machinery failed.
    """
    files = _merged_files(container, todo, trees)
    orders = [
        *(("D", path) for path in todo.remove),
        *(("R", path) for path in todo.restore),
        *(("C", path) for path in guards.closed),
        *(("L", path) for path in guards.laid),
        *(("G", path) for path in guards.sealed),
    ]
    told = "".join(f"{kind}\0{path}\0" for kind, path in orders)
    stdin = told.encode("utf-8", "surrogateescape")
    line = f"{len(stdin)} {trees.final}\n".encode()
    outcome = talk.until(mark, stdin=line + stdin, timeout_s=PREPARE_S, output_mb=LISTING_MB)
    if not outcome.ok:
        return _of_the_patch(outcome, by_status=outcome.exit_code == PUT_BACK_FAILED)
    if files:
        written = container.put(TREE, pack(files))
        if not written.ok:
            return _of_the_patch(written, by_status=not written.timed_out)
        if not files.keys().isdisjoint(guards.paths):
            outcome = look(container, guards.sealed)
    notes = tuple(f"restored the test sections of {path}" for path in files)
    return PutBack(seals=sealed(outcome, guards.sealed), notes=notes)


def _of_the_patch(outcome: Outcome, *, by_status: bool) -> Outcome:
    """The outcome, when it is the patch's doing."""
    if by_status or outcome.out_of_memory or NO_ROOM in outcome.output:
        return outcome
    raise EngineUnavailableError(
        f"The tests could not be put back in their container: {tail(outcome.output)[-300:]}"
    )


def _merged_files(container: Container, todo: Plan, trees: Trees) -> Mapping[str, bytes]:
    """The bytes that shared files must have, of those that do not stay as they are.

    Latin-1 keeps every byte. Where the model's text cannot be seen whole, nothing of it stays.
    """
    files = {}
    for path in todo.merge:
        model = _blob(container, trees.model, path)
        final = _blob(container, trees.final, path) or ""
        text = final if model is None else merged(path, model=model, final=final)
        if text is not None:
            files[path] = text.encode("latin-1")
    return files


def _blob(container: Container, tree: str, path: str) -> str | None:
    """A file's text, empty where there is none; None when it is too long, or a link."""
    outcome = container.exec(
        ("/bin/bash", f"{KIT}/blob.sh", tree, path),
        timeout_s=PREPARE_S,
        workdir=TREE,
        stdin=b"",
    )
    if outcome.exit_code == ABSENT:
        return ""
    if outcome.exit_code == NOT_PLAIN or (outcome.ok and outcome.truncated):
        return None
    if not outcome.ok:
        raise EngineUnavailableError(
            f"{path} could not be read in its container: {tail(outcome.output)[-300:]}"
        )
    return outcome.output.decode("latin-1")
