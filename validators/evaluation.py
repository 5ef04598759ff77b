"""What is a model's patch worth? Applied, tests put back, run once → Grade.

The state that is run: the base tree, the model's patch on it, then tests and test configuration as
they are at base + test patch + gold (see restoration.py). Required tests must have passed; exit
code, the runner's own counts and the report must agree.
"""

import io
import secrets
import tarfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from validators import grading
from validators.engine import KIT, TREE, Container, ContainerEngine, Progress, Talk
from validators.errors import EngineUnavailableError
from validators.guarded import digests_now, guarded_paths, read_digests
from validators.invocation import Invocation, invocation
from validators.languages import LANGUAGES
from validators.model import (
    Environment,
    Flaw,
    Grade,
    GradingTask,
    Outcome,
    Phase,
    Run,
    Tally,
)
from validators.patching import is_empty, methods, refusal, touched_paths
from validators.restoration import Change, Plan, Surroundings, is_kept, plan
from validators.run import (
    PREPARE_S,
    RUN_LABEL,
    build,
    execute,
    judge,
    reporter_source,
    run_limits,
    summary,
    tail,
    test_script,
    unrun,
)
from validators.sections import merged
from validators.selection import selected
from validators.suspicion import flags
from validators.worktree import (
    PATCH_FAILED,
    PATCHING,
    TALK,
    TESTS,
    grading_scripts,
    kit_tar,
    patches_tar,
    talk_script,
)

GRADER_VERSION = 3
"""Part of every cache key of a grade: raised with every change by which some patch could get
another grade."""

CONVERTER = "python -m lib2to3 "
"""How a recipe begins to build a project whose sources are Python 2."""

_NO_ROOM = "tests could not be put back beside the patch's files"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    """The model's tree: what differs from the final state, all paths of that, what is installed."""

    outcome: Outcome
    model_tree: str
    final_tree: str
    changes: tuple[Change, ...]
    final_paths: frozenset[str]
    installed: tuple[str, ...]


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
        return _ungraded(task, Flaw.EMPTY_PATCH, "the patch changes nothing")
    reason = refusal(model_patch)
    if reason is not None:
        return _ungraded(task, Flaw.PATCH_REFUSED, reason)
    recipe = environment.recipe
    selection = () if task.whole_suite else selected(task.test_patch, recipe)
    call = invocation(recipe, selection=selection)
    started_at = datetime.now(UTC)
    marker = secrets.token_hex(8)
    patches = patches_tar((task.test_patch, task.patch, model_patch))
    with engine.run(
        environment.image,
        run_limits(recipe),
        labels={RUN_LABEL: Phase.MODEL},
        kit=_kit(task, patches, call, marker=marker),
    ) as container:
        talk = container.begin(("/bin/bash", TALK, *call.selection), workdir=TREE)
        prepared = _prepare(talk, patches + task.tree.tar, marker)
        if isinstance(prepared, Outcome):
            return _unprepared(task, prepared)
        surroundings = Surroundings(
            language=LANGUAGES[recipe.language],
            packages=environment.packages,
            installed=prepared.installed,
            final_paths=prepared.final_paths,
            source_paths=recipe.source_paths,
            python=recipe.python,
            test_cmd=recipe.test_cmd,
        )
        todo = plan(prepared.changes, surroundings)
        guarded = guarded_paths(surroundings)
        restored = _restore(container, talk, prepared, todo, marker=marker, guarded=guarded)
        if isinstance(restored, Outcome):
            return _ungraded(task, Flaw.PATCH_REFUSED, f"{_NO_ROOM}: {tail(restored.output)}")
        digests, merges = restored
        with turn or nullcontext():
            run, digests = _run(
                container, talk, environment, call, guarded=guarded, digests=digests
            )
        tampered = _tampered(container, digests)
        notes = (*_method_notes(prepared), *merges, *todo.notes)
    progress(f"{task.instance_id}: {Phase.MODEL}: {summary(run)}")
    undone = {*todo.remove, *todo.restore}
    undone |= {p for p in touched_paths(model_patch) if is_kept(p, surroundings)}
    return _graded(
        task,
        replace(run, started_at=started_at),
        tampered=tampered,
        flags=flags(model_patch, task.patch, dropped=tuple(undone)),
        notes=notes,
    )


def _kit(task: GradingTask, patches: bytes, call: Invocation, *, marker: str) -> bytes:
    scripts = {
        **grading_scripts(task.tree, patches=patches, marker=marker),
        "test.sh": test_script(call),
        "talk.sh": talk_script("prepare.sh", "restore.sh", env=call.env, mark=_end(marker)),
        "tests.sh": talk_script(env=call.env),
    }
    files = {name: script.encode() for name, script in scripts.items()}
    return kit_tar(reporter_source(), files=files)


def _end(marker: str) -> str:
    """What is printed after each script."""
    return f"{marker}-end"


def _prepare(talk: Talk, files: bytes, marker: str) -> _Prepared | Outcome:
    """Apply the patch; an Outcome when it does not apply, or says more than can be followed."""
    outcome = talk.until(_end(marker).encode(), stdin=files, timeout_s=PREPARE_S)
    began = f"\0{PATCHING}\0".encode() in outcome.output
    if began and (outcome.exit_code == PATCH_FAILED or outcome.timed_out or outcome.truncated):
        return outcome
    _, found, told = outcome.output.partition(f"\0{marker}\0".encode())
    if not outcome.ok or not found:
        raise EngineUnavailableError(
            f"The tree could not be prepared in its container: {tail(outcome.output)[-300:]}"
        )
    fields = [each.decode("utf-8", "surrogateescape") for each in told.split(b"\0")]
    model_tree, final_tree, *rest = fields
    end = rest.index(marker)
    last = rest.index(marker, end + 1)
    statuses, paths = rest[:end:2], rest[1:end:2]
    return _Prepared(
        outcome=outcome,
        model_tree=model_tree,
        final_tree=final_tree,
        changes=tuple(
            Change(path=path, in_model=status != "A", in_final=status != "D")
            for status, path in zip(statuses, paths, strict=True)
        ),
        final_paths=frozenset(rest[end + 1 : last]),
        installed=tuple(name for name in rest[last + 1 :] if name),
    )


def _unprepared(task: GradingTask, outcome: Outcome) -> Grade:
    """Of a list of changes that was cut short, the lost part would go unseen, so none is used."""
    if outcome.truncated and outcome.exit_code != PATCH_FAILED:
        return _ungraded(task, Flaw.PATCH_REFUSED, "the patch changes too many files to follow")
    if outcome.timed_out:
        late = f"the patch was not applied within {PREPARE_S:.0f} s"
        return _ungraded(task, Flaw.PATCH_DOES_NOT_APPLY, late)
    return _ungraded(task, Flaw.PATCH_DOES_NOT_APPLY, tail(outcome.output))


def _method_notes(prepared: _Prepared) -> tuple[str, ...]:
    return tuple(f"applied by {how}" for how in methods(prepared.outcome.output) if how != "plain")


def _restore(
    container: Container,
    talk: Talk,
    prepared: _Prepared,
    todo: Plan,
    *,
    marker: str,
    guarded: Sequence[str],
) -> tuple[Mapping[str, str], tuple[str, ...]] | Outcome:
    """Carry out the plan and bring the generated files.

    Returns the digests of the guarded files, by path, and notes on merged files; an Outcome when
    the model's files leave no room for it.
    """
    notes = []
    files: dict[str, bytes] = {}
    for path in todo.merge:
        text = _merged(container, prepared, path)
        if text is not None:
            files[path] = text
            notes.append(f"restored the test sections of {path}")
    guards = [path for path in guarded if path not in files]
    orders = [
        *(("D", path) for path in todo.remove),
        *(("R", path) for path in todo.restore),
        *(("G", path) for path in guards),
    ]
    told = "".join(f"{kind}\0{path}\0" for kind, path in orders)
    stdin = told.encode("utf-8", "surrogateescape")
    line = f"{len(stdin)} {prepared.final_tree}\n".encode()
    outcome = talk.until(_end(marker).encode(), stdin=line + stdin, timeout_s=PREPARE_S)
    if files and outcome.ok:
        unpack = ("/bin/bash", "-c", "tar --extract --file=-")
        written = container.exec(unpack, timeout_s=PREPARE_S, workdir=TREE, stdin=_tar(files))
        outcome = outcome if written.ok else written
    if not outcome.ok:
        return outcome
    return read_digests(outcome.output), tuple(notes)


def _merged(container: Container, prepared: _Prepared, path: str) -> bytes | None:
    """The bytes a shared file must have; None when it stays. Latin-1 keeps every byte.

    Where the model's text is too long to be seen whole, nothing of it stays.
    """
    model = _blob(container, prepared.model_tree, path)
    final = _blob(container, prepared.final_tree, path) or ""
    text = final if model is None else merged(path, model=model, final=final)
    return None if text is None else text.encode("latin-1")


def _blob(container: Container, tree: str, path: str) -> str | None:
    """A file's text, empty where there is none; None when it is too long to be seen whole."""
    command = ("/bin/bash", f"{KIT}/blob.sh", f"{tree}:{path}")
    outcome = container.exec(command, timeout_s=PREPARE_S, workdir=TREE, stdin=b"")
    if outcome.truncated:
        return None
    return outcome.output.decode("latin-1") if outcome.ok else ""


def _tar(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for path, content in files.items():
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(content), 0o644
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def _run(
    container: Container,
    talk: Talk,
    environment: Environment,
    call: Invocation,
    *,
    guarded: Sequence[str],
    digests: Mapping[str, str],
) -> tuple[Run, Mapping[str, str]]:
    """Build and run; also the digests that the guarded files had when the tests began."""
    recipe = environment.recipe
    if recipe.build_cmd is not None:
        flaw, outcome = build(container, recipe, call)
        if flaw is not None:
            return unrun(outcome, environment, flaw=flaw, phase=Phase.MODEL), {}
        # What the build left running must not wait for the tests.
        container.exec(("/bin/bash", "-c", "kill -9 -1"), timeout_s=PREPARE_S)
        talk = container.begin(("/bin/bash", TESTS, *call.selection), workdir=TREE)
        if recipe.build_cmd.startswith(CONVERTER):
            # it rewrites tests, and runs no code of the guest
            digests = digests_now(container, guarded)
    executed = execute(container, talk, recipe)
    return judge(executed, environment, phase=Phase.MODEL), digests


def _tampered(container: Container, digests: Mapping[str, str]) -> tuple[str, ...]:
    """Which files are not as they were."""
    after = digests_now(container, sorted(digests)) if digests else {}
    return tuple(path for path in sorted(digests) if digests[path] != after.get(path))


def _graded(
    task: GradingTask,
    run: Run,
    *,
    tampered: Sequence[str],
    flags: tuple[str, ...],
    notes: tuple[str, ...],
) -> Grade:
    flaw, detail = run.flaw, run.detail
    if tampered and flaw is None:
        flaw, detail = Flaw.TESTS_TAMPERED, f"changed while the tests ran: {', '.join(tampered)}"
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
        flags=flags,
        notes=notes,
        run=run,
    )


def _ungraded(task: GradingTask, flaw: Flaw, detail: str) -> Grade:
    return Grade(
        resolved=False,
        applied=False,
        fail_to_pass=Tally(passed=0, failed=len(task.fail_to_pass)),
        pass_to_pass=Tally(passed=0, failed=len(task.pass_to_pass)),
        flaw=flaw,
        detail=detail,
    )
