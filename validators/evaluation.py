"""What is a model's patch worth? Applied, tests put back, run once → Grade.

The state that is run: the base tree, the model's patch on it, then tests and test configuration as
they are at base + test patch + gold (see restoration.py). Required tests must have passed; exit
code, the runner's own counts and the report must agree.
"""

import secrets
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from validators import grading
from validators.engine import TREE, Container, ContainerEngine, Progress, Talk
from validators.errors import EngineUnavailableError
from validators.grade_scripts import PATCHING, SHOWN, grading_scripts, patches_tar
from validators.guarded import Guards, closed_folders, guarded_paths, laid_folders
from validators.invocation import Invocation, invocation
from validators.languages import LANGUAGES
from validators.model import (
    Environment,
    Flaw,
    Grade,
    GradingTask,
    Outcome,
    Phase,
)
from validators.model_run import ModelRun, looked_after, run_model
from validators.patching import is_empty, methods, refusal, touched_paths, without_prose
from validators.preparation import (
    Prepared,
    configurations,
    places_of_tests,
    read_prepared,
    surroundings_of,
)
from validators.putting_back import put_back
from validators.restoration import is_kept, plan
from validators.run import (
    PREPARE_S,
    RUN_LABEL,
    listing_mb,
    reporter_source,
    run_limits,
    summary,
    test_script,
)
from validators.selection import selected
from validators.support import leaned_on, modules_of_examples
from validators.suspicion import flags, moves
from validators.testimony import tail
from validators.worktree import PATCH_FAILED, TALK, kit_tar, talk_script

GRADER_VERSION = 15
"""Part of every cache key of a grade: raised with every change by which some patch could get
another grade."""

_SLOW_S = PREPARE_S / 3
"""Where our own part takes longer, a patch that is not applied in time says nothing."""

_NOTHING = "the patch changes nothing"
_NO_ROOM = "tests could not be put back beside the patch's files"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    """What is graded, and what our own scripts mark their output with."""

    task: GradingTask
    environment: Environment
    patch: bytes
    call: Invocation
    marker: str

    @property
    def patches(self) -> bytes:
        return patches_tar((self.task.test_patch, self.task.patch, self.patch))


def grade(
    task: GradingTask,
    environment: Environment,
    *,
    model_patch: bytes,
    engine: ContainerEngine,
    progress: Progress,
    turn: AbstractContextManager[object] | None = None,
) -> Grade:
    """Grade one patch in one run. What is wrong with the patch is a flaw of the grade.

    `turn` is held while build and tests run: another grade can be made ready meanwhile.
    Raises EngineUnavailableError when the machinery failed: that says nothing about the model.
    """
    if is_empty(model_patch):
        said = "the text holds no diff that changes a file" if model_patch.strip() else _NOTHING
        return _ungraded(task, Flaw.EMPTY_PATCH, said)
    model_patch = without_prose(model_patch)
    reason = refusal(model_patch)
    if reason is not None:
        return _ungraded(task, Flaw.PATCH_REFUSED, reason)
    recipe = environment.recipe
    selection = () if task.whole_suite else selected(task.test_patch, recipe)
    attempt = _Attempt(
        task=task,
        environment=environment,
        patch=model_patch,
        call=invocation(recipe, selection=selection),
        marker=secrets.token_hex(8),
    )
    started_at = datetime.now(UTC)
    labels = {RUN_LABEL: Phase.MODEL}
    limits = run_limits(recipe)
    with engine.run(environment.image, limits, labels=labels, kit=_kit(attempt)) as container:
        ran = _tried(attempt, container, turn or nullcontext())
    if isinstance(ran, Grade):
        return ran
    progress(f"{task.instance_id}: {Phase.MODEL}: {summary(ran.run)}")
    return _graded(task, replace(ran, run=replace(ran.run, started_at=started_at)))


def _tried(
    attempt: _Attempt, container: Container, turn: AbstractContextManager[object]
) -> ModelRun | Grade:
    """Apply, put back, run; a Grade when it does not come to the run."""
    task, environment, call = attempt.task, attempt.environment, attempt.call
    talk = container.begin(("/bin/bash", TALK, *call.selection), workdir=TREE)
    prepared = _prepare(talk, attempt)
    if isinstance(prepared, Outcome):
        return _unprepared(task, prepared)
    surroundings = surroundings_of(task, environment, prepared)
    places, moved = places_of_tests(prepared, surroundings)
    surroundings = replace(surroundings, source_paths=(*surroundings.source_paths, *places))
    todo = plan(prepared.changes, surroundings)
    restored = put_back(
        container,
        talk,
        todo,
        trees=prepared.trees,
        guards=Guards(
            paths=guarded_paths(surroundings),
            closed=closed_folders(surroundings) if environment.recipe.build_cmd is None else (),
            laid=laid_folders(surroundings) if environment.recipe.build_cmd is None else (),
        ),
        mark=_end(attempt.marker).encode(),
    )
    if isinstance(restored, Outcome):
        return _ungraded(task, Flaw.PATCH_REFUSED, f"{_NO_ROOM}: {tail(restored.output)}")
    with turn:
        ran = run_model(
            container, talk, environment, call, surroundings=surroundings, seals=restored.seals
        )
    ran = looked_after(ran, container)
    undone = {*todo.remove, *todo.restore}
    undone |= {p for p in touched_paths(prepared.added) if is_kept(p, surroundings)}
    gone = tuple(undone)
    means = {*flags(prepared.added, task.patch, dropped=gone, early=surroundings.runs_early)}
    if moved:
        means.add("modules")
    support = leaned_on(prepared, surroundings, touched_paths(prepared.added))
    if support:
        means.add("test_support")
    if ran.refilled and moves(prepared.added, task.patch, dropped=gone):
        means.add("files_of_tests")
    return replace(
        ran,
        flags=tuple(sorted({*ran.flags, *means})),
        notes=(
            *_method_notes(prepared),
            *restored.notes,
            *todo.notes,
            *(f"changed by the patch: {path}, on which tests rest" for path in sorted(support)),
            *(f"tests are imported from {folder}, which was a package" for folder in moved),
            *ran.notes,
        ),
    )


def _kit(attempt: _Attempt) -> bytes:
    call, marker = attempt.call, attempt.marker
    scripts = {
        **grading_scripts(
            attempt.task.tree,
            patches=attempt.patches,
            marker=marker,
            configurations=configurations(attempt.environment.recipe, call.selection),
            fixed=touched_paths(attempt.task.patch),
            examples=modules_of_examples(
                (*attempt.task.fail_to_pass, *attempt.task.pass_to_pass),
                LANGUAGES[attempt.environment.recipe.language],
            ),
        ),
        "test.sh": test_script(call),
        "talk.sh": talk_script("prepare.sh", "restore.sh", env=call.env, mark=_end(marker)),
        "tests.sh": talk_script(env=call.env),
    }
    files = {name: script.encode("utf-8", "surrogateescape") for name, script in scripts.items()}
    return kit_tar(reporter_source(), files=files)


def _end(marker: str) -> str:
    """What is printed after each script."""
    return f"{marker}-end"


def _prepare(talk: Talk, attempt: _Attempt) -> Prepared | Outcome:
    """Apply the patch; an Outcome when it does not apply, or says more than can be followed."""
    tree, marker = attempt.task.tree, attempt.marker
    outcome = talk.until(
        _end(marker).encode(),
        stdin=attempt.patches + tree.tar,
        timeout_s=PREPARE_S,
        output_mb=listing_mb(tree) + (SHOWN >> 20),
    )
    _, began, since = outcome.output.partition(f"\0{PATCHING}\0".encode())
    if began and outcome.timed_out and int(since.split(b"\n")[0] or 0) > _SLOW_S:
        raise EngineUnavailableError(
            f"The machine is too busy: the tree alone took {_SLOW_S:.0f} of {PREPARE_S:.0f} s. "
            "Run fewer workers at a time."
        )
    failed = outcome.exit_code == PATCH_FAILED or outcome.timed_out or outcome.out_of_memory
    if began and (failed or outcome.truncated):
        return outcome
    _, found, told = outcome.output.partition(f"\0{marker}\0".encode())
    if not outcome.ok or not found:
        raise EngineUnavailableError(
            f"The tree could not be prepared in its container: {tail(outcome.output)[-300:]}"
        )
    prepared = read_prepared(outcome, told, marker)
    return replace(outcome, truncated=True) if len(prepared.added) == SHOWN else prepared


def _unprepared(task: GradingTask, outcome: Outcome) -> Grade:
    """Of a list of changes that was cut short, the lost part would go unseen, so none is used."""
    if outcome.truncated and outcome.exit_code != PATCH_FAILED:
        return _ungraded(task, Flaw.PATCH_REFUSED, "the patch changes more than can be followed")
    if outcome.timed_out:
        late = f"the patch was not applied within {PREPARE_S:.0f} s"
        return _ungraded(task, Flaw.PATCH_DOES_NOT_APPLY, late)
    return _ungraded(task, Flaw.PATCH_DOES_NOT_APPLY, tail(outcome.output))


def _method_notes(prepared: Prepared) -> tuple[str, ...]:
    return tuple(f"applied by {how}" for how in methods(prepared.outcome.output) if how != "plain")


def _graded(task: GradingTask, ran: ModelRun) -> Grade:
    run = ran.run
    flaw, detail = run.flaw, run.detail
    if ran.tampered and flaw is None:
        flaw, detail = (
            Flaw.TESTS_TAMPERED,
            f"changed since they were put back: {', '.join(ran.tampered)}",
        )
    resolved = flaw is None and grading.is_resolved(
        task.fail_to_pass, task.pass_to_pass, run.results
    )
    return Grade(
        resolved=resolved,
        applied=True,
        fail_to_pass=grading.tally(task.fail_to_pass, run.results),
        pass_to_pass=grading.tally(task.pass_to_pass, run.results),
        flaw=flaw,
        detail=detail,
        flags=ran.flags,
        notes=ran.notes,
        run=run,
    )


def _ungraded(task: GradingTask, flaw: Flaw, detail: str) -> Grade:
    return grading.nothing_passed(task.fail_to_pass, task.pass_to_pass, flaw=flaw, detail=detail)
