"""Files that no run of a model may change, since they are its tests: sealed, and looked at again.

A seal is the content's digest and the kernel's own mark of the last change (time of change and
number of the file), which no guest can set: what is changed and put back is seen too. Other files
of the tests, their data, are sealed all together and without digests: tests may write there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from validators.engine import END_GUEST, TREE, Container
from validators.errors import EngineUnavailableError
from validators.grade_scripts import CODE, SEAL, SEALED
from validators.model import Outcome
from validators.restoration import is_kept, rivals
from validators.run import LISTING_MB, PREPARE_S
from validators.surroundings import Surroundings
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
class Seals:
    """The seals of `paths`: of each that holds code or configuration, and of DATA.

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
    return tuple(sorted(kept.union(*map(rivals, kept))))


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
        if path != DATA and (after is None or after.each[path].digest != seal.digest)
    )


def touched(before: Seals, outcome: Outcome) -> tuple[str, ...]:
    """What was written to, whatever it holds now."""
    after = _seals(outcome, before.paths)
    return tuple(
        path
        for path, seal in before.each.items()
        if after is None or after.each[path].mark != seal.mark
    )


def _seals(outcome: Outcome, paths: Sequence[str]) -> Seals | None:
    """None when the output is not whole."""
    fields = outcome.output.decode("utf-8", "surrogateescape").split(f"{SEALED}\0")[1:]
    if not outcome.ok or outcome.truncated or len(fields) != 4:
        return None
    digests = {line[66:]: line[:64] for line in fields[0].split("\0") if len(line) > 66}
    marks = {line.split("|", 2)[-1]: line for line in fields[1].split("\0") if line}
    code = {
        path: Seal(digest=digests.get(path, ""), mark=marks.get(path, ""))
        for path in paths
        if path.endswith(CODE)
    }
    return Seals(paths=tuple(paths), each={**code, DATA: Seal(mark=fields[2].strip())})
