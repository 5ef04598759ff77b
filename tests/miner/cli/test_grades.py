"""What a reader can check of a grade: why it is what it is, its notes, its run's log."""

import json
import runpy
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from miner.cli import exits
from miner.cli.datasets import find_dataset
from miner.cli.grades import of_models, results_document, tell_grades
from miner.cli.speech import as_text
from miner.evaluate.dataset import Dataset, DatasetRow, patch_hash
from miner.evaluate.stage import Submission
from miner.model import Evaluation, EvaluationState, Prediction
from miner.store import Database
from tests.fakes.dockerd import fake_dockerd
from tests.miner.cli.conftest import Miner
from tests.miner.store.samples import NOW, run
from tests.miner.verified import add_instances, candidate
from tests.samples import GOLD, TESTS, recipe
from validators.model import Flaw, Grade, Outcome, Tally, TestResult, TestStatus

DOCS = Path(__file__).parents[3] / "docs"
ROW = DatasetRow(
    instance_id="o__r-1",
    repo="o/r",
    base_commit="a" * 40,
    patch=GOLD,
    test_patch=TESTS,
    fail_to_pass=("t.py::a", "t.py::b"),
    pass_to_pass=("t.py::c",),
    recipe=recipe(),
    merged_at=NOW,
    row_hash="r",
)
DATASET = Dataset(name="2026-11-29", rows=(ROW,))
ANSWERS = Submission(
    run_id="answers",
    predictions=(Prediction(instance_id="o__r-1", model_name_or_path="m", model_patch=b"x"),),
)
RAN = replace(
    run(),
    outcome=Outcome(exit_code=1, output=b"the log's last words"),
    results={
        "t.py::a": TestResult(status=TestStatus.PASSED),
        "t.py::b": TestResult(status=TestStatus.ERROR, phase="setup"),
    },
)
WRONG = Grade(
    resolved=False,
    applied=True,
    fail_to_pass=Tally(passed=1, failed=1),
    pass_to_pass=Tally(passed=0, failed=1),
    notes=("applied by fuzz",),
    run=RAN,
)
REJECTS = """ng file a.py
Hunk #1 succeeded at 3.
Hunk #2 FAILED at 30.
1 out of 2 hunks FAILED -- saving rejects to file a.py.rej"""


def evaluation(grade: Grade | None, detail: str = "") -> Evaluation:
    return Evaluation(
        dataset=DATASET.name,
        run_id="answers",
        instance_id="o__r-1",
        model_name_or_path="m",
        patch_hash="p",
        state=EvaluationState.UNRESOLVED if grade else EvaluationState.INFRASTRUCTURE,
        grade=grade,
        detail=detail,
        evaluated_at=NOW,
    )


def kept(db: Database, given: Evaluation) -> Evaluation:
    db.evaluate.save_evaluation(given, row_hash="r", grader_version=1)
    return given


def why(db: Database, given: Evaluation, capsys: pytest.CaptureFixture[str]) -> str:
    """The table's text, with its columns' wrapping and borders taken out."""
    tell_grades(DATASET, ANSWERS, [kept(db, given)], db.evaluate.kept_run)
    cells = [line.split("│")[-2].strip() for line in capsys.readouterr().out.splitlines()
             if line.count("│") > 2]  # fmt: skip
    return "".join(cells)


def test_results_name_the_tests_the_notes_and_the_log(db: Database) -> None:
    given = kept(db, evaluation(WRONG))
    document = results_document(DATASET, ANSWERS, [given], db.evaluate.kept_run)
    (grade,) = json.loads(as_text(document))["grades"]
    assert grade["notes"] == ["applied by fuzz"]
    assert grade["failed"] == {"t.py::b": "error in setup", "t.py::c": "not_collected"}
    assert grade["fail_to_pass"] == {"passed": 1, "failed": 1}
    run = db.evaluate.kept_run(given)
    assert run is not None
    assert grade["log_hash"] == run.log_hash


def test_a_wrong_patch_says_which_test_it_fails(
    db: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    said = why(db, evaluation(WRONG), capsys).replace(" ", "")
    assert "t.py::berrorinsetupand1more" in said


def test_a_patch_that_does_not_apply_says_so_in_one_line(
    db: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    flawed = replace(WRONG, applied=False, flaw=Flaw.PATCH_DOES_NOT_APPLY, run=None)
    said = why(db, evaluation(flawed, REJECTS), capsys).replace(" ", "")
    assert said.endswith("patch_does_not_apply:Hunk#2FAILEDat30.")
    long = why(db, evaluation(flawed, "error: " + "x" * 9000), capsys)
    assert len(long) < 200


def test_a_machines_failure_says_why(db: Database, capsys: pytest.CaptureFixture[str]) -> None:
    assert "noengine" in why(db, evaluation(None, "no engine\nmore"), capsys).replace(" ", "")


def test_the_log_of_a_grade_can_be_read(miner: Miner, db: Database) -> None:
    kept(db, evaluation(WRONG))
    answer = miner("show", "o__r-1", "--logs")
    assert answer.code == exits.OK
    assert "graded unresolved: m, run answers on 2026-11-29" in answer.out
    assert "the log's last words" in answer.out
    assert miner("show", "o__r-2", "--logs").code == exits.WRONG_INPUT


def test_what_was_only_graded_here_is_shown_with_its_grades(miner: Miner, db: Database) -> None:
    kept(db, evaluation(WRONG))
    kept(db, replace(evaluation(None, "no engine"), model_name_or_path="n"))
    answer = miner("show", "o__r-1")
    assert answer.code == exits.OK
    assert answer.out.startswith("o__r-1: not mined here, only graded\n")
    for word in ("2026-11-29", "answers", "unresolved", "1/2", "0/1", "infrastructure"):
        assert word in answer.out
    assert "the log's last words" not in answer.out
    shown = json.loads(miner("show", "o__r-1", "--json").out)
    assert (shown["is_instance"], shown["examinations"], shown["rejections"]) == (False, [], [])
    right, broken = shown["grades"]
    assert (right["dataset"], right["run_id"], right["state"]) == (
        DATASET.name, "answers", "unresolved",
    )  # fmt: skip
    assert right["fail_to_pass"] == {"passed": 1, "failed": 1}
    assert right["log_hash"]
    assert (broken["model_name_or_path"], broken["detail"]) == ("n", "no engine")


def test_an_instance_that_was_mined_is_shown_with_its_grades_too(
    miner: Miner, db: Database
) -> None:
    add_instances(db, candidate(1))
    assert "Grades" not in miner("show", "o__r-1").out
    assert json.loads(miner("show", "o__r-1", "--json").out)["grades"] == []
    kept(db, evaluation(WRONG))
    answer = miner("show", "o__r-1")
    assert answer.out.startswith("o__r-1: an instance\n")
    assert "Grades" in answer.out
    assert json.loads(miner("show", "o__r-1", "--json").out)["grades"][0]["state"] == "unresolved"


def test_the_leaderboard_tells_the_score_with_and_without_flagged_grades(
    miner: Miner, db: Database
) -> None:
    add_instances(db, candidate(1))
    assert miner("publish", "--name", "2026-11-29").code == exits.OK
    (one,) = find_dataset(db, "2026-11-29").rows
    right = replace(WRONG, resolved=True, flags=("equality",))
    for model, grade in (("honest", replace(right, flags=())), ("odd", right)):
        given = replace(
            evaluation(grade),
            instance_id=one.instance_id,
            model_name_or_path=model,
            state=EvaluationState.RESOLVED,
        )
        kept(db, given)
    table = miner("leaderboard", "2026-11-29").out
    lines = {line.split()[1]: line.split("│") for line in table.splitlines() if "answers" in line}
    told = {model: (cells[3].split()[0], cells[5].strip()) for model, cells in lines.items()}
    assert told == {"honest": ("1/1", "1"), "odd": ("1/1", "0")}
    document = json.loads(miner("leaderboard", "2026-11-29", "--json").out)
    assert {each["model_name_or_path"]: each["flagged"] for each in document} == {
        "honest": 0, "odd": 1,
    }  # fmt: skip


def test_a_whole_export_is_its_snapshot(miner: Miner, db: Database, tmp_path: Path) -> None:
    add_instances(db, candidate(1), candidate(2))
    assert miner("publish", "--name", "2026-11-29").code == exits.OK
    assert miner("export", "--out", "all.jsonl").code == exits.OK
    whole = find_dataset(db, str(tmp_path / "all.jsonl"))
    assert whole.name == "2026-11-29"
    assert whole == find_dataset(db, "2026-11-29")
    lines = (tmp_path / "all.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "part.jsonl").write_text(lines[0])
    assert find_dataset(db, str(tmp_path / "part.jsonl")).name.startswith("file:")


def test_predictions_for_instances_that_are_not_chosen_are_of_no_concern(
    miner: Miner, db: Database, tmp_path: Path
) -> None:
    add_instances(db, candidate(1), candidate(2))
    assert miner("publish", "--name", "2026-11-29").code == exits.OK
    answers = [
        {"instance_id": f"o__r-{number}", "model_name_or_path": "m", "model_patch": ""}
        for number in (1, 2)
    ]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(each) + "\n" for each in answers))
    (tmp_path / "second.jsonl").write_text(json.dumps(answers[1]))
    words = ("evaluate", "--limit", "1", "--dry-run", "--json", "-p")
    plan = miner(*words, "p.jsonl")
    assert json.loads(plan.out)["instances"] == ["o__r-1"]
    none = miner(*words, "second.jsonl")
    assert none.code == exits.WRONG_INPUT
    assert "answers none of the instances that --repo and --limit choose" in none.err
    (tmp_path / "second.jsonl").write_text(json.dumps(answers[1] | {"instance_id": "o__r-3"}))
    assert "no such instance" in miner(*words, "second.jsonl").err


def test_what_was_graded_as_a_file_counts_for_its_snapshot_once(miner: Miner, db: Database) -> None:
    add_instances(db, candidate(1))
    assert miner("publish", "--name", "2026-11-29").code == exits.OK
    dataset = find_dataset(db, "2026-11-29")
    wrong = replace(evaluation(WRONG), instance_id=dataset.rows[0].instance_id)
    kept(db, replace(wrong, dataset=dataset.also[0]))
    right = replace(wrong, evaluated_at=NOW + timedelta(hours=1), state=EvaluationState.RESOLVED)
    for given, resolved in ((wrong, 0), (right, 1)):
        kept(db, given)
        (model,) = json.loads(miner("leaderboard", "--json").out)
        assert (model["resolved"], model["total"]) == (resolved, 1)


def test_a_file_is_read_back_as_the_docs_say(miner: Miner, db: Database, tmp_path: Path) -> None:
    add_instances(db, candidate(1), candidate(2))
    assert miner("publish", "--name", "2026-11-29").code == exits.OK
    assert miner("export", "--out", "tasks.jsonl").code == exits.OK
    text = (DOCS / "data.md").read_text(encoding="utf-8")
    code = text.partition("## Reading a file back")[2].partition("```python\n")[2]
    (tmp_path / "example.py").write_text(code.partition("```")[0], encoding="utf-8")
    runpy.run_path(str(tmp_path / "example.py"))
    for row in map(json.loads, (tmp_path / "tasks.jsonl").read_text().splitlines()):
        written = (tmp_path / f"{row['instance_id']}.Dockerfile").read_text()
        assert written == row["dockerfile"] != ""


def test_what_is_given_up_is_told_with_what_is_graded_and_what_is_not(
    miner: Miner, db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The site of the repositories is away: no tree is to be had, whatever is tried."""
    add_instances(db, *map(candidate, range(1, 7)))
    assert miner("publish", "--name", "2026-11-29").code == exits.OK
    monkeypatch.setenv("MINER_GITHUB_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("MINER_WORKERS", "1")
    answers = [
        {"instance_id": f"o__r-{number}", "model_name_or_path": "m", "model_patch": "x" * number}
        for number in range(6)
        if number
    ]  # of o__r-6 there is none: that is known without a run
    (tmp_path / "p.json").write_text(json.dumps(answers))
    with fake_dockerd(tmp_path) as engine:
        monkeypatch.setenv("MINER_ENGINE", engine.url)
        answer = miner("evaluate", "-p", "p.json", "--results", "grades.json")
    assert answer.code == exits.TRY_AGAIN
    sentence = answer.err.splitlines()[-1]
    assert sentence.startswith("miner: 5 answers could not be graded, 1 of them not even tried: ")
    assert "Traceback" not in answer.err
    assert "m: 0 of 1 resolved, 0.0 % (0.0–79.3); the machine failed on 4 more" in answer.out
    assert "m: 1 answer not graded yet" in answer.out
    written = json.loads((tmp_path / "grades.json").read_text())
    states = {each["instance_id"]: each["state"] for each in written["grades"]}
    assert states == {
        "o__r-1": "infrastructure",
        "o__r-2": "infrastructure",
        "o__r-3": "infrastructure",
        "o__r-4": "infrastructure",  # it was under way when the third failed
        "o__r-6": "unresolved",
    }
    assert written["not_graded"] == [{"instance_id": "o__r-5", "model_name_or_path": "m"}]


def test_what_an_answer_got_before_it_changed_is_not_told(db: Database) -> None:
    given = kept(db, evaluation(WRONG))
    asked = replace(ANSWERS.predictions[0], model_patch=b"x")
    assert of_models(db, DATASET, Submission(run_id="answers", predictions=(asked,))) == []
    kept(db, replace(given, patch_hash=patch_hash(b"x")))
    (now,) = of_models(db, DATASET, Submission(run_id="answers", predictions=(asked,)))
    assert now.patch_hash == patch_hash(b"x")


def test_every_key_of_a_grade_is_documented(db: Database) -> None:
    given = kept(db, evaluation(WRONG))
    document = results_document(DATASET, ANSWERS, [given], db.evaluate.kept_run)
    grades = json.loads(as_text(document))["grades"]
    text = (DOCS / "evaluation.md").read_text(encoding="utf-8")
    assert [key for key in (*document, *grades[0]) if f"`{key}`" not in text] == []
