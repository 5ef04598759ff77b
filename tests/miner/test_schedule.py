"""Passes and the scheduler, on a real database, with real signals and dead holders."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from miner import holder as holders
from miner import schedule as schedules
from miner.errors import ConfigError, FatalError, RetryableError
from miner.model import Snapshot, Stage, StageReport
from miner.schedule import HeldError, Step, month_to_close, nightly, schedule
from miner.store import Database, open_store
from miner.store.passes import PassStore

NOW = datetime(2026, 11, 29, 3, tzinfo=UTC)


def now() -> datetime:
    """A clock that stands."""
    return NOW


def report(stage: Stage = Stage.SPLIT, **counts: int) -> StageReport:
    """A stage's report."""
    return StageReport(stage=stage, started_at=NOW, ended_at=NOW, **counts)  # type: ignore[arg-type]  # counts are ints


def failing(error: Exception) -> Callable[[], StageReport | None]:
    """A step that fails."""

    def run() -> StageReport | None:
        raise error

    return run


def test_a_pass_runs_its_steps_in_order_and_says_so_in_one_line(database: Database) -> None:
    ran: list[str] = []

    def step(name: str) -> Step:
        def run() -> StageReport | None:
            ran.append(name)
            return report(done=2, rejected=1) if name == "split" else None

        return Step(name=name, run=run)

    result = nightly(
        database.admin.passes, steps=[step("crawl"), step("split"), step("verify")], now=now
    )
    assert ran == ["crawl", "split", "verify"]
    assert result.exit_code == 0
    assert result.summary == (
        "crawl had nothing to do · split 2 done, 1 rejected · verify had nothing to do"
    )
    (stored,) = database.admin.last_passes()
    assert (stored.exit_code, stored.summary) == (0, result.summary)
    assert database.admin.status().work == ()


@pytest.mark.parametrize(
    ("errors", "code"),
    [
        ([RetryableError("a")], 75),
        ([RetryableError("a"), ConfigError("b")], 2),
        ([ConfigError("a"), RetryableError("b")], 2),
        ([RetryableError("a"), FatalError("b")], 70),
    ],
)
def test_the_worst_exit_code_counts_and_later_steps_go_on(
    database: Database, errors: list[Exception], code: int
) -> None:
    steps = [Step(name=f"s{n}", run=failing(error)) for n, error in enumerate(errors)]
    steps.append(Step(name="last", run=lambda: report(done=1)))
    result = nightly(database.admin.passes, steps=steps, now=now)
    assert result.exit_code == code
    assert "s0 failed (a)" in result.summary
    assert ("last 1 done" in result.summary) is (code != 70)


def test_the_report_of_a_step_that_failed_half_way_is_handed_on(database: Database) -> None:
    class HalfError(RetryableError):
        report = report(Stage.VERIFY, done=3, retried=1)

    result = nightly(
        database.admin.passes,
        steps=[Step(name="verify", run=failing(HalfError("engine gone")))],
        now=now,
    )
    assert result.reports == (HalfError.report,)


def test_what_is_to_be_tried_again_is_in_the_exit_code(database: Database) -> None:
    steps = [Step(name="split", run=lambda: report(Stage.SPLIT, done=2, retried=1))]
    result = nightly(database.admin.passes, steps=steps, now=now)
    assert result.exit_code == 75
    assert "1 to retry" in result.summary
    bad = Step(name="last", run=failing(ConfigError("b")))
    assert nightly(database.admin.passes, steps=[*steps, bad], now=now).exit_code == 2


def test_an_unforeseen_error_keeps_later_steps_from_nothing(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    steps = [
        Step(name="crawl", run=failing(KeyError("a secret"))),
        Step(name="last", run=lambda: report(done=1)),
    ]
    result = nightly(database.admin.passes, steps=steps, now=now)
    assert result.exit_code == 70
    assert result.summary.startswith("crawl failed (KeyError: unforeseen, see the log) · last 1 d")
    assert "secret" not in result.summary
    assert "Traceback" in caplog.text


def test_one_pass_at_a_time(database: Database) -> None:
    def inner() -> StageReport | None:
        with pytest.raises(HeldError, match="Another pass is under way") as error:
            nightly(database.admin.passes, steps=[], now=now)
        assert error.value.exit_code == 75
        return None

    assert nightly(database.admin.passes, steps=[Step(name="x", run=inner)], now=now).exit_code == 0
    assert len(database.admin.last_passes()) == 1


def test_ctrl_c_frees_the_lock(database: Database) -> None:
    def interrupted() -> StageReport | None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nightly(database.admin.passes, steps=[Step(name="x", run=interrupted)], now=now)
    assert database.admin.status().work == ()
    assert nightly(database.admin.passes, steps=[], now=now).exit_code == 0


HOLD = """
    import sys, time
    from datetime import UTC, datetime
    from miner.schedule import Step, nightly, schedule
    from miner.store import open_store

    def now():
        return datetime.now(UTC)

    def hold():
        print("held", flush=True)
        time.sleep(600)  # until it is ended

    with open_store(sys.argv[2]) as database:
        if sys.argv[1] == "pass":
            nightly(database.admin.passes, steps=[Step(name="x", run=hold)], now=now)
        else:
            schedule(database.admin.passes, run=hold, now=now, say=lambda text: None)
    print("left", flush=True)
"""


@pytest.fixture
def hold(url: str) -> Iterator[Callable[[str], "subprocess.Popen[str]"]]:
    """Start a process that holds a lock until it is ended."""
    started: list[subprocess.Popen[str]] = []

    def start(kind: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-c", textwrap.dedent(HOLD), kind, url]
        other = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        started.append(other)
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        return other

    yield start
    for other in started:
        other.kill()
        other.communicate()


def test_the_lock_of_a_killed_pass_is_free_at_once(
    database: Database, hold: Callable[[str], "subprocess.Popen[str]"]
) -> None:
    other = hold("pass")
    with pytest.raises(HeldError):
        nightly(database.admin.passes, steps=[], now=lambda: datetime.now(UTC))
    other.kill()
    other.wait()
    assert nightly(database.admin.passes, steps=[], now=lambda: datetime.now(UTC)).exit_code == 0


def test_a_second_scheduler_refuses_until_the_first_is_dead(
    database: Database, hold: Callable[[str], "subprocess.Popen[str]"]
) -> None:
    def run() -> None:
        raise KeyboardInterrupt

    said: list[str] = []
    clock = lambda: datetime.now(UTC)  # noqa: E731
    other = hold("scheduler")
    with pytest.raises(HeldError, match="Another scheduler is under way"):
        schedule(database.admin.passes, run=run, now=clock, say=said.append)
    os.kill(other.pid, signal.SIGKILL)
    other.wait()
    schedule(database.admin.passes, run=run, now=clock, say=said.append)
    assert said[-1] == "The scheduler ends."


def test_sigterm_ends_a_scheduler_in_the_middle_of_a_pass(
    database: Database, hold: Callable[[str], "subprocess.Popen[str]"]
) -> None:
    other = hold("scheduler")
    assert [work.kind for work in database.admin.status().work] == ["scheduler"]
    other.terminate()
    said, _ = other.communicate(timeout=100)
    assert (said, other.returncode) == ("left\n", 0)
    assert database.admin.status().work == ()


def stopped_untidily() -> StageReport:
    """Ctrl-C, and what was to be tidied up fails."""
    try:
        raise KeyboardInterrupt
    finally:
        raise RetryableError("The database is away.")


def test_ctrl_c_in_a_step_ends_the_pass_whatever_fails_on_the_way_out(database: Database) -> None:
    ran: list[str] = []
    after = Step(name="after", run=lambda: ran.append("after"))
    with pytest.raises(KeyboardInterrupt):
        nightly(database.admin.passes, steps=[Step(name="s", run=stopped_untidily), after], now=now)
    assert ran == []


def test_a_scheduler_ends_though_its_pass_cannot_tidy_up(database: Database) -> None:
    said: list[str] = []
    schedule(database.admin.passes, run=stopped_untidily, now=now, say=said.append)
    assert said[-1] == "The scheduler ends."


def test_a_lock_that_cannot_be_given_back_hides_nothing(url: str) -> None:
    """The database is gone by then."""
    file = Path(url.removeprefix("sqlite:///"))
    with open_store(url) as opened:

        def lost() -> None:
            file.rename(file.with_suffix(".moved"))
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            nightly(opened.admin.passes, steps=[Step(name="s", run=lost)], now=now)


class Late(PassStore):
    """What the heartbeat asks from the call named `late` on is answered after the pass's end."""

    def __init__(self, opened: Database, late: str) -> None:
        super().__init__(opened._sql)
        self._late = late
        self.asked, self.unlocked = threading.Event(), threading.Event()

    def _wait(self, name: str) -> None:
        if threading.current_thread().name == "heartbeat" and name == self._late:
            self.asked.set()
            assert self.unlocked.wait(20)

    def beat(self, kind: str, *, holder: str, now: datetime) -> bool:
        self._wait("beat")
        if self._late == "lock":
            return False  # after a long sleep of the machine
        return super().beat(kind, holder=holder, now=now)

    def lock(self, kind: str, *, holder: str, now: datetime) -> str | None:
        self._wait("lock")
        return super().lock(kind, holder=holder, now=now)

    def unlock(self, kind: str, *, holder: str, now: datetime) -> None:
        super().unlock(kind, holder=holder, now=now)
        self.unlocked.set()


@pytest.mark.parametrize("late", ["beat", "lock"])
def test_a_beat_that_outlasts_its_pass_leaves_no_lock(
    database: Database, monkeypatch: pytest.MonkeyPatch, late: str
) -> None:
    monkeypatch.setattr(schedules, "HEARTBEAT_S", 0)
    monkeypatch.setattr(holders, "END_S", 0)
    store = Late(database, late)

    def step() -> None:
        assert store.asked.wait(20)

    assert nightly(store, steps=[Step(name="s", run=step)], now=now).exit_code == 0
    for thread in threading.enumerate():
        if thread.name == "heartbeat":
            thread.join(20)
    assert database.admin.status().work == ()


def test_a_failing_pass_does_not_end_the_scheduler(database: Database) -> None:
    calls: list[int] = []
    said: list[str] = []

    def run() -> None:
        calls.append(1)
        raise RetryableError("The source is away.")

    def say(text: str) -> None:
        said.append(text)
        if text.startswith("The pass failed"):
            raise KeyboardInterrupt  # a person has seen enough

    schedule(database.admin.passes, run=run, now=now, say=say)
    assert calls == [1]
    assert "The pass failed: The source is away." in said


def test_a_missed_time_is_made_up_for_and_a_kept_one_is_not_repeated(
    database: Database,
) -> None:
    nightly(database.admin.passes, steps=[], now=lambda: NOW)
    calls: list[datetime] = []

    def run_at(at: datetime) -> None:
        def run() -> None:
            calls.append(at)
            raise KeyboardInterrupt

        def say(text: str) -> None:
            if text.startswith("Passes begin") and at < NOW + timedelta(days=1):
                raise KeyboardInterrupt

        schedule(database.admin.passes, run=run, now=lambda: at, say=say, at="0 3 * * *")

    run_at(NOW + timedelta(hours=23))
    assert calls == []
    run_at(NOW + timedelta(hours=25))
    assert calls == [NOW + timedelta(hours=25)]


@pytest.mark.parametrize("line", ["", "at night", "0 3 * *", "61 3 * * *", "0 3 * * 0"])
def test_a_bad_cron_line_is_told(database: Database, line: str) -> None:
    with pytest.raises(ConfigError, match="write"):
        schedule(database.admin.passes, run=lambda: None, now=now, say=print, at=line)
    assert database.admin.status().work == ()


def test_last_month_is_closed_once() -> None:
    assert month_to_close((), today=date(2026, 12, 1)) == (
        "2026-11-30",
        (date(2026, 11, 1), date(2026, 11, 30)),
    )
    closed = Snapshot(
        name="2026-11-30", members=(), content_hash="h", created_at=NOW, window=(None, None)
    )
    assert month_to_close((closed,), today=date(2026, 12, 31)) is None
    assert month_to_close((closed,), today=date(2027, 1, 1)) is not None
