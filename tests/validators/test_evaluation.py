"""Grades from scripted containers: whose fault is it when a tree cannot be made ready?"""

from datetime import UTC, datetime

import pytest

from tests.fakes.engine import FakeEngine, Script
from validators.errors import EngineUnavailableError
from validators.evaluation import grade
from validators.model import Environment, Flaw, Grade, GradingTask, Image, Outcome, Recipe, Tree
from validators.worktree import PATCH_FAILED, PATCHING

IMAGE = Image(digest="sha256:1", tag="t:1")
RECIPE = Recipe(language="python", python="3.12", lock="")
ENVIRONMENT = Environment(image=IMAGE, base_image=IMAGE, base_origin="built", recipe=RECIPE, key="")
PATCH = b"--- a/calc.py\n+++ b/calc.py\n@@ -1 +1 @@\n-a\n+b\n"
TASK = GradingTask(
    instance_id="o__n-1",
    tree=Tree(commit="c", committed_at=datetime(2024, 1, 2, tzinfo=UTC), tar=bytes(10240)),
    patch=PATCH,
    test_patch=b"",
    fail_to_pass=("t.py::a",),
    pass_to_pass=(),
    recipe=RECIPE,
)
BEGUN = f"\0{PATCHING}\0".encode()


def graded(prepare: Outcome) -> Grade:
    engine = FakeEngine([Script(prepare=prepare)])
    try:
        return grade(TASK, ENVIRONMENT, model_patch=PATCH, engine=engine, progress=print)
    finally:
        assert engine.open == 0


@pytest.mark.parametrize(
    ("outcome", "detail"),
    [
        (Outcome(exit_code=PATCH_FAILED, output=BEGUN + b"error: no such file"), "no such file"),
        (Outcome(exit_code=137, output=BEGUN, timed_out=True), "not applied within 300 s"),
    ],
)
def test_what_goes_wrong_once_patching_began_is_the_patchs_doing(
    outcome: Outcome, detail: str
) -> None:
    found = graded(outcome)
    assert (found.flaw, found.resolved) == (Flaw.PATCH_DOES_NOT_APPLY, False)
    assert detail in found.detail


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(exit_code=137, output=b"", timed_out=True),
        Outcome(exit_code=PATCH_FAILED, output=b"fatal: before the patch was looked at"),
        Outcome(exit_code=128, output=b"fatal: git is broken"),
    ],
)
def test_what_goes_wrong_earlier_is_the_machines_and_no_grade(outcome: Outcome) -> None:
    with pytest.raises(EngineUnavailableError, match="could not be prepared"):
        graded(outcome)
