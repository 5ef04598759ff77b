"""A pass by the clock: what fails is told, the rest is done, last month is published once."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from miner.assess import SIGNALS
from miner.cli import exits
from miner.cli.passes import WAIT_DAYS, close_month, watched
from miner.cli.reports import end_well, reported
from miner.cli.wiring import now
from miner.errors import RetryableError
from miner.model import IncompleteError, Member, Snapshot, Split, Stage, StageReport
from miner.publish.stage import read_rows
from miner.schedule import Step
from miner.store import Database
from miner.store.leases import MAX_ATTEMPTS
from miner.verify.stage import VERIFIER_VERSION
from tests.miner.cli.conftest import Miner
from tests.miner.split.test_stage import GOOD, Line
from tests.miner.store.beside import after_first
from tests.miner.store.samples import NOW, POLICY, pull, repo
from tests.miner.verified import add_instances, candidate
from validators.model import QUICK


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINER_ENGINE", "unix:///nowhere/engine.sock")


def test_a_step_that_fails_does_not_stop_the_rest(
    miner: Miner, db: Database, no_engine: None
) -> None:
    answer = miner("nightly", "--json")
    assert answer.code == exits.TRY_AGAIN
    result = json.loads(answer.out)
    assert "verify failed (No container engine answers" in result["summary"]
    assert "assess 0 done" in result["summary"]
    assert len(db.admin.last_passes()) == 1
    (shown,) = json.loads(miner("status", "--json").out)["passes"]
    assert (shown["exit_code"], shown["summary"]) == (exits.TRY_AGAIN, result["summary"])
    assert "Last passes" in miner("status").out


def test_the_report_of_a_verification_that_gave_up_is_kept_and_told(
    db: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    half = StageReport(stage=Stage.VERIFY, done=1, retried=3, started_at=now(), ended_at=now())

    def given_up() -> StageReport:
        raise IncompleteError("3 tasks could not be verified", report=half)

    with pytest.raises(IncompleteError):
        reported(db, given_up)
    assert db.admin.reports() == (half,)
    said = capsys.readouterr()
    assert said.err.startswith("verify: 1 done, 0 rejected, 3 to try again, ")
    assert said.out == ""


@pytest.mark.parametrize(
    ("retried", "said"),
    [((0, 0), None), ((1, 0), "1 item of split;"), ((2, 1), "2 items of split, 1 item of verify;")],
)
def test_what_is_to_be_tried_again_is_no_good_end(
    retried: tuple[int, int], said: str | None
) -> None:
    reports = [
        StageReport(stage=stage, done=9, retried=number, started_at=now(), ended_at=now())
        for stage, number in zip((Stage.SPLIT, Stage.VERIFY), retried, strict=True)
    ]
    if said is None:
        end_well(*reports)
        return
    with pytest.raises(RetryableError) as error:
        end_well(*reports)
    assert said in str(error.value)
    assert error.value.exit_code == exits.TRY_AGAIN


@pytest.mark.parametrize("words", [("split",), ("split", "--json")])
def test_a_pull_without_its_mirror_is_told_and_stays_due(
    miner: Miner, db: Database, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "elsewhere").mkdir()
    db.crawl.save_repo(repo(), now=NOW)
    db.crawl.save_pulls([(Line(tmp_path / "elsewhere").pull(GOOD), b"{}")])
    for _ in range(2):
        answer = miner(*words)
        assert answer.code == exits.TRY_AGAIN
        assert "miner: To try again: 1 item of split; the reasons are told above" in answer.err
        assert "o/r#7: " in answer.err
    assert miner("nightly").code == exits.TRY_AGAIN


@pytest.fixture
def last_month() -> datetime:
    """Its last day."""
    return now().replace(day=1) - timedelta(days=1)


def test_last_month_is_published_once(db: Database, last_month: datetime) -> None:
    add_instances(db, candidate(1, merged_at=last_month))
    report = close_month(db, policy=QUICK, today=now().date())
    assert report is not None
    assert report.counts == {f"{last_month:%Y-%m-%d}": 1}
    assert close_month(db, policy=QUICK, today=now().date()) is None
    (snapshot,) = db.publish.snapshots()
    assert snapshot.name == f"{last_month:%Y-%m-%d}"
    (row,) = read_rows(db.publish, snapshot.name)
    assert set(row.meta["signals"]) == {signal.name for signal in SIGNALS}  # type: ignore[arg-type]  # an object


def test_a_month_waits_for_what_another_worker_has_in_hand(
    db: Database, last_month: datetime
) -> None:
    """A snapshot never changes: what comes too late for it would be in none."""
    add_instances(db, candidate(1, merged_at=last_month))
    late = candidate(2, merged_at=last_month, issue_numbers=(9,))
    db.crawl.save_pulls([(pull(2), b"{}")])
    db.split.save_split(pull(2), late, policy=POLICY)

    def claim() -> int:
        words = {"holder": "elsewhere/1/1/x", "policy": "quick", "repo": None}
        return len(db.verify.claim(**words, version=VERIFIER_VERSION, limit=9, now=now()))  # type: ignore[arg-type]  # words are texts

    assert claim() == 1
    with pytest.raises(IncompleteError, match="waits for 1 task of its month") as error:
        close_month(db, policy=QUICK, today=now().date())
    assert (error.value.exit_code, error.value.report.retried) == (exits.TRY_AGAIN, 1)
    assert db.publish.snapshots() == ()
    for _ in range(MAX_ATTEMPTS):
        db.verify.release(late, holder="elsewhere/1/1/x", error="no such luck", now=NOW)
        claim()
    report = close_month(
        db, policy=QUICK, today=now().date()
    )  # it is parked: only a person can help
    assert report is not None
    assert report.done == 1


def test_a_month_waits_a_week_for_what_could_not_be_read(
    db: Database, last_month: datetime
) -> None:
    """Pulls of its last day come in the first crawl after it, which may fail."""
    add_instances(db, candidate(1, merged_at=last_month))
    first = (last_month + timedelta(days=1)).date()
    for day in (first, first.replace(day=WAIT_DAYS)):
        with pytest.raises(RetryableError, match="waits for a pass whose crawl and split leaves"):
            close_month(db, policy=QUICK, today=day, unread=("crawl", "split"))
    assert db.publish.snapshots() == ()
    report = close_month(
        db, policy=QUICK, today=first.replace(day=WAIT_DAYS + 1), unread=("crawl", "split")
    )
    assert report is not None
    assert report.done == 1


@pytest.mark.parametrize(("retried", "left"), [(None, []), (0, []), (1, ["split"])])
def test_a_step_that_left_something_is_unread(retried: int | None, left: list[str]) -> None:
    unread: list[str] = []

    def run() -> StageReport | None:
        if retried is None:
            return None
        return StageReport(stage=Stage.SPLIT, retried=retried, started_at=now(), ended_at=now())

    watched(unread, Step(name="split", run=run)).run()
    assert unread == left


def test_a_step_that_failed_is_unread() -> None:
    unread: list[str] = []

    def run() -> StageReport | None:
        raise RetryableError("no network")

    with pytest.raises(RetryableError):
        watched(unread, Step(name="crawl", run=run)).run()
    assert unread == ["crawl"]


def test_a_month_that_another_process_closes_meanwhile_is_closed(
    db: Database, last_month: datetime
) -> None:
    add_instances(db, candidate(1, merged_at=last_month))
    name = f"{last_month:%Y-%m-%d}"
    other = Snapshot(
        name=name, members=(Member(instance_id="a", split=Split.TEST),), content_hash="h",
        created_at=NOW, window=(None, None),
    )  # fmt: skip
    after_first(
        db._sql, "SELECT snapshots.name", lambda _: db.publish.freeze(other, rows={"a": "{}"})
    )
    assert close_month(db, policy=QUICK, today=now().date()) is None
    assert [snapshot.content_hash for snapshot in db.publish.snapshots()] == ["h"]


def test_a_month_without_instances_is_not_published(db: Database) -> None:
    add_instances(db, candidate(1, merged_at=now() - timedelta(days=400)))
    assert close_month(db, policy=QUICK, today=now().date()) is None


def test_before_the_first_pass_there_is_none_to_tell(miner: Miner, db: Database) -> None:
    assert json.loads(miner("status", "--json").out)["passes"] == []
    assert "Last passes" not in miner("status").out


def test_a_bad_cron_line_is_told(miner: Miner, db: Database) -> None:
    answer = miner("schedule", "--at", "at night")
    assert answer.code == exits.WRONG_INPUT
    assert "is no cron line" in answer.err


def test_gates_are_shown_and_set(miner: Miner, db: Database) -> None:
    shown = json.loads(miner("gates", "show").out)
    assert shown["files_max"] == 15
    Path("gates.json").write_text('{"files_max": 3}')
    assert miner("gates", "set", "gates.json").out.startswith("in force; ")
    assert miner("gates", "set", "gates.json").out == "in force already\n"
    assert json.loads(miner("gates", "show").out)["files_max"] == 3


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"files_most": 3}', "has no 'files_most'"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "a number is too long"),
        ('{"files_max": 1, "files_max": 2}', "the key twice"),
        ('{"files_min": 3, "files_max": 2}', "files_min is 3 and files_max 2"),
        ('{"language_share_min": 5}', "not between 0 and 1"),
        ('{"languages": ["cobol"]}', "no language 'cobol'; known are python"),
        ('{"licenses": []}', "licenses is empty"),
    ],
)
def test_a_gate_policy_that_cannot_work_is_refused(
    miner: Miner, db: Database, text: str, sentence: str
) -> None:
    Path("gates.json").write_text(text)
    answer = miner("gates", "set", "gates.json")
    assert answer.code == exits.WRONG_INPUT
    assert sentence in answer.err
    assert db.admin.gate_policy() is None
