"""`miner nightly`, `schedule`: one pass of all stages, now or by the clock."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated

import typer

from miner.cli.crawling import run_crawl
from miner.cli.options import NO_LIMIT, JsonOption
from miner.cli.snapshots import run_publish
from miner.cli.speech import complain, progress, report_document, say, say_json
from miner.cli.stages import run_assess, run_split, run_verify
from miner.cli.wiring import House, now
from miner.errors import RetryableError, SnapshotFrozenError
from miner.model import IncompleteError, Stage, StageReport
from miner.schedule import DEFAULT_AT, PassResult, Step, month_to_close
from miner.schedule import nightly as nightly_pass
from miner.schedule import schedule as keep_schedule
from miner.store import Database
from miner.verify.stage import VERIFIER_VERSION
from validators.model import Policy
from validators.plural import counted

WAIT_DAYS = 7
"""So long a month that is over waits for what could not be read of it. Not for ever: one
repository that fails every night would keep all others' tasks from their readers."""

AtOption = Annotated[
    str, typer.Option("--at", help="Cron line in UTC: minute, hour, day, month, day of the week.")
]


def nightly(as_json: JsonOption = False) -> None:
    """One pass of all stages over what is due, for cron. Publishes last month once it is over."""
    house = House.of_environment()
    with house.store() as store:
        result = one_pass(house, store)
    if as_json:
        say_json(
            {
                "exit_code": result.exit_code,
                "summary": result.summary,
                "reports": [report_document(report) for report in result.reports],
            }
        )
    else:
        say(result.summary)
    raise typer.Exit(result.exit_code)


def schedule(at: AtOption = DEFAULT_AT) -> None:
    """Make a pass at the given times until Ctrl-C or SIGTERM; a missed one is made up for."""
    house = House.of_environment()
    with house.store() as store:
        keep_schedule(
            store.admin.passes,
            run=lambda: complain(one_pass(house, store).summary),
            now=now,
            say=complain,
            at=at,
        )


def one_pass(house: House, store: Database) -> PassResult:
    """Every stage that has something to do, in order."""
    policy = house.policy(None)

    def crawl() -> StageReport | None:
        names = list(store.crawl.watched())
        if not names:
            return None
        return run_crawl(house, store, repos=names, first=None, bars=progress())

    unread: list[str] = []
    steps = (
        watched(unread, Step(name="crawl", run=crawl)),
        watched(
            unread,
            Step(
                name="split",
                run=lambda: run_split(house, store, repo=None, limit=NO_LIMIT, bars=progress()),
            ),
        ),
        Step(
            name="verify",
            run=lambda: run_verify(
                house, store, policy=policy, repo=None, limit=NO_LIMIT, bars=progress()
            ),
        ),
        Step(name="assess", run=lambda: run_assess(store, limit=NO_LIMIT, bars=progress())),
        Step(
            name="publish",
            run=lambda: close_month(store, policy=policy, today=now().date(), unread=unread),
        ),
    )
    return nightly_pass(store.admin.passes, steps=steps, now=now)


def watched(unread: list[str], step: Step) -> Step:
    """The step, whose name stands in `unread` unless it came to its end and left nothing."""

    def run() -> StageReport | None:
        unread.append(step.name)
        report = step.run()
        if report is None or not report.retried:
            unread.remove(step.name)
        return report

    return Step(name=step.name, run=run)


def close_month(
    store: Database, *, policy: Policy, today: date, unread: Sequence[str] = ()
) -> StageReport | None:
    """Publish last month's instances, once, when there are any.

    A snapshot never changes, so what is not in it now is in no month's. IncompleteError while a
    task merged in that month has no answer, be it due or with another worker; RetryableError in
    the first `WAIT_DAYS` of a month while there are `unread` steps: of those that bring tasks, the
    ones that left something in this pass.
    """
    due = month_to_close(store.publish.snapshots(), today=today)
    if due is None or not store.publish.instances(window=due[1]):
        return None
    name, window = due
    if unread and today.day <= WAIT_DAYS:
        raise RetryableError(
            f"{name} waits for a pass whose {' and '.join(unread)} leaves nothing,"
            f" until day {WAIT_DAYS} of this month at the most"
        )
    _refuse_unanswered(store, name, window, policy)
    try:
        return run_publish(store, name=name, window=window)[1]
    except SnapshotFrozenError:  # another process closed it meanwhile
        return None


def _refuse_unanswered(
    store: Database, name: str, window: tuple[date, date], policy: Policy
) -> None:
    first, last = (datetime.combine(day, time(), tzinfo=UTC) for day in window)
    waiting = store.verify.count_unanswered(
        version=VERIFIER_VERSION, policy=policy.name, merged=(first, last + timedelta(days=1))
    )
    if not waiting:
        return
    moment = now()
    report = StageReport(stage=Stage.PUBLISH, retried=waiting, started_at=moment, ended_at=moment)
    store.admin.save_report(report)
    raise IncompleteError(
        f"{name} waits for {counted(waiting, 'task')} of its month that no worker has answered yet;"
        " a later pass publishes it",
        report=report,
    )
