"""The evaluation's store: grades, cached and newest."""

from dataclasses import replace

from miner.model import Evaluation, EvaluationState
from miner.store import Database
from tests.miner.store.samples import NOW, run
from validators.model import Grade, Tally

GRADE = Grade(
    resolved=True,
    applied=True,
    fail_to_pass=Tally(passed=1, failed=0),
    pass_to_pass=Tally(passed=2, failed=0),
    run=run(),
)
ONE = Evaluation(
    dataset="2026-11-29",
    run_id="first",
    instance_id="o__r-1",
    model_name_or_path="m\x00\udc80",
    patch_hash="p",
    state=EvaluationState.RESOLVED,
    grade=GRADE,
    detail="",
    evaluated_at=NOW,
)
BARE = replace(ONE, grade=replace(GRADE, run=None))


def test_the_newest_grade_of_an_instance_and_model_counts(database: Database) -> None:
    broken = replace(ONE, state=EvaluationState.INFRASTRUCTURE, grade=None, detail="no engine")
    other = replace(BARE, model_name_or_path="other")
    for evaluation in (broken, other, ONE):
        database.evaluate.save_evaluation(evaluation, row_hash="r", grader_version=1)
    assert database.evaluate.evaluations(dataset="2026-11-29", run_id="first") == (BARE, other)
    assert database.evaluate.evaluations(dataset="2026-11-29", run_id="no") == ()


def test_only_final_grades_of_the_same_inputs_are_reused(database: Database) -> None:
    def cached(row_hash: str = "r", patch_hash: str = "p", version: int = 1) -> Evaluation | None:
        return database.evaluate.cached_evaluation(
            row_hash=row_hash, patch_hash=patch_hash, grader_version=version
        )

    broken = replace(ONE, state=EvaluationState.INFRASTRUCTURE, grade=None, detail="no engine")
    database.evaluate.save_evaluation(broken, row_hash="r", grader_version=1)
    assert cached() is None
    database.evaluate.save_evaluation(ONE, row_hash="r", grader_version=1)
    assert cached() == BARE
    assert cached(row_hash="x") is None
    assert cached(patch_hash="x") is None
    assert cached(version=2) is None


def test_a_grades_run_is_found_again_also_by_the_grades_that_reuse_it(database: Database) -> None:
    store = database.evaluate
    reused = replace(BARE, dataset="file:1", evaluated_at=NOW)
    other = replace(BARE, patch_hash="q", run_id="other")
    store.save_evaluation(ONE, row_hash="r", grader_version=1)
    store.save_evaluation(reused, row_hash="r", grader_version=1)
    store.save_evaluation(other, row_hash="r", grader_version=1)
    for evaluation in (ONE, reused):
        kept = store.kept_run(evaluation)
        assert kept is not None
        assert (kept.log, dict(kept.results)) == (run().outcome.output, dict(run().results))
    assert store.kept_run(other) is None
    assert store.of_instance("o__r-1") == (BARE, reused, other)
    assert store.of_instance("o__r-2") == ()
