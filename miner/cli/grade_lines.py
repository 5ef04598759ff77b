"""One grade as `miner evaluate` and `miner show` tell it: a line, a JSON object, a log."""

from collections.abc import Callable, Sequence

from miner.cli.speech import say, table
from miner.evaluate.dataset import DatasetRow
from miner.model import Evaluation, EvaluationState
from miner.store import KeptRun
from validators.model import Tally, TestResult, TestStatus

WHY_CHARS = 120
"""So much of a reason is in the table; `--results` has all."""

TELLING = ("FAILED", "error:", "malformed patch", "can't find file")
"""What a line of git or patch(1) has that says why a patch does not apply."""

Runs = Callable[[Evaluation], KeptRun | None]

COLUMNS = ("instance", "model", "state", "FAIL_TO_PASS", "PASS_TO_PASS", "why")


def grade_line(evaluation: Evaluation, row: DatasetRow | None, runs: Runs) -> list[object]:
    """COLUMNS: both lists as passed/required; why it is not resolved, as far as is known.

    Without a row, required tests that failed are not named.
    """
    found = evaluation.grade
    counts = ["", ""]
    if found is not None:
        tallies = (found.fail_to_pass, found.pass_to_pass)
        counts = [f"{tally.passed}/{tally.passed + tally.failed}" for tally in tallies]
    why = _why(evaluation, row, runs)
    return [evaluation.instance_id, evaluation.model_name_or_path, evaluation.state, *counts, why]


def grade_document(evaluation: Evaluation, row: DatasetRow, runs: Runs) -> dict[str, object]:
    """The grade, JSON-able; docs/evaluation.md names every key."""
    document, run = _document(evaluation, runs), runs(evaluation)
    return document | ({} if evaluation.grade is None else {"failed": _failed(row, run)})


def stored_grade_document(evaluation: Evaluation, runs: Runs) -> dict[str, object]:
    """The same where no dataset is at hand to say which tests are required, but it is named."""
    named = {"dataset": evaluation.dataset, "run_id": evaluation.run_id}
    return named | _document(evaluation, runs)


def _document(evaluation: Evaluation, runs: Runs) -> dict[str, object]:
    found = evaluation.grade
    document = {
        "instance_id": evaluation.instance_id,
        "model_name_or_path": evaluation.model_name_or_path,
        "state": evaluation.state,
        "patch_hash": evaluation.patch_hash,
        "detail": evaluation.detail,
        "evaluated_at": evaluation.evaluated_at,
    }
    if found is None:
        return document
    run = runs(evaluation)
    return document | {
        "applied": found.applied,
        "flaw": found.flaw,
        "flags": found.flags,
        "notes": found.notes,
        "fail_to_pass": _tally_document(found.fail_to_pass),
        "pass_to_pass": _tally_document(found.pass_to_pass),
        "log_hash": None if run is None else run.log_hash,
    }


def tell_stored_grades(evaluations: Sequence[Evaluation], runs: Runs) -> None:
    """The grades of one instance as a table; nothing when there are none."""
    if evaluations:
        table(
            "Grades",
            ["dataset", "run", *COLUMNS[1:]],
            [
                [each.dataset, each.run_id, *grade_line(each, None, runs)[1:]]
                for each in evaluations
            ],
        )


def tell_grade_logs(evaluations: Sequence[Evaluation], runs: Runs) -> None:
    """What each grade's run printed; a run that several grades share once."""
    told: set[str] = set()
    for evaluation in evaluations:
        run = runs(evaluation)
        if run is None:
            continue
        say(
            f"--- graded {evaluation.state}: {evaluation.model_name_or_path}, run "
            f"{evaluation.run_id} on {evaluation.dataset}, log {run.log_hash}"
        )
        if run.log_hash not in told:
            say(run.log.decode("utf-8", "replace"))
        told.add(run.log_hash)


def _tally_document(tally: Tally) -> dict[str, int]:
    return {"passed": tally.passed, "failed": tally.failed}


def _failed(row: DatasetRow, run: KeptRun | None) -> dict[str, str]:
    """Required tests that did not pass in the run → what became of them."""
    if run is None:
        return {}
    found = {test: run.results.get(test) for test in (*row.fail_to_pass, *row.pass_to_pass)}
    return {
        test: _status(result)
        for test, result in found.items()
        if result is None or result.status is not TestStatus.PASSED
    }


def _status(result: TestResult | None) -> str:
    """ "error in setup", "failed", "not_collected" …"""
    if result is None:
        return TestStatus.NOT_COLLECTED.value
    where = f" in {result.phase}" if result.status is TestStatus.ERROR else ""
    return f"{result.status.value}{where}"


def _why(evaluation: Evaluation, row: DatasetRow | None, runs: Runs) -> str:
    """Why a grade is not resolved: one short line."""
    if evaluation.state is EvaluationState.RESOLVED:
        return ""
    reason = _telling_line(evaluation.detail)
    flaw = evaluation.grade.flaw if evaluation.grade is not None else None
    if flaw is not None:
        return _cut(f"{flaw}: {reason}" if reason else str(flaw))
    failed = {} if row is None else _failed(row, runs(evaluation))
    if reason or not failed:
        return _cut(reason)
    first = " ".join(next(iter(failed.items())))
    more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
    return f"{_cut(first)}{more}"


def _telling_line(detail: str) -> str:
    lines = [line.strip() for line in detail.splitlines() if line.strip()]
    telling = (line for line in lines if any(word in line for word in TELLING))
    return next(telling, lines[0] if lines else "")


def _cut(text: str) -> str:
    return text if len(text) <= WHY_CHARS else f"{text[: WHY_CHARS - 2]} …"
