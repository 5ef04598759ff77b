"""The steps of one install: how each is run, and whose fault it is when it fails.

What the guest fails is a value with its log. A dead engine, host or package index is an exception,
and so is a step of our own that fails before anything of the guest ran, or that is too slow: it
says nothing of the project.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar

from validators import infra
from validators.engine import TREE, VENV, Container
from validators.errors import EngineUnavailableError
from validators.languages.python import failures
from validators.model import BuildFailure, BuildSettings, FailureClass, Outcome, Recipe

T = TypeVar("T")

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PATH = f"{_SYSTEM_PATH}:{VENV}/bin"
"""The system first: an environment may hold another uv."""

_NO_DATES = (
    "The package index does not say when its files were uploaded, so packages cannot be chosen as"
    " of a date: set MINER_INDEX_URL to one that does (PEP 700)."
)
_OURS_S = 300.0
"""For steps of our own; trees of a hundred thousand files take a minute."""

_LATER_S = 5.0
"""A deadline ends all that the guest runs: the lock's comes first, so that it is told as such."""


class StepFailedError(Exception):
    """The guest failed a step; carries the value that `build_environment` returns."""

    def __init__(self, failure: BuildFailure) -> None:
        super().__init__(failure.detail)
        self.failure = failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """Runs the steps of one recipe's install in its container."""

    container: Container
    recipe: Recipe
    settings: BuildSettings
    trust: Mapping[str, str]  # the variables of certificates.trust, whose kit the container has

    def put(self, step: str, path: str, tar: bytes) -> None:
        """Builds of packages may have run before."""
        left(self.container.put(path, tar), step)

    def first(self, step: str, line: str, *, stdin: bytes) -> None:
        """A step of ours before anything of the guest ran: only a lack of room is its failure."""
        outcome = self.exec(step, line, stdin=stdin)
        if not outcome.ok and not is_of_room(outcome):
            raise _ours_failed(outcome, step)
        left(outcome, step)

    def last(self, step: str, line: str, *, root: bool = False) -> Outcome:
        """A step of ours on what the guest left, which may be why it fails."""
        return left(self.exec(step, line, root=root), step)

    def guests(
        self, step: str, line: str, *, root: bool = False, stdin: bytes | None = None
    ) -> Outcome:
        """A step that runs what the recipe or the project says."""
        timeout_s = self.recipe.timeout_s
        return self.judged(step, self.exec(step, line, root=root, timeout_s=timeout_s, stdin=stdin))

    def judged(self, step: str, outcome: Outcome) -> Outcome:
        """Raise for what the guest failed, or the index."""
        if outcome.ok:
            return outcome
        blame_machine(outcome)
        raise StepFailedError(failures.classify(step, outcome))

    def exec(
        self,
        step: str,
        line: str,
        *,
        timeout_s: float = _OURS_S,
        root: bool = False,
        stdin: bytes | None = None,
    ) -> Outcome:
        """A shell line in the tree with the variables of its step; nothing is judged."""
        return self.container.exec(
            ("/bin/bash", "-c", line),
            timeout_s=timeout_s,
            root=root,
            env=self._env(step),
            workdir=TREE,
            stdin=stdin,
        )

    def _env(self, step: str) -> Mapping[str, str]:
        """The recipe's variables; the index and the CA bundle of here, which only installs get."""
        env = dict(self.recipe.env_vars) | dict(self.trust)
        if step == "ahead":  # its tools come and go meanwhile
            env["PATH"] = _SYSTEM_PATH
        elif step != "pre_install":  # a recipe's own commands mean the environment's tools
            env["PATH"] = _PATH
        if self.settings.index_url is not None:
            env["UV_DEFAULT_INDEX"] = self.settings.index_url
        return env

    @contextmanager
    def meanwhile(self, step: Callable[[], T]) -> Iterator["Future[T]"]:
        """A step that goes on beside those of the `with` block, which ends when both have ended.

        When the block fails, all that the guest still runs is ended.
        """
        with ThreadPoolExecutor(1, thread_name_prefix="install") as pool:
            going_on = pool.submit(step)
            try:
                yield going_on
            except BaseException:
                with suppress(EngineUnavailableError):
                    self.exec("finish", "kill -9 -1")
                raise
            going_on.result()

    def aside(self, name: str, line: str, *, step: str) -> bool:
        """Run a step of the guest beside others; whether it succeeded.

        Raises StepFailedError when there was no end to it.
        """
        outcome = self.exec(name, line, timeout_s=self.recipe.timeout_s + _LATER_S)
        if outcome.timed_out:
            raise StepFailedError(failures.classify(step, outcome))
        return outcome.ok


def blame_machine(outcome: Outcome) -> None:
    """Raise for what failed for want of an index."""
    said = failures.own_words(outcome.output)
    fault = infra.cause(said)
    if fault is not None and not failures.is_of_an_address(said):
        raise EngineUnavailableError(infra.sentence(fault))
    if failures.lacks_dates(said):
        raise EngineUnavailableError(_NO_DATES)


def left(outcome: Outcome, step: str) -> Outcome:
    """Raise for what was too slow; what fails otherwise is the guest's failure."""
    if outcome.timed_out:
        raise _ours_failed(outcome, step)
    if not outcome.ok:
        raise StepFailedError(failures.classify(step, outcome))
    return outcome


def is_of_room(outcome: Outcome) -> bool:
    """It ended for want of disk or memory: of the container's share, as the host's is raised."""
    if outcome.ok or outcome.timed_out:
        return False
    return failures.classify("", outcome).failure_class is FailureClass.RESOURCE_LIMIT


def _ours_failed(outcome: Outcome, step: str) -> EngineUnavailableError:
    words = outcome.output[-300:].decode("utf-8", "replace").split()
    said = " ".join(words) or "it said nothing"
    how = "was too slow" if outcome.timed_out else "failed"
    return EngineUnavailableError(
        f"Step {step} of an install {how}, which is no fault of the project ({said}): check the"
        " container engine's machine, then try again."
    )
