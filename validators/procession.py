"""Runs one after another, the next one's container made ready while this one's tests run.

Starting a container and bringing the tree costs about as much as a small suite; it waits more than
it computes, so it hides behind the tests that are running; so does the removal of the last one.
Only ever one container is ahead. Bytecode of the first run is brought from the third on, that of
the second from the fourth on: by then it has been collected without anybody waiting.
"""

from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass

from validators.bytecode import Bytecode
from validators.engine import ContainerEngine
from validators.errors import EngineUnavailableError
from validators.model import Environment, Run, Tree
from validators.run import Ready, make_ready, run_ready
from validators.trial import Trial


def runs_of(
    tree: Tree,
    environment: Environment,
    trials: Sequence[Trial],
    *,
    selection: Sequence[str],
    engine: ContainerEngine,
    turn: AbstractContextManager[object] | None = None,
) -> Generator[Run, None, None]:
    """The runs of `trials`, in order, each in a fresh container. Close it to stop early.

    `turn` is held while tests run: other rows can run theirs between two of this one. A container
    that cannot be removed ends the row; when it is closed early, the sweep at the next start
    removes it.
    """
    row = _Row(tree, environment, tuple(selection), engine, Bytecode(tree))
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="ahead") as helper:
        ahead: Future[Ready] | None = None
        leaving: Future[None] | None = None
        try:
            for number, trial in enumerate(trials):
                now = ahead.result() if ahead is not None else row.ready(trial)
                following = trials[number + 1 : number + 2]
                ahead = helper.submit(row.ready, following[0]) if following else None
                try:
                    with turn or nullcontext():
                        run = run_ready(now)
                finally:
                    last, leaving = leaving, helper.submit(row.leave, now)
                if last is not None:
                    last.result()
                yield run
            if leaving is not None:
                leaving.result()
        finally:
            if ahead is not None and not ahead.cancel():
                # The answer is known without this run: whether it could be made ready is not asked.
                with suppress(EngineUnavailableError):
                    ahead.result().leave()


@dataclass(frozen=True, slots=True)
class _Row:
    """What the runs of one row have in common, and what earlier ones compiled for later ones."""

    tree: Tree
    environment: Environment
    selection: tuple[str, ...]
    engine: ContainerEngine
    bytecode: Bytecode

    def ready(self, trial: Trial) -> Ready:
        """A container in which only the tests are still to be run."""
        return make_ready(
            self.tree,
            self.environment,
            trial,
            selection=self.selection,
            engine=self.engine,
            bytecode=self.bytecode.tar(trial.patches),
        )

    def leave(self, done: Ready) -> None:
        """Keep what was compiled, and remove the container."""
        try:
            if done.flaw is None:
                self.bytecode.collect(done.container, done.trial.patches)
        finally:
            done.leave()
