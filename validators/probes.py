"""What an accepted instance is asked once more: other surroundings, no fix, parts of the fix.

A probe is one run. It never puts a test into a list; by its rule it may take tests out, or it only
leaves a mark for people and for `miner assess`. Rules and reasons: docs/verification.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from shlex import quote

from validators.engine import KIT
from validators.hunks import hunk_paths, without_hunk
from validators.languages import LANGUAGES, FileClass
from validators.model import Flaw, Phase, Run, Task, TestStatus, Verdict
from validators.patching import file_patches
from validators.trial import Trial

OTHER_UID = 4242
CLOCK_SHIFT_S = 2 * 365 * 24 * 3600
MOST_HUNKS = 8
"""So many hunks of a gold patch are left out in turn; larger patches are sampled evenly."""

CLOCK, HASH_SEED, PLACE, ORDER = "clock two years on", "hash seed", "time zone and locale", "order"
OWNER = "another user"
REMARK = "remark instead of the fix"
HUNK = "without hunk "
PROBE_FAILED, UNNOTICED, NOT_PROBED = "probe_failed", "unnoticed_hunks", "not_probed"
"""What marks begin with."""

TAKEN_OUT = "in a probe: "
"""What the reasons of tests that a probe took out hold."""

SURROUNDINGS = frozenset({CLOCK, HASH_SEED, PLACE, ORDER, OWNER})

_LIBRARY = "/tmp/.miner-clock.so"  # noqa: S108 - in the container, whose /tmp is its own
_COMPILE = f"cc -shared -fPIC -O1 -o {_LIBRARY} {KIT}/clock.c -ldl -lpthread\n"


def probes_of(task: Task) -> tuple[Trial, ...]:
    """All probes of a task in the order they are run."""
    plain = remark(task)
    first = (plain,) if plain is not None else ()
    return (*first, *surroundings(task), *hunks_left_out(task))


def surroundings(task: Task) -> tuple[Trial, ...]:
    """Runs as after the fix, in other surroundings: a test that fails in one is taken out."""
    after = Trial(phase=Phase.PROBE, patches=(task.test_patch, task.patch))
    clock = Path(__file__).with_name("clock.c").read_bytes()
    return (
        replace(
            after,
            variant=CLOCK,
            files={"clock.c": clock},
            after_patching=_COMPILE,
            env={"LD_PRELOAD": _LIBRARY, "MINER_CLOCK_SHIFT_S": str(CLOCK_SHIFT_S)},
        ),
        replace(after, variant=HASH_SEED, env={"PYTHONHASHSEED": "4242"}),
        replace(after, variant=PLACE, env={"TZ": "Asia/Kathmandu", "LANG": "en_US.UTF-8"}),
        replace(after, variant=ORDER, shuffle_seed=4242),
        replace(after, variant=OWNER, uid=OTHER_UID),
    )


def remark(task: Task) -> Trial | None:
    """A run as before the fix, with a remark in each Python file the fix changes.

    None when the fix changes no such file.
    """
    paths = sorted(
        path
        for each in file_patches(task.patch)
        for path in each.paths[-1:]
        if path.endswith(".py") and not each.is_deletion
    )
    if not paths:
        return None
    lines = "".join(
        f"[ ! -f {quote(path)} ] || printf '\\n# a remark\\n' >>{quote(path)}\n" for path in paths
    )
    return Trial(
        phase=Phase.PROBE, patches=(task.test_patch,), variant=REMARK, after_patching=lines
    )


def hunks_left_out(task: Task) -> tuple[Trial, ...]:
    """Runs as after the fix, each without one hunk of its source: what do tests notice?"""
    classify = LANGUAGES[task.language].classify
    paths = hunk_paths(task.patch)
    source = [
        n for n, p in enumerate(paths) if p and classify(PurePosixPath(p)) is FileClass.SOURCE
    ]
    if len(source) < 2:
        return ()
    step = max(1, -(-len(source) // MOST_HUNKS))
    return tuple(
        Trial(
            phase=Phase.PROBE,
            patches=(task.test_patch, without_hunk(task.patch, source[at])),
            variant=f"{HUNK}{at + 1} of {len(source)}",
        )
        for at in range(0, len(source), step)
    )


def applied(verdict: Verdict, probes: Sequence[Run]) -> Verdict:
    """The verdict after its probes: tests taken out with the reason, marks added. Pure."""
    removed: dict[str, str] = {}
    marks = list(verdict.marks)
    required = (*verdict.fail_to_pass, *verdict.pass_to_pass)
    for run in probes:
        if run.variant in SURROUNDINGS:
            marks += _unusable(run)
            if run.flaw is None:
                removed |= _changed(run, required, passed=False)
        elif run.variant == REMARK:
            # A remark must change nothing: as before the fix, nothing collected is honest.
            marks += _unusable(run) if run.flaw is not Flaw.NO_TESTS_SEEN else []
            if run.flaw is None:
                removed |= _changed(run, verdict.fail_to_pass, passed=True)
                removed |= _changed(run, verdict.pass_to_pass, passed=False)
    marks += _hunk_marks(verdict, [run for run in probes if run.variant.startswith(HUNK)])
    kept = tuple(each for each in verdict.fail_to_pass if each not in removed)
    flaw = None if kept else Flaw.FLAKY
    return replace(
        verdict,
        fail_to_pass=kept,
        pass_to_pass=tuple(each for each in verdict.pass_to_pass if each not in removed),
        missing_before=tuple(each for each in verdict.missing_before if each not in removed),
        left_out=tuple(sorted((*verdict.left_out, *removed.items()))),
        marks=tuple(marks),
        flaw=flaw,
        detail=verdict.detail if flaw is None else "no FAIL_TO_PASS test survives the probes",
        runs=(*verdict.runs, *probes),
    )


def _unusable(run: Run) -> list[str]:
    return [f"{PROBE_FAILED}: {run.variant}"] if run.flaw is not None else []


def _changed(run: Run, required: Sequence[str], *, passed: bool) -> Mapping[str, str]:
    """Of the required tests, those that passed (or failed) where they should not have."""
    told = f"{'passes' if passed else 'fails'} {TAKEN_OUT}{run.variant}"
    return {each: told for each in required if _passed(each, run) is passed}


def _passed(identifier: str, run: Run) -> bool:
    result = run.results.get(identifier)
    return result is not None and result.status is TestStatus.PASSED


def _hunk_marks(verdict: Verdict, runs: Sequence[Run]) -> list[str]:
    """How much of the fix the FAIL_TO_PASS tests notice; what is no patch any more says nothing."""
    runs = [run for run in runs if run.flaw is not Flaw.GOLD_PATCH_DOES_NOT_APPLY]
    unnoticed = [
        run
        for run in runs
        if run.flaw is None and all(_passed(each, run) for each in verdict.fail_to_pass)
    ]
    return [f"{UNNOTICED}: {len(unnoticed)} of {len(runs)}"] if unnoticed else []
