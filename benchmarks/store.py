"""How fast tasks are claimed and results written: `python -m benchmarks.store [URL …]`.

Eight threads work off tasks whose examination takes no time, on a database of many pulls. Without a
URL: SQLite in a temporary folder. A URL must name an empty database.
"""

import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from miner.holder import new_holder
from miner.store import Database, open_store, upgrade
from tests.miner.store.samples import NOW, POLICY, accepted, candidate, pull, repo

PULLS = 2000
THREADS = 8
BATCH = 4


def main(urls: Sequence[str]) -> None:
    """Measure each."""
    if urls:
        for url in urls:
            measure(url)
        return
    with tempfile.TemporaryDirectory() as folder:
        measure(f"sqlite:///{folder}/miner.db")


def measure(url: str) -> None:
    """Print writing and claiming rates."""
    upgrade(url)
    with open_store(url) as database:
        began = time.perf_counter()
        fill(database)
        filled_s = time.perf_counter() - began
        waits: list[float] = []
        threads = [threading.Thread(target=work, args=(database, waits)) for _ in range(THREADS)]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        worked_s = time.perf_counter() - began
        found = database.admin.funnel()
        began = time.perf_counter()
        database.admin.funnel()
        funnel_s = time.perf_counter() - began
        if found.instances != PULLS:
            raise SystemExit(f"{found.instances} of {PULLS} tasks were done")
        waits.sort()
        print(f"{database.where}: {PULLS} pulls")
        print(f"  crawl and split rows  {PULLS / filled_s:8.0f} pulls/s")
        print(f"  claim and result      {PULLS / worked_s:8.0f} tasks/s, {THREADS} threads")
        print(f"  claim of {BATCH}            {1000 * waits[len(waits) // 2]:8.1f} ms median")
        print(f"  funnel                {1000 * funnel_s:8.1f} ms")


def fill(database: Database) -> None:
    """Candidates of one repository."""
    database.crawl.save_repo(repo(), now=NOW)
    for number in range(1, PULLS + 1):
        merged_at = NOW - timedelta(minutes=number)
        database.crawl.save_pulls([(pull(number, merged_at=merged_at), b"%d" % number)])
        one = replace(candidate(number), merged_at=merged_at)
        database.split.save_split(pull(number), one, policy=POLICY)


def work(database: Database, waits: list[float]) -> None:
    """Claim, answer, until nothing is due."""
    holder = new_holder()
    while True:
        began = time.perf_counter()
        claimed = database.verify.claim(
            holder=holder,
            version=1,
            policy="quick",
            limit=BATCH,
            repo=None,
            now=datetime.now(UTC),
        )
        waits.append(time.perf_counter() - began)
        if not claimed:
            return
        for one in claimed:
            database.verify.save_examined(accepted(one), holder=holder, now=datetime.now(UTC))


if __name__ == "__main__":
    main(sys.argv[1:])
