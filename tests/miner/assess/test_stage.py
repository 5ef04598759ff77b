"""Assessing: every due signal once."""

import json

from miner.assess import SIGNALS
from miner.assess.stage import assess
from miner.model import StageReport
from miner.store import Database
from tests.fakes.progress import SilentProgress
from tests.miner.store.samples import NOW
from tests.miner.verified import add_instances, candidate

NAMES = [signal.name for signal in SIGNALS]


def measure(database: Database, limit: int = 99) -> StageReport:
    return assess(
        database.assess, signals=SIGNALS, limit=limit, now=lambda: NOW, progress=SilentProgress()
    )


def test_every_signal_of_every_instance_is_measured_once(database: Database) -> None:
    add_instances(database, candidate(1), candidate(2))
    assert measure(database).counts == dict.fromkeys(NAMES, 2)
    assert measure(database).done == 0
    found = database.publish.signals(["o__r-1"])["o__r-1"]
    assert json.loads(found["size"])["difficulty"] == "easy"


def test_the_limit_is_kept(database: Database) -> None:
    add_instances(database, candidate(1), candidate(2))
    assert measure(database, limit=1).counts == dict.fromkeys(NAMES, 1)
