"""A stage's report is kept however the stage ended, by a command of its own as in a pass.

What it could not do is told by the exit code, too.
"""

from collections.abc import Callable

from miner.cli.speech import complain, report_line
from miner.errors import RetryableError
from miner.model import IncompleteError, StageReport
from miner.store import Database
from validators.plural import counted


def reported(store: Database, stage: Callable[[], StageReport]) -> StageReport:
    """Run a stage and append its report; that of one which could not do all is told on stderr."""
    try:
        report = stage()
    except IncompleteError as error:
        store.admin.save_report(error.report)
        complain(report_line(error.report))
        raise
    store.admin.save_report(report)
    return report


def end_well(*reports: StageReport) -> None:
    """RetryableError when anything is to be tried again, once the reports are told."""
    left = [f"{counted(each.retried, 'item')} of {each.stage}" for each in reports if each.retried]
    if left:
        raise RetryableError(
            f"To try again: {', '.join(left)}; the reasons are told above, nothing was lost, and "
            "the same command goes on."
        )
