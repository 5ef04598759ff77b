"""One run: a fresh container, the tree, patches on, the tests under limits, their report.

Whatever the guest does is a value: a Run with a flaw and its evidence. EngineUnavailableError means
the machinery failed and nothing was decided.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from validators import reporter
from validators.bytecode import stamps
from validators.engine import NO_ROOM, TREE, Container, ContainerEngine, Talk
from validators.errors import EngineUnavailableError
from validators.invocation import Invocation, header, invocation
from validators.model import (
    Environment,
    Flaw,
    Limits,
    Outcome,
    Phase,
    Recipe,
    Run,
    TestStatus,
    Tree,
)
from validators.testimony import Executed, judge, tail
from validators.transcript import authentic
from validators.trial import Trial
from validators.worktree import (
    AFTERWARDS_FAILED,
    PATCH_FAILED,
    TALK,
    kit_tar,
    prepare_script,
    talk_script,
)

RUN_LABEL = "miner.run"
PREPARE_S = 300.0
"""For our own scripts in the container; trees of a hundred thousand files take a minute."""

_PATCH_FLAWS = (Flaw.TEST_PATCH_DOES_NOT_APPLY, Flaw.GOLD_PATCH_DOES_NOT_APPLY)
_OUTPUT_MB = 4
LISTING_MB = 128
"""For what our own scripts tell of a tree: some hundred bytes for each of its files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A container in which only the tests are still to be run, or what kept it from that."""

    trial: Trial
    environment: Environment
    tree: Tree
    call: Invocation
    container: Container
    talk: Talk
    leave: Callable[[], None]
    flaw: Flaw | None
    outcome: Outcome


def make_ready(
    tree: Tree,
    environment: Environment,
    trial: Trial,
    *,
    selection: Sequence[str],
    engine: ContainerEngine,
    bytecode: bytes = b"",
) -> Ready:
    """Start a container and bring tree, patches and build to the state that `trial` names.

    The caller must call `leave` when done: it removes the container. `selection` is paths in the
    tree, empty for the whole suite.
    """
    recipe = environment.recipe
    call = invocation(recipe, selection=selection, env=trial.env)
    mark = secrets.token_hex(8)
    stamped = stamps(tree, trial.patches) if recipe.build_cmd is None else {}
    prepare = prepare_script(
        tree, patches=len(trial.patches), stamped=stamped, after_patching=trial.after_patching
    )
    talking = talk_script("prepare.sh", env=call.env, mark=mark)
    scripts = {"prepare.sh": prepare, "test.sh": test_script(call), "talk.sh": talking}
    with ExitStack() as stack:
        running = engine.run(
            environment.image,
            replace(run_limits(recipe), uid=trial.uid),
            labels={RUN_LABEL: trial.phase},
            kit=_kit(trial, scripts, bytecode),
        )
        container = stack.enter_context(running)
        talk = container.begin(("/bin/bash", TALK, *call.selection), workdir=TREE)
        flaw, outcome = _prepared(talk, tree.tar, mark.encode())
        if flaw is None and recipe.build_cmd is not None:
            flaw, outcome = build(container, recipe, call)
        return Ready(
            trial=trial,
            environment=environment,
            tree=tree,
            call=call,
            container=container,
            talk=talk,
            leave=stack.pop_all().close,
            flaw=flaw,
            outcome=outcome,
        )


def _kit(trial: Trial, scripts: Mapping[str, str], bytecode: bytes) -> bytes:
    files = {name: text.encode("utf-8", "surrogateescape") for name, text in scripts.items()}
    files |= {"bytecode.tar": bytecode, **trial.files}
    return kit_tar(reporter_source(), trial.patches, files=files)


def run_ready(ready: Ready) -> Run:
    """Run the tests of a container that is ready.

    Paths of the selection that do not exist in this state are left out; when none exists, nothing
    is run.
    """
    trial, container = ready.trial, ready.container
    started_at = datetime.now(UTC)
    flaw, outcome = ready.flaw, ready.outcome
    if flaw is not None:
        run = unrun(outcome, ready.environment, flaw=flaw, phase=trial.phase)
    else:
        recipe = ready.environment.recipe
        executed = execute(container, ready.talk, recipe, shuffle_seed=trial.shuffle_seed)
        run = judge(executed, ready.environment, phase=trial.phase)
    return replace(run, attempt=trial.attempt, started_at=started_at, variant=trial.variant)


def unrun(outcome: Outcome, environment: Environment, *, flaw: Flaw, phase: Phase) -> Run:
    """A run whose tests never started: its patches or its build failed."""
    return Run(
        phase=phase,
        attempt=1,
        results={},
        outcome=outcome,
        image_digest=environment.image.digest,
        started_at=datetime.now(UTC),
        flaw=flaw,
        detail=tail(outcome.output),
    )


def summary(run: Run) -> str:
    """A run in a few words: "26 failed, 188 passed in 2.1 s"."""
    if run.flaw is not None:
        return str(run.flaw)
    counts = {
        status: sum(result.status is status for result in run.results.values())
        for status in TestStatus
    }
    told = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    return f"{told or 'nothing'} in {run.outcome.duration_s:.1f} s"


def run_limits(recipe: Recipe) -> Limits:
    """What a run may use. Many runs of a task are in memory at a time: output is kept short."""
    return Limits(memory_mb=recipe.memory_mb, output_mb=_OUTPUT_MB)


def listing_mb(tree: Tree) -> int:
    """How much may be told of a patched tree.

    The paths of the tree alone never fill it, as a tar spends more on a file than its path: what
    does not fit is the patch's doing.
    """
    return _OUTPUT_MB + (len(tree.tar) >> 20)


def reporter_source() -> bytes:
    """The text of the reporter: it is read, not run, on this side."""
    return Path(reporter.__file__).read_bytes()


def test_script(call: Invocation) -> str:
    """Bash: the selection, as far as it exists in this state, run by the recipe's command."""
    return f"""cd {TREE}
if [ $# -gt 0 ]; then
    existing=()
    for path in "$@"; do
        if [ {int(call.by_path)} = 0 ] || [ -e "$path" ]; then existing+=("$path"); fi
    done
    [ ${{#existing[@]}} -gt 0 ] || exit 0
    set -- "${{existing[@]}}"
fi
{call.line}
"""


test_script.__test__ = False  # type: ignore[attr-defined]  # pytest would collect it where imported


def _prepared(talk: Talk, files: bytes, mark: bytes) -> tuple[Flaw | None, Outcome]:
    outcome = talk.until(mark, stdin=files, timeout_s=PREPARE_S)
    if outcome.exit_code == AFTERWARDS_FAILED or (not outcome.ok and NO_ROOM in outcome.output):
        return Flaw.BUILD_FAILED, outcome
    number = outcome.exit_code - PATCH_FAILED
    if 0 <= number < len(_PATCH_FLAWS):
        return _PATCH_FLAWS[number], outcome
    if not outcome.ok:
        raise EngineUnavailableError(
            f"The tree could not be prepared in its container: {tail(outcome.output)[-300:]}"
        )
    return None, outcome


def build(container: Container, recipe: Recipe, call: Invocation) -> tuple[Flaw | None, Outcome]:
    """Run the recipe's `build_cmd` in the patched tree, offline."""
    command = ("/bin/bash", "-c", recipe.build_cmd or "true")
    outcome = container.exec(
        command, timeout_s=recipe.timeout_s, env=call.env, workdir=TREE, stdin=b""
    )
    return (None if outcome.ok else Flaw.BUILD_FAILED), outcome


def execute(container: Container, talk: Talk, recipe: Recipe, *, shuffle_seed: int = 0) -> Executed:
    """Run the tests in a prepared container and collect what they reported.

    `talk` is that of `talk_script`, with only the tests left.
    """
    nonce = secrets.token_hex(8)
    told = b"\n" + header(recipe, nonce, shuffle_seed=shuffle_seed)
    outcome = talk.end(stdin=told, timeout_s=recipe.timeout_s)
    report, foreign = authentic(container.report(), nonce)
    return Executed(outcome=outcome, report=report, foreign=foreign)
