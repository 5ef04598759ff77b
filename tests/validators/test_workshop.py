"""The workshop: picklable settings that examine a task and grade patches on a real engine."""

import pickle
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.fakes.engine import FakeEngine
from tests.real_engine import HERE
from tests.validators.samples import CA_BUNDLE, SAMPLE, sample_tar
from validators import workshop as module
from validators.engines import connect
from validators.engines.confinement import cache_volume
from validators.errors import EngineUnavailableError
from validators.model import (
    QUICK,
    BuildSettings,
    Examination,
    GradingTask,
    Recipe,
    Task,
    Tree,
)
from validators.workshop import Workshop

DATE = datetime(2024, 5, 6, tzinfo=UTC)
TREE = Tree(commit="c" * 40, committed_at=DATE, tar=sample_tar(SAMPLE), nearest_tag="v1.0")
PATCH = b"""\
diff --git a/src/sample/__init__.py b/src/sample/__init__.py
--- a/src/sample/__init__.py
+++ b/src/sample/__init__.py
@@ -1,2 +1,6 @@
 def answer():
     return 42
+
+
+def question():
+    return "?"
"""
TEST_PATCH = b"""\
diff --git a/tests/test_question.py b/tests/test_question.py
new file mode 100644
--- /dev/null
+++ b/tests/test_question.py
@@ -0,0 +1,5 @@
+import sample
+
+
+def test_question():
+    assert sample.question() == "?"
"""
TASK = Task(
    instance_id="o__sample-1",
    repo="o/sample",
    tree=TREE,
    patch=PATCH,
    test_patch=TEST_PATCH,
    merged_at=DATE,
)


def test_it_travels_to_other_processes() -> None:
    workshop = Workshop(engine_url="unix:///nowhere", settings=BuildSettings(attempts=3))
    assert pickle.loads(pickle.dumps(workshop)) == workshop  # noqa: S301 - our own


def test_closing_what_was_never_opened_does_nothing() -> None:
    Workshop(engine_url="unix:///nowhere").close()


def test_a_call_that_comes_after_the_closing_ends_at_once_and_the_next_workshop_is_open() -> None:
    closed = Workshop(engine_url="unix:///nowhere")
    closed.close()
    for workshop in (closed, pickle.loads(pickle.dumps(closed))):  # noqa: S301 - our own
        with pytest.raises(EngineUnavailableError, match="workshop was closed"):
            workshop.examine(TASK, policy=QUICK)
    with pytest.raises(EngineUnavailableError, match="No container engine answers"):
        Workshop(engine_url="unix:///nowhere").examine(TASK, policy=QUICK)


@pytest.fixture(scope="module")
def workshop() -> Iterator[Workshop]:
    """On the real engine."""
    made = Workshop(engine_url=HERE, settings=BuildSettings(ca_bundle=CA_BUNDLE))
    yield made
    made.close()


@pytest.fixture(scope="module")
def examination(workshop: Workshop) -> Iterator[Examination]:
    """The sample's fix, really examined."""
    found = workshop.examine(TASK, policy=QUICK)
    yield found
    engine = connect(HERE)
    for attempt in found.attempts:
        if attempt.environment is not None:
            engine.remove_image(attempt.environment.image)
    engine.close()


def _grading_task(examination: Examination, recipe: Recipe | None = None) -> GradingTask:
    environment = examination.environment
    assert environment is not None
    return GradingTask(
        instance_id=TASK.instance_id,
        repo=TASK.repo,
        tree=TREE,
        patch=PATCH,
        test_patch=TEST_PATCH,
        fail_to_pass=examination.verdict.fail_to_pass,
        pass_to_pass=examination.verdict.pass_to_pass,
        recipe=recipe or environment.recipe,
    )


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.timeout(600)
class TestReal:
    """From a task to grades, in real containers."""

    def test_the_fix_is_an_instance(self, examination: Examination) -> None:
        assert examination.verdict.accepted, examination.verdict.detail
        assert examination.verdict.fail_to_pass == ("tests/test_question.py::test_question",)
        assert len(examination.attempts) == 1

    def test_the_gold_patch_resolves_it(self, workshop: Workshop, examination: Examination) -> None:
        grade = workshop.grade(_grading_task(examination), model_patch=PATCH)
        assert grade.resolved, grade.detail

    def test_another_patch_does_not(self, workshop: Workshop, examination: Examination) -> None:
        other = PATCH.replace(b'"?"', b'"!"')
        grade = workshop.grade(_grading_task(examination), model_patch=other)
        assert grade.applied
        assert not grade.resolved

    def test_a_lock_that_cannot_be_installed_says_nothing_of_a_model(
        self, workshop: Workshop, examination: Examination
    ) -> None:
        environment = examination.environment
        assert environment is not None
        gone = environment.recipe.with_lock("iniconfig==2.0.0 \\\n    --hash=sha256:" + "0" * 64)
        with pytest.raises(EngineUnavailableError, match="rebuilt from its lock"):
            workshop.grade(_grading_task(examination, gone), model_patch=PATCH)

    def test_what_a_strangers_row_installs_reaches_no_package_cache(
        self, workshop: Workshop, examination: Examination
    ) -> None:
        victim = f"o/{uuid.uuid4().hex}"
        environment = examination.environment
        assert environment is not None
        hostile = replace(environment.recipe, pre_install=("false",))
        task = replace(_grading_task(examination, hostile), repo=victim)
        with pytest.raises(EngineUnavailableError, match="pre_install"):
            workshop.grade(task, model_patch=PATCH)
        engine = connect(HERE)
        left = [each for each in engine.caches() if each.volume == cache_volume(victim)]
        assert not any(engine.remove_cache(each) for each in left)
        engine.close()


def test_closing_a_workshop_that_never_worked_leaves_the_engines_of_others_alone() -> None:
    other = FakeEngine([])
    module._connected["tcp://other"] = other
    try:
        Workshop(engine_url="tcp://never").close()
        assert module._connected["tcp://other"] is other
    finally:
        del module._connected["tcp://other"]
