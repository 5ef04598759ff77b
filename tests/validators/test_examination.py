"""Which recipe is tried next, what is kept, what decides. The engine is scripted."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.fakes.engine import Script, events, passing
from tests.fakes.installs import Answer, InstallingEngine, silent
from tests.validators.samples import sample_tar
from validators.errors import EngineUnavailableError, UnknownRecipeError
from validators.examination import examine, proposed
from validators.model import (
    QUICK,
    Attempt,
    BuildSettings,
    Examination,
    FailureClass,
    Flaw,
    Outcome,
    Recipe,
    Task,
    Tree,
)

FILES: Mapping[str, bytes] = {
    "pyproject.toml": b'[project]\nname = "a"\nversion = "1"\nrequires-python = ">=3.8"\n',
    "a.py": b"x = 1\n",
    "tests/test_a.py": b"import nowhere_known\n\ndef test_old():\n    pass\n",
}
TEST_PATCH = (
    b"diff --git a/tests/test_a.py b/tests/test_a.py\n"
    b"--- a/tests/test_a.py\n+++ b/tests/test_a.py\n"
    b"@@ -1,1 +1,4 @@\n import nowhere_known\n+\n+def test_new():\n+    pass\n"
)
PATCH = b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
TASK = Task(
    instance_id="o__a-1",
    repo="o/a",
    tree=Tree(
        commit="b" * 40, committed_at=datetime(2024, 5, 1, tzinfo=UTC), tar=sample_tar(FILES)
    ),
    patch=PATCH,
    test_patch=TEST_PATCH,
    merged_at=datetime(2024, 5, 1, tzinfo=UTC),
)
OLD, NEW = "tests/test_a.py::test_old", "tests/test_a.py::test_new"
BEFORE = Script(records=events({OLD: "passed", NEW: "failed"}))
AFTER = Script(records=passing(OLD, NEW))
GOOD = [BEFORE, AFTER, BEFORE, AFTER, Script(records=passing(OLD))]
UNSEEN = Script(
    records=(),
    test=Outcome(exit_code=4, output=b"ModuleNotFoundError: No module named 'yaml'\n"),
)
NOT_FOUND = Outcome(
    exit_code=1,
    output=b"  Because nowhere-known was not found in the package registry and you require\n",
)


def _examine(
    scripts: Sequence[Script],
    *,
    answer: Answer = silent,
    stored: Sequence[Recipe] = (),
    attempts: int = 6,
    task: Task = TASK,
) -> Examination:
    engine = InstallingEngine(scripts=scripts, answer=answer)
    return examine(
        task,
        engine=engine,
        policy=QUICK,
        stored=stored,
        settings=BuildSettings(attempts=attempts),
        progress=silent,
    )


def _task(files: Mapping[str, bytes]) -> Task:
    return replace(TASK, tree=replace(TASK.tree, tar=sample_tar(files)))


def _examine_on(engine: InstallingEngine, task: Task) -> Examination:
    return examine(task, engine=engine, policy=QUICK, settings=BuildSettings(), progress=silent)


def test_the_first_recipe_that_works_ends_it() -> None:
    found = _examine(GOOD)
    assert found.verdict.accepted
    assert found.verdict.fail_to_pass == (NEW,)
    assert [attempt.reason for attempt in found.attempts] == ["accepted"]
    assert found.environment is not None
    assert found.environment.recipe.lock is not None


def test_a_guessed_package_that_does_not_exist_is_left_out_of_the_next_recipe() -> None:
    found = _examine(GOOD, answer=lambda line: NOT_FOUND if "\nnowhere-known\n" in line else None)
    first, last = found.attempts
    assert first.failure is not None
    assert first.failure.failure_class is FailureClass.PACKAGE_NOT_FOUND
    assert first.failure.detail == "nowhere-known"
    assert first.failure.step == "resolve"
    assert last.reason == "accepted"
    assert last.recipe.origin == "repaired"
    assert "nowhere-known" not in last.recipe.requirements


def test_a_list_of_private_packages_is_not_gone_through_one_by_one() -> None:
    names = "\n".join(f"private-{number}" for number in range(10_000)).encode()
    task = _task({**FILES, "requirements-test.txt": b"pytest\n" + names})

    def answer(line: str) -> Outcome | None:
        private = re.search(r"^private-\d+$", line, re.MULTILINE)
        if private is None:
            return None
        said = f"  Because {private[0]} was not found in the package registry and you require\n"
        return Outcome(exit_code=1, output=said.encode())

    found = _examine(GOOD, answer=answer, task=task)
    assert [attempt.reason for attempt in found.attempts] == [
        "package_not_found: private-0",
        "package_not_found: private-1",
        "accepted",
    ]
    assert found.attempts[-1].recipe.origin == "proposed"


def test_why_another_recipe_is_tried_is_told_at_once() -> None:
    lines: list[str] = []
    engine = InstallingEngine(
        scripts=[BEFORE, UNSEEN, *GOOD],
        answer=lambda line: NOT_FOUND if "\nnowhere-known\n" in line else None,
    )
    examine(TASK, engine=engine, policy=QUICK, settings=BuildSettings(), progress=lines.append)
    told = [line.removeprefix("o__a-1: ") for line in lines]
    assert told[:2] == ["proposed recipe on Python 3.12", "resolving as of 2024-05-01"]
    assert told[2:4] == ["package_not_found: nowhere-known", "repaired recipe on Python 3.12"]
    assert "no_tests_seen: missing_module: yaml" in told


def test_a_module_missing_in_the_runs_is_added_by_its_distribution() -> None:
    found = _examine([BEFORE, UNSEEN, *GOOD])
    assert found.verdict.accepted
    assert "pyyaml" in found.attempts[-1].recipe.requirements
    assert found.attempts[0].reason == "no_tests_seen: missing_module: yaml"


def test_no_more_recipes_are_tried_than_allowed() -> None:
    broken = Outcome(exit_code=1, output=b"it broke\n")
    found = _examine([], answer=lambda line: broken if "pip compile" in line else None, attempts=3)
    assert len(found.attempts) == 3
    assert found.verdict.flaw is Flaw.BUILD_FAILED
    assert "it broke" in found.verdict.detail
    assert found.environment is None


def test_the_same_steps_are_tried_once_whoever_names_them() -> None:
    broken = Outcome(exit_code=1, output=b"it broke\n")
    likeliest = proposed(TASK)[0]
    engine = InstallingEngine(
        scripts=GOOD, answer=lambda line: broken if "pip compile" in line else None
    )
    found = examine(
        TASK,
        engine=engine,
        policy=QUICK,
        stored=[replace(likeliest, origin="stored")],
        settings=BuildSettings(attempts=20),
        progress=silent,
        advisor=lambda manifests, attempts: [likeliest],  # noqa: ARG005
    )
    assert sum(replace(each.recipe, origin="proposed") == likeliest for each in found.attempts) == 1
    assert len(found.attempts) > 2
    assert len({replace(each.recipe, origin="") for each in found.attempts}) == len(found.attempts)


def test_stored_recipes_come_first() -> None:
    stored = Recipe(language="python", python="3.9", lock="pytest==8.0.0\n", origin="maintainer")
    found = _examine(GOOD, stored=[stored])
    assert [attempt.recipe.origin for attempt in found.attempts] == ["maintainer"]


def test_when_a_stored_recipe_fails_the_proposals_follow() -> None:
    stored = Recipe(language="python", python="3.9", pre_install=("false",), origin="stored")
    found = _examine(
        GOOD,
        stored=[stored],
        answer=lambda line: Outcome(exit_code=1, output=b"no\n") if line == "false" else None,
        attempts=20,
    )
    assert found.attempts[0].recipe.origin == "stored"
    assert found.verdict.accepted


def test_repairs_of_what_was_learned_at_other_times_wait_for_the_proposals() -> None:
    stored = Recipe(language="python", python="3.7", requirements=("old",), origin="stored")
    wrong = Outcome(exit_code=1, output=b"The Python version (3.7) does not satisfy Python>=3.8\n")
    engine = InstallingEngine(
        scripts=GOOD, answer=lambda line: wrong if line.endswith("\nold\n") else None
    )
    found = examine(
        TASK,
        engine=engine,
        policy=QUICK,
        stored=[stored],
        settings=BuildSettings(attempts=2),
        progress=silent,
    )
    assert found.verdict.accepted
    assert [attempt.recipe.origin for attempt in found.attempts] == ["stored", "proposed"]


def test_tests_that_were_seen_are_not_tried_elsewhere() -> None:
    same = Script(records=passing(OLD, NEW))
    found = _examine([same, same])
    assert found.verdict.flaw is Flaw.NO_FAIL_TO_PASS
    assert len(found.attempts) == 1


def test_the_attempt_that_tells_most_stands_last() -> None:
    unseen = [BEFORE, Script(records=(), test=Outcome(exit_code=4, output=b"no tests\n"))]
    same = Script(records=passing(OLD, NEW))
    stored = Recipe(language="python", python="3.9", lock="pytest==8.0.0\n", origin="stored")
    found = _examine([*unseen, same, same], stored=[stored])
    assert [attempt.reason for attempt in found.attempts] == [
        Flaw.NO_TESTS_SEEN,
        Flaw.NO_FAIL_TO_PASS,
    ]


@pytest.mark.parametrize(
    "said",
    [
        b"error: Failed to fetch: `https://index.invalid/simple/pytest/`\n"
        b"  Caused by: error sending request for url (https://index.invalid/simple/pytest/)\n",
        b"error: HTTP status server error (503 Service Unavailable) for url (https://i.invalid)\n",
    ],
)
def test_a_dead_index_is_no_verdict(said: bytes) -> None:
    down = Outcome(exit_code=2, output=said)
    with pytest.raises(EngineUnavailableError):
        _examine(GOOD, answer=lambda line: down if "pip compile" in line else None)


def test_what_a_build_script_cannot_reach_is_its_own_failure() -> None:
    said = (
        b"  x Failed to build `a @ file:///testbed`\n\n      [stderr]\n"
        b"      urllib3: Failed to establish a new connection\n"
    )
    failed = Outcome(exit_code=1, output=said)
    found = _examine(
        GOOD, answer=lambda line: failed if "-e /testbed" in line else None, attempts=2
    )
    assert found.attempts[0].failure is not None
    assert found.attempts[0].failure.step == "project"


def test_an_environment_of_the_same_key_is_not_made_twice() -> None:
    engine = InstallingEngine(scripts=[*GOOD, *GOOD])
    _examine_on(engine, TASK)
    found = _examine_on(engine, replace(TASK, instance_id="o__a-2"))
    assert found.environment is not None
    assert found.environment.reused
    assert found.environment.packages == ("pytest==8.0.0",)
    assert not any("require-hashes" in line for line in engine.installs[-1].lines)


def test_a_python_nobody_knows_is_refused() -> None:
    stored = Recipe(language="python", python="2.7")
    with pytest.raises(UnknownRecipeError, match=r"2\.7"):
        _examine([], stored=[stored])


def test_a_language_nobody_knows_is_refused() -> None:
    with pytest.raises(UnknownRecipeError, match="cobol"):
        _examine([], task=replace(TASK, language="cobol"))


def test_a_recipe_without_date_is_of_the_tasks() -> None:
    stored = Recipe(language="python", python="3.9", requirements=("pytest",), origin="maintainer")
    found = _examine(GOOD, stored=[stored])
    assert found.attempts[0].recipe.cutoff_at == TASK.merged_at


def test_an_advisor_is_asked_when_nothing_else_is_left() -> None:
    broken = Outcome(exit_code=1, output=b"it broke\n")
    asked: list[tuple[Mapping[str, str], Sequence[Attempt]]] = []

    def advise(manifests: Mapping[str, str], attempts: Sequence[Attempt]) -> Sequence[Recipe]:
        asked.append((manifests, attempts))
        return [Recipe(language="python", python="3.9", requirements=("advised", "pytest"))]

    engine = InstallingEngine(
        scripts=GOOD,
        answer=lambda line: broken if "pip compile" in line and "advised" not in line else None,
    )
    found = examine(
        TASK,
        engine=engine,
        policy=QUICK,
        settings=BuildSettings(attempts=2),
        progress=silent,
        advisor=advise,
    )
    ((manifests, attempts),) = asked
    assert "pyproject.toml" in manifests
    assert len(attempts) == 2
    assert found.verdict.accepted
    assert found.attempts[-1].recipe.origin == "advisor"
    assert found.attempts[-1].recipe.cutoff_at == TASK.merged_at
