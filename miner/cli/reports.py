"""A stage's report is kept however the stage ended, by a command of its own as in a pass."""

from collections.abc import Callable

from miner.crawl.stage import IncompleteError as IncompleteCrawl
from miner.model import StageReport
from miner.store import Database
from miner.verify.stage import IncompleteError as IncompleteVerify


def reported(store: Database, stage: Callable[[], StageReport]) -> StageReport:
    """Run a stage and append its report, also that of one which could not do all."""
    try:
        report = stage()
    except (IncompleteCrawl, IncompleteVerify) as error:
        store.admin.save_report(error.report)
        raise
    store.admin.save_report(report)
    return report
