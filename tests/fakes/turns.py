"""Turns that are watched, and work on scripted engines that takes them as the real work does."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType

from tests.fakes.engine import FakeEngine, Script, events, passing
from tests.fakes.grading import GradingContainer, GradingEngine
from validators.evaluation import grade
from validators.model import (
    QUICK,
    Environment,
    Grade,
    GradingTask,
    Image,
    Recipe,
    Task,
    Tree,
    Verdict,
)
from validators.verification import verify

WAIT_S = 100.0
"""After so long a thread is taken for stuck, and the test fails."""

_IMAGE = Image(digest="sha256:1", tag="t:1")
_RECIPE = Recipe(language="python", python="3.12", lock="")
_ENVIRONMENT = Environment(
    image=_IMAGE, base_image=_IMAGE, base_origin="built", recipe=_RECIPE, key=""
)
_AT = datetime(2024, 1, 2, tzinfo=UTC)
_TREE = Tree(commit="c", committed_at=_AT, tar=bytes(10240))
_PATCH = b"--- a/calc.py\n+++ b/calc.py\n@@ -1 +1 @@\n-a\n+b\n"
_RUNS = 2 * QUICK.repeats + 1


@dataclass
class Turns:
    """So many turns, and who has one. `asked` is released whenever somebody wants one."""

    number: int
    asked: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    _inside: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._turns = threading.Semaphore(self.number)

    def __enter__(self) -> None:
        self.asked.release()
        assert self._turns.acquire(timeout=WAIT_S), "a turn was lost"
        self._inside.add(threading.get_ident())

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._inside.discard(threading.get_ident())
        self._turns.release()

    def check_mine(self) -> None:
        """Tests run only in somebody's turn, and only so many at a time."""
        assert threading.get_ident() in self._inside, "tests run without a turn"
        assert len(self._inside) <= self.number

    def free(self) -> int:
        """How many nobody has."""
        taken = 0
        while self._turns.acquire(blocking=False):
            taken += 1
        for _ in range(taken):
            self._turns.release()
        return taken


During = Callable[[], object]
"""Called while tests run."""


def verified(turns: Turns, during: During) -> Verdict:
    """A task is verified: five suites, each in a turn."""

    def watched() -> None:
        turns.check_mine()
        during()

    before = Script(records=events({"t.py::a": "failed"}), during=watched)
    after = Script(records=passing("t.py::a"), during=watched)
    engine = FakeEngine([(before, after)[number % 2] for number in range(_RUNS)])
    task = Task(
        instance_id="o__n-1",
        repo="o/n",
        tree=_TREE,
        patch=_PATCH,
        test_patch=b"",
        merged_at=_AT,
    )
    try:
        return verify(
            task,
            _ENVIRONMENT,
            test_files=["t.py"],
            engine=engine,
            policy=QUICK,
            progress=lambda _: None,
            turn=turns,
        )
    finally:
        assert engine.open == 0, "a container was left"


def graded(turns: Turns, during: During) -> Grade:
    """A patch is graded: one suite, in a turn."""

    def watched() -> None:
        turns.check_mine()
        during()

    script = Script(records=passing("t.py::a"), during=watched)
    engine = GradingEngine([], container=GradingContainer(script=script))
    task = GradingTask(
        instance_id="o__n-1",
        repo="o/n",
        tree=_TREE,
        patch=_PATCH,
        test_patch=b"",
        fail_to_pass=("t.py::a",),
        pass_to_pass=(),
        recipe=_RECIPE,
    )
    try:
        return grade(
            task,
            _ENVIRONMENT,
            model_patch=_PATCH,
            engine=engine,
            progress=lambda _: None,
            turn=turns,
        )
    finally:
        assert engine.open == 0, "a container was left"
