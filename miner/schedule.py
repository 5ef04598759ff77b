"""Nightly passes: all stages once under a lock, and when to begin one.

A pass asks the database what is due, so a missed night is caught up by the next one; the scheduler
remembers nothing. A holder that died loses its lock at once on the same machine, and two minutes
later to others.
"""

import logging
import queue
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from types import FrameType
from typing import Protocol

from apscheduler.schedulers.background import (  # type: ignore[import-untyped]  # has no types
    BackgroundScheduler,
)
from apscheduler.triggers.cron import CronTrigger  # type: ignore[import-untyped]  # as above

from miner.errors import (
    ConfigError,
    FatalError,
    FaultError,
    MinerError,
    RetryableError,
    stops_first,
)
from miner.holder import Heartbeat, new_holder
from miner.model import Clock, Snapshot, StageReport
from validators.errors import ValidatorError

_LOG = logging.getLogger(__name__)

HEARTBEAT_S = 30
PASS = "pass"
SCHEDULER = "scheduler"
DEFAULT_AT = "0 3 * * *"
"""Three at night, UTC."""

_BY_WEIGHT = (70, 2, 69, 65, 1, 75)
"""Exit codes, worst first: harm, then what a person must change, then what the next night heals."""


class Locks(Protocol):
    """What a pass leaves in the database: `Database.admin.passes`."""

    def lock(self, kind: str, *, holder: str, now: datetime) -> str | None:
        """Take the lock; None when it is ours now, else who holds it. A dead holder loses it."""
        ...

    def beat(self, kind: str, *, holder: str, now: datetime) -> bool:
        """Prolong the lock; False when it is no longer ours."""
        ...

    def unlock(self, kind: str, *, holder: str, now: datetime) -> None:
        """Give the lock back; nothing when it was lost."""
        ...

    def last_pass_at(self) -> datetime | None:
        """When the newest pass ended."""
        ...

    def save_pass(
        self,
        *,
        holder: str,
        exit_code: int,
        summary: str,
        started_at: datetime,
        ended_at: datetime,
    ) -> None:
        """Append a pass that ends now."""
        ...


class HeldError(RetryableError):
    """Another process holds the lock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One stage of a pass. `run` stores the stage's report and returns it; None: nothing to do.

    An error of its may bear, as `report`, the stored report of what was done before it.
    """

    name: str
    run: Callable[[], StageReport | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassResult:
    """How a pass went. `exit_code`: 0, or the worst of its steps."""

    exit_code: int
    summary: str
    reports: tuple[StageReport, ...]


def nightly(store: Locks, *, steps: Sequence[Step], now: Clock) -> PassResult:
    """Run the steps in order, one pass at a time on this database.

    A step that fails does not keep the later ones from what they can do; only a FatalError ends
    the pass. An unforeseen error is logged with its trace.
    HeldError when another pass is under way.
    """
    with _held(store, PASS, now=now) as holder:
        started_at = now()
        result = _walk(steps)
        store.save_pass(
            holder=holder,
            exit_code=result.exit_code,
            summary=result.summary,
            started_at=started_at,
            ended_at=now(),
        )
    return result


def schedule(
    store: Locks,
    *,
    run: Callable[[], object],
    now: Clock,
    say: Callable[[str], None],
    at: str = DEFAULT_AT,
) -> None:
    """Call `run` at the times of the cron line `at` (UTC) until SIGTERM or Ctrl-C.

    At once, too, when a time was missed since the last pass or there was none yet. `run` is called
    in this thread, so that a signal ends a pass as Ctrl-C would; times that pass meanwhile are made
    up for by one call. Its MinerErrors and ValidatorErrors are said, and the schedule goes on.
    ConfigError: a bad cron line. HeldError: another scheduler is alive.
    """
    trigger = _trigger(at)
    if trigger.get_next_fire_time(None, now()) is None:
        raise ConfigError(f"The time {at!r} never comes; choose a day that its month has.")
    calls: queue.Queue[bool] = queue.Queue(maxsize=1)
    with _held(store, SCHEDULER, now=now, lost=lambda: _call(calls, again=False)):
        scheduler = BackgroundScheduler(timezone=UTC)
        scheduler.add_job(
            _call,
            trigger,
            args=(calls,),
            kwargs={"again": True},
            id=PASS,
            misfire_grace_time=None,  # a late night is better than none
            coalesce=True,
        )
        with _signals():
            try:
                scheduler.start()
                if _missed(trigger, store.last_pass_at(), now=now()):
                    _call(calls, again=True)
                say(f"Passes begin at {at!r} (UTC); end with Ctrl-C or SIGTERM.")
                while calls.get():
                    _guarded(run, say)
                say("Another scheduler took over; this one ends.")
            except KeyboardInterrupt:
                say("The scheduler ends.")
            finally:
                scheduler.shutdown(wait=False)


def month_to_close(
    snapshots: Sequence[Snapshot], *, today: date
) -> tuple[str, tuple[date, date]] | None:
    """Name and window of last month's snapshot, or None when there is one of that window.

    The name is the month's last day, whenever it is made.
    """
    last = today.replace(day=1) - timedelta(days=1)
    window = (last.replace(day=1), last)
    name = last.isoformat()
    if any(snapshot.window == window or snapshot.name == name for snapshot in snapshots):
        return None
    return name, window


def _walk(steps: Sequence[Step]) -> PassResult:
    codes: set[int] = set()
    reports: list[StageReport] = []
    said: list[str] = []
    for step in steps:
        try:
            with stops_first():
                report = step.run()
        except (MinerError, ValidatorError) as error:
            report = getattr(error, "report", None)
            codes.add(error.exit_code)
            said.append(f"{step.name} failed ({error})")
            if isinstance(error, FatalError):
                break
        except Exception as error:  # noqa: BLE001 - one step keeps no other from its work
            # not its words, which nobody redacted: the summary is stored
            _LOG.exception("%s failed", step.name)
            report = None
            codes.add(FaultError.exit_code)
            said.append(f"{step.name} failed ({type(error).__name__}: unforeseen, see the log)")
        else:
            said.append(f"{step.name} {_counted(report)}")
        if report is not None:
            reports.append(report)
            codes |= {RetryableError.exit_code} if report.retried else set()
    exit_code = next((code for code in _BY_WEIGHT if code in codes), max(codes, default=0))
    return PassResult(exit_code=exit_code, summary=" · ".join(said), reports=tuple(reports))


def _counted(report: StageReport | None) -> str:
    if report is None:
        return "had nothing to do"
    told = f"{report.done} done, {report.rejected} rejected"
    return f"{told}, {report.retried} to retry" if report.retried else told


@contextmanager
def _held(
    store: Locks, kind: str, *, now: Clock, lost: Callable[[], None] | None = None
) -> Iterator[str]:
    holder = new_holder()
    other = store.lock(kind, holder=holder, now=now())
    if other is not None:
        raise HeldError(
            f"Another {kind} is under way on this database (held by {other}); "
            "wait for its end or stop it."
        )

    ended = threading.Event()

    def beat(_name: str) -> None:
        if store.beat(kind, holder=holder, now=now()) or ended.is_set():
            return
        # after a long sleep of the machine the lock may be free or taken
        other = store.lock(kind, holder=holder, now=now())
        if other is not None and lost:
            lost()
        if other is None and ended.is_set():  # the end, which waits only so long, came in between
            store.unlock(kind, holder=holder, now=now())

    heartbeat = Heartbeat(beat, every_s=HEARTBEAT_S)
    heartbeat.add(kind)
    try:
        with heartbeat.running():
            yield holder
    finally:
        ended.set()
        with suppress(MinerError):  # it runs out, as nobody beats for it
            store.unlock(kind, holder=holder, now=now())


def _trigger(at: str) -> CronTrigger:
    fields = at.split()
    if len(fields) == 5 and any(sign.isdigit() for sign in fields[4].replace("*/", "")):
        raise ConfigError(
            f"The cron line {at!r} counts the days of the week, which cron and this scheduler do "
            "differently; write mon, tue … sun."
        )
    try:
        return CronTrigger.from_crontab(at, timezone=UTC)
    except ValueError as error:
        raise ConfigError(
            f"{at!r} is no cron line; write minute, hour, day, month and day of the week, "
            f"for instance {DEFAULT_AT!r}."
        ) from error


def _missed(trigger: CronTrigger, last: datetime | None, *, now: datetime) -> bool:
    if last is None:
        return True
    due: datetime | None = trigger.get_next_fire_time(None, last)
    return due is not None and due <= now


def _call(calls: "queue.Queue[bool]", *, again: bool) -> None:
    try:
        calls.put_nowait(again)
    except queue.Full:
        return  # one pass waits already, and will do all that is due


def _guarded(run: Callable[[], object], say: Callable[[str], None]) -> None:
    try:
        with stops_first():
            run()
    except (MinerError, ValidatorError) as error:
        say(f"The pass failed: {error}")


@contextmanager
def _signals() -> Iterator[None]:
    """SIGTERM ends as Ctrl-C does; a second signal does not disturb the leaving."""
    seen: list[int] = []

    def leave(number: int, _frame: FrameType | None) -> None:
        seen.append(number)
        if len(seen) == 1:
            raise KeyboardInterrupt

    kinds = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(kind, leave) for kind in kinds]
    try:
        yield
    finally:
        for kind, handler in zip(kinds, before, strict=True):
            signal.signal(kind, handler)
