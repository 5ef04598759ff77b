"""All tables. Rows are appended. Only what says what is going on now is updated: leases, to prolong
and to end them, and the place of a crawl under way.

base.py      naming, column types, envelope     crawled.py    repositories, pulls, blobs
split.py     candidates and rejections          verified.py   leases, recipes, examinations, runs
published.py signals, snapshots, evaluations    operated.py   passes and stage reports
"""

from miner.store.tables.base import METADATA
from miner.store.tables.crawled import (
    BLOBS,
    CRAWL_PLACES,
    FAILURES,
    PULL_REVERTS,
    PULLS,
    REPO_FACTS,
    REPOS,
    TOMBSTONES,
    WATCHES,
    WATERMARKS,
)
from miner.store.tables.operated import PASSES, STAGE_REPORTS
from miner.store.tables.published import EVALUATIONS, SIGNALS, SNAPSHOT_MEMBERS, SNAPSHOTS
from miner.store.tables.split import CANDIDATES, GATE_POLICIES, REJECTIONS, SPLITS
from miner.store.tables.verified import (
    ATTEMPTS,
    EXAMINATIONS,
    INSTANCES,
    LEASES,
    RECIPES,
    REQUESTS,
    RUNS,
)

__all__ = [
    "ATTEMPTS",
    "BLOBS",
    "CANDIDATES",
    "CRAWL_PLACES",
    "EVALUATIONS",
    "EXAMINATIONS",
    "FAILURES",
    "GATE_POLICIES",
    "INSTANCES",
    "LEASES",
    "METADATA",
    "PASSES",
    "PULLS",
    "PULL_REVERTS",
    "RECIPES",
    "REJECTIONS",
    "REPOS",
    "REPO_FACTS",
    "REQUESTS",
    "RUNS",
    "SIGNALS",
    "SNAPSHOTS",
    "SNAPSHOT_MEMBERS",
    "SPLITS",
    "STAGE_REPORTS",
    "TOMBSTONES",
    "WATCHES",
    "WATERMARKS",
]
