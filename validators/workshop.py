"""Picklable settings with which any process, here or on a cluster, can examine and grade."""

import logging
import threading
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from validators import evaluation, examination
from validators.engine import ContainerEngine, Progress
from validators.engines import connect
from validators.environment import build_environment
from validators.errors import EngineUnavailableError, EnvironmentGoneError
from validators.model import (
    BuildFailure,
    BuildSettings,
    Examination,
    Grade,
    GradingTask,
    Maker,
    Policy,
    Recipe,
    Task,
)

_LOG = logging.getLogger(__name__)


def _log(line: str) -> None:
    """Where no progress can be handed over: to the log of the machine that does the work."""
    _LOG.info("%s", line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """An engine's address (None: found by itself), how images are made there, whom to ask.

    With one task more under way than `tests_at_once`, its environment is built and its container
    made ready while the tests of the others run.
    """

    engine_url: str | None = None
    settings: BuildSettings = field(default_factory=BuildSettings)
    advisor: examination.Advisor | None = None
    tests_at_once: int | None = None  # suites that run at a time in this process; None: any number
    name: str = field(default_factory=lambda: uuid.uuid4().hex)  # what was closed stays closed

    def examine(
        self,
        task: Task,
        *,
        policy: Policy,
        stored: Sequence[Recipe] = (),
        progress: Progress = _log,
    ) -> Examination:
        """See `examination.examine`."""
        return examination.examine(
            task,
            engine=self._engine(),
            policy=policy,
            stored=stored,
            settings=self.settings,
            progress=progress,
            advisor=self.advisor,
            turn=self._turn,
        )

    def grade(self, task: GradingTask, *, model_patch: bytes, progress: Progress = _log) -> Grade:
        """Grade a patch in the environment of the task's lock, made anew where it is not here.

        Raises EnvironmentGoneError when the lock can no longer be installed: that says nothing
        about the model, and nothing of other tasks.
        """
        engine = self._engine()
        built = build_environment(
            task.tree,
            task.recipe,
            patches=(),
            repository=task.repo,
            maker=Maker.GRADER,  # its row may be a stranger's: it leaves nothing for miners
            engine=engine,
            settings=self.settings,
            progress=lambda line: progress(f"{task.instance_id}: {line}"),
        )
        if isinstance(built, BuildFailure):
            raise EnvironmentGoneError(
                f"The environment of {task.instance_id} cannot be rebuilt from its lock"
                f" ({built.step}: {built.detail}); its packages may be gone from the index."
            )
        return evaluation.grade(
            task, built, model_patch=model_patch, engine=engine, progress=progress, turn=self._turn
        )

    @property
    def _turn(self) -> threading.Semaphore | None:
        return None if self.tests_at_once is None else _turns(self.tests_at_once)

    def close(self) -> None:
        """Remove this process's containers; calls under way end at once, and so do later ones."""
        with _connecting:
            _closed.add(self.name)
            engine = _connected.pop(self.engine_url, None)
        if engine is not None:
            engine.close()

    def _engine(self) -> ContainerEngine:
        """One connection a process, as it is not picklable and not cheap.

        A call that had only begun when Ctrl-C came would else connect anew, and run to its end.
        """
        with _connecting:  # the first calls of several workers come at once
            if self.name in _closed:
                raise EngineUnavailableError("The workshop was closed.")
            if self.engine_url not in _connected:
                _connected[self.engine_url] = connect(self.engine_url)
            return _connected[self.engine_url]


@cache
def _turns(at_once: int) -> threading.Semaphore:
    """For all suites of this process."""
    return threading.Semaphore(at_once)


_connecting = threading.Lock()
_closed: set[str] = set()
"""Workshops that were closed in this process."""

_connected: dict[str | None, ContainerEngine] = {}
"""This process's, by address."""
