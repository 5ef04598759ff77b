"""The verify stage on a real database and mirror, with scripted examinations."""

import io
import subprocess
import tarfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
)
from datetime import timedelta
from pathlib import Path

import pytest

from miner.errors import ConfigError, NotFoundError
from miner.git import Mirrors
from miner.model import Candidate, IncompleteError
from miner.patience import FAILURES_IN_A_ROW
from miner.store import Database
from miner.verify.stage import VERIFIER_VERSION
from tests.fakes.trees import trees
from tests.fakes.workshop import Answer, FakeWorkshop
from tests.miner.store.samples import (
    accepted,
    attempt,
    damage,
    refused,
)
from tests.miner.verify.line import Line, Notes, live
from validators.errors import (
    EngineTooOldError,
    EngineUnavailableError,
    PythonUnavailableError,
    UnknownRecipeError,
    ValidatorError,
)
from validators.model import QUICK, Examination, Recipe, Task, Tree, Verdict

NO_ENGINE = EngineUnavailableError("No engine answers; start Docker.")


@pytest.fixture
def line(database: Database, mirrors: Mirrors, commit: str) -> Line:
    """The stage on an empty database."""
    return Line(database, mirrors, commit)


def answers(of: Sequence[Candidate]) -> dict[str, Answer]:
    """All accepted."""
    return {one.instance_id: accepted(one).examination for one in of}


def test_accepted_and_rejected_are_stored_and_told(line: Line) -> None:
    one, two = line.candidates(1, 2)
    workshop = FakeWorkshop(answers((one,)) | {"o__r-2": refused(two).examination})
    report = line.verify(workshop)
    assert (report.done, report.rejected, report.retried) == (1, 1, 0)
    assert report.counts == {"accepted": 1, "build_failed": 1}
    assert sorted(line.notes.said) == [
        "o__r-1: accepted, 1 FAIL_TO_PASS",
        "o__r-2: rejected: build_failed (package_not_found: nope)",
    ]
    funnel = line.database.admin.funnel()
    assert (funnel.instances, dict(funnel.verify_rejections)) == (1, {"build_failed": 1})
    assert live(line.database) == 0


def test_a_second_call_does_nothing(line: Line) -> None:
    found = line.candidates(1, 2)
    line.verify(FakeWorkshop(answers(found)))
    workshop = FakeWorkshop({})
    report = line.verify(workshop)
    assert (report.done, report.counts, workshop.asked) == (0, {}, [])


def test_the_task_holds_the_tree_of_the_base_commit(line: Line) -> None:
    (one,) = line.candidates(1)
    seen: list[Task] = []

    def look(task: Task) -> Examination:
        seen.append(task)
        return accepted(one).examination

    line.verify(FakeWorkshop({one.instance_id: look}))
    (task,) = seen
    with tarfile.open(fileobj=io.BytesIO(task.tree.tar)) as tar:
        assert [member.name.removeprefix("./") for member in tar if member.isfile()] == ["core.py"]
    assert (task.patch, task.test_patch, task.merged_at) == (
        one.patch,
        one.test_patch,
        one.merged_at,
    )


def test_the_limit_is_kept(line: Line) -> None:
    found = line.candidates(1, 2, 3)
    assert line.verify(FakeWorkshop(answers(found)), limit=2).done == 2
    assert line.verify(FakeWorkshop(answers(found)), limit=2).done == 1
    assert line.notes.totals == [2, 1]


def test_how_many_are_due_is_told_first_and_a_try_that_failed_is_none_done(line: Line) -> None:
    found = line.candidates(1, 2, 3, 4)
    taken = line.database.verify.claim(
        holder="another", version=VERIFIER_VERSION, policy=QUICK.name, limit=1, repo=None,
        now=line.now(),
    )  # fmt: skip
    mine = [one for one in found if one not in taken]
    broken = mine[0].instance_id
    report = line.verify(FakeWorkshop(answers(mine) | {broken: NO_ENGINE}))
    assert (report.done, report.retried) == (2, 1)
    assert line.notes.totals == [3]
    assert len(line.notes.said) == 2
    assert line.notes.told == [f"{broken}: stays due: {NO_ENGINE}"] * 2


def test_no_more_trees_than_allowed_are_in_flight(line: Line) -> None:
    found = line.candidates(*range(1, 9))
    lock, now, most = threading.Lock(), [0], [0]
    gate = threading.Barrier(2, timeout=100)

    def work(task: Task) -> Examination:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        gate.wait()  # two at once, always
        with lock:
            now[0] -= 1
        return accepted(found[int(task.instance_id[-1]) - 1]).examination

    with ThreadPoolExecutor(8) as pool:
        report = line.verify(
            FakeWorkshop({one.instance_id: work for one in found}), pool, in_flight=2
        )
    assert (report.done, most[0]) == (8, 2)


def test_stored_recipes_are_handed_over_a_persons_first(line: Line) -> None:
    found = line.candidates(1, 2)
    line.verify(FakeWorkshop(answers(found[:1]) | {"o__r-2": NO_ENGINE}))
    mine = Recipe(language="python", python="3.8")
    line.database.admin.set_recipe("o/r", mine, author="ann")
    workshop = FakeWorkshop(answers(found))
    line.verify(workshop)
    stored = workshop.asked[0][2]
    assert [(recipe.python, recipe.origin, recipe.lock) for recipe in stored] == [
        ("3.8", "maintainer", None),
        ("3.12", "stored", None),
    ]
    assert (stored[0].cutoff_at, stored[0].cutoff_exempt) == (None, ())  # the examination dates it


def test_a_dead_engine_is_no_verdict_backs_off_and_is_told(line: Line) -> None:
    (one,) = line.candidates(1)
    with pytest.raises(IncompleteError, match="No engine answers; start Docker") as error:
        line.verify(FakeWorkshop({one.instance_id: NO_ENGINE}))
    assert error.value.exit_code == 75
    assert str(error.value).startswith("1 task could not be verified: ")
    assert error.value.report.retried == 1  # tried twice, as the first is tried again at once
    funnel = line.database.admin.funnel()
    assert (funnel.waiting_verify, funnel.instances, funnel.verify_rejections) == (1, 0, {})
    assert line.verify(FakeWorkshop({})).done == 0  # it backs off
    line.now.at += timedelta(minutes=2)
    assert line.verify(FakeWorkshop(answers((one,)))).done == 1


def test_a_failure_of_one_does_not_stop_the_others(line: Line) -> None:
    found = line.candidates(1, 2, 3)
    broken: dict[str, Answer] = {"o__r-2": KeyError("bug")}
    report = line.verify(FakeWorkshop(answers(found) | broken))
    assert (report.done, report.retried) == (2, 1)  # tried twice
    evidence = line.database.admin.evidence("o__r-2")
    assert evidence is not None
    assert [error for _, error in evidence.failures] == ["KeyError: 'bug'"] * 2


def test_what_is_stored_damaged_does_not_stop_the_others(line: Line) -> None:
    *_, bad = candidates = line.candidates(1, 2, 3)
    damage(line.database, bad)
    report = line.verify(FakeWorkshop(answers(candidates)), limit=1)
    assert (report.done + report.rejected, report.retried) == (1, 1)
    (told,) = [note for note in line.notes.told if "stays due" in note]
    assert told.startswith(f"{bad.instance_id}: stays due: The blob ")
    assert [(name, "damaged" in error) for _, name, error in line.database.admin.status().failures]


def test_a_hiccup_is_recorded_and_tried_again_in_the_same_pass(line: Line) -> None:
    (one,) = line.candidates(1)
    asked: list[Task] = []

    def hiccup(task: Task) -> Examination:
        asked.append(task)
        if len(asked) == 1:
            raise NO_ENGINE
        return accepted(one).examination

    report = line.verify(FakeWorkshop({one.instance_id: hiccup}))
    assert (report.done, report.rejected, report.retried) == (1, 0, 0)
    assert len(asked) == 2


def test_failures_in_a_row_give_the_pass_up(line: Line) -> None:
    found = line.candidates(*range(1, 9))
    workshop = FakeWorkshop({one.instance_id: NO_ENGINE for one in found})
    with pytest.raises(IncompleteError):
        line.verify(workshop, in_flight=1)
    assert len(workshop.asked) == 3
    assert live(line.database) == 0


def test_what_no_tree_can_be_had_for_gives_the_pass_up(line: Line) -> None:
    """Else every pass would use up the attempts of all, and a month be closed without them."""
    found = line.candidates(*range(1, 9))

    def tree(one: Candidate) -> Tree:
        raise ConfigError("The key of the GitHub App is refused; set another.")

    line.tree = tree
    with pytest.raises(IncompleteError, match="The key of the GitHub App is refused"):
        line.verify(FakeWorkshop(answers(found)), in_flight=1)
    tried = [line.database.admin.evidence(one.instance_id) for one in found]
    assert sum(len(each.failures) for each in tried if each is not None) == FAILURES_IN_A_ROW
    assert live(line.database) == 0


@pytest.mark.parametrize("kind", [UnknownRecipeError, PythonUnavailableError])
def test_a_python_that_is_not_to_be_had_keeps_no_other_from_being_verified(
    line: Line, kind: type[ValidatorError]
) -> None:
    found = line.candidates(*range(1, 9))
    missing: dict[str, Answer] = {
        one.instance_id: kind("No Python 3.14 here.") for one in found if one.pull_number > 2
    }
    report = line.verify(FakeWorkshop(answers(found) | missing), in_flight=1)
    assert report.done == 2
    assert report.counts["machinery_failed"] == len(missing)  # none is tried twice in a pass
    assert live(line.database) == 0
    evidence = line.database.admin.evidence("o__r-8")
    assert evidence is not None
    assert [error for _, error in evidence.failures] == ["No Python 3.14 here."]


def test_an_old_engine_is_passed_on_and_everything_released(line: Line) -> None:
    found = line.candidates(1, 2)
    workshop = FakeWorkshop({one.instance_id: EngineTooOldError("old") for one in found})
    with pytest.raises(EngineTooOldError):
        line.verify(workshop)
    assert live(line.database) == 0
    assert line.verify(FakeWorkshop(answers(found))).done == 2


def test_a_missing_mirror_stays_due(line: Line) -> None:
    found = line.candidates(1)
    whole, line.tree = line.tree, trees(Mirrors(line.mirrors.root / "none"))
    with pytest.raises(IncompleteError, match="no mirror of o/r"):
        line.verify(FakeWorkshop(answers(found)))
    line.tree = whole
    line.now.at += timedelta(minutes=2)
    assert line.verify(FakeWorkshop(answers(found))).done == 1


def test_a_repository_that_is_gone_keeps_no_other_from_being_verified(line: Line) -> None:
    found = line.candidates(1, 2, 3, 4)
    gone = {one.instance_id for one in found[1:]}  # claimed first, being newer
    whole = line.tree

    def tree(one: Candidate) -> Tree:
        if one.instance_id in gone:
            raise NotFoundError(f"{one.repo} does not exist.")
        return whole(one)

    line.tree = tree
    report = line.verify(FakeWorkshop(answers(found)))
    assert (report.done, report.rejected, report.retried) == (1, 0, 3)  # each tried twice
    line.tree = whole
    line.now.at += timedelta(minutes=2)
    assert line.verify(FakeWorkshop(answers(found))).done == 3


def test_a_tree_that_no_container_can_be_given_is_rejected_at_once(
    line: Line, tmp_path: Path
) -> None:
    """As a failure of the machine it would keep every other candidate waiting."""
    commit = commit_of_an_unsafe_tree(tmp_path / "unsafe")
    line.mirrors.update("o/r", str(tmp_path / "unsafe"))
    line.commit = commit
    line.candidates(1, 2, 3, 4)
    report = line.verify(FakeWorkshop({}))
    assert (report.rejected, report.retried) == (4, 0)
    funnel = line.database.admin.funnel()
    assert funnel.instances == 0
    assert line.verify(FakeWorkshop({})).rejected == 0


def commit_of_an_unsafe_tree(folder: Path) -> str:
    """A repository whose commit holds a path that leads out of its folder."""
    folder.mkdir()

    def git(*words: str, given: str = "") -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        ran = subprocess.run(
            ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True,
            input=given,
        )  # fmt: skip
        return ran.stdout.strip()

    git("init", "-q", "-b", "main")
    blob = git("hash-object", "-w", "--stdin", given="x")
    tree = git("mktree", given=f"100644 blob {blob}\t..\n")
    commit = git("commit-tree", "-m", "unsafe", tree)
    git("update-ref", "refs/heads/main", commit)
    return commit


def test_an_acceptance_without_fail_to_pass_is_not_believed(line: Line) -> None:
    (one,) = line.candidates(1)
    nothing = Examination(
        instance_id="o__r-1",
        attempts=(attempt(verdict=Verdict()),),
        verdict=Verdict(),
    )
    with pytest.raises(IncompleteError, match="without any FAIL_TO_PASS"):
        line.verify(FakeWorkshop({one.instance_id: nothing}))
    assert line.database.admin.funnel().instances == 0


def test_ctrl_c_closes_the_workshop_and_frees_everything_at_once(line: Line) -> None:
    found = line.candidates(1, 2, 3)
    workshop: FakeWorkshop

    def wait_for_the_end(task: Task) -> Examination:
        assert workshop.closed.wait(100)
        raise NO_ENGINE

    workshop = FakeWorkshop(answers(found) | {"o__r-2": wait_for_the_end})

    class Interrupted(Notes):
        def advance(self, what: str, note: str, *, by: int = 1) -> None:  # noqa: ARG002
            if by:
                raise KeyboardInterrupt

    line.notes = Interrupted()
    with ThreadPoolExecutor(2) as pool, pytest.raises(KeyboardInterrupt):
        line.verify(workshop, pool)
    assert workshop.closed.is_set()
    assert live(line.database) == 0
    line.notes = Notes()
    assert line.verify(FakeWorkshop(answers(found))).done == 2  # one was stored before
    assert line.database.admin.funnel().instances == 3


class Breaking(Executor):
    """Takes work and loses it, as a cluster does whose scheduler dies."""

    def __init__(self, end: Callable[[Future[Examination]], object]) -> None:
        self._end = end

    def submit(self, *_: object, **__: object) -> Future[Examination]:  # type: ignore[override]  # narrower
        """Lost."""
        future: Future[Examination] = Future()
        self._end(future)
        return future


@pytest.mark.parametrize(
    "end",
    [
        lambda future: (future.cancel(), future.set_running_or_notify_cancel()),
        lambda future: future.set_exception(BrokenExecutor("gone")),
        lambda _: None,
    ],
    ids=["cancelled", "broken", "never ends"],
)
def test_a_broken_executor_loses_nothing(
    line: Line, end: Callable[[Future[Examination]], object]
) -> None:
    found = line.candidates(1, 2, 3)
    with pytest.raises(IncompleteError, match="lost its work"):
        line.verify(FakeWorkshop({}), Breaking(end), in_flight=2, result_s=0.01)
    assert live(line.database) == 0
    line.now.at += timedelta(minutes=2)
    assert line.verify(FakeWorkshop(answers(found))).done == 3


def test_a_lost_lease_writes_nothing(line: Line) -> None:
    (one,) = line.candidates(1)

    def slow(task: Task) -> Examination:
        line.now.at += timedelta(hours=1)
        return accepted(one).examination

    report = line.verify(FakeWorkshop({one.instance_id: slow}), limit=1)
    assert (report.done, report.counts) == (0, {"lease_lost": 1})
    assert line.database.admin.funnel().instances == 0
