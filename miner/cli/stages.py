"""`miner crawl`, `split`, `verify`, `assess`: one stage each, once."""

from typing import Annotated

import typer

from miner.assess import SIGNALS
from miner.assess.stage import assess as assess_stage
from miner.cli.options import (
    NO_LIMIT,
    DryRunOption,
    JsonOption,
    LimitOption,
    RepoOption,
)
from miner.cli.reports import end_well, reported
from miner.cli.repos import check_known
from miner.cli.speech import live, progress, say_json, say_report, table
from miner.cli.trees import trees
from miner.cli.wiring import House, gate_policy, now
from miner.model import Stage, StageReport
from miner.progress import Progress
from miner.split.stage import split as split_stage
from miner.store import Database
from miner.verify.stage import VERIFIER_VERSION
from miner.verify.stage import verify as verify_stage
from validators import workshop
from validators.model import Policy

PolicyOption = Annotated[
    str | None,
    typer.Option("--policy", help="quick or full; default: MINER_POLICY.", metavar="NAME"),
]

P2POption = Annotated[
    str,
    typer.Option(
        "--p2p",
        help="Where PASS_TO_PASS is looked for: the changed test files, or the whole suite.",
        metavar="files|suite",
    ),
]


def split(
    repo: RepoOption = None,
    limit: LimitOption = NO_LIMIT,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Cut crawled pulls into candidates, or reject them by name.

    Exit code 75 when the machine failed on some, which stay due.
    """
    house = House.of_environment()
    with house.store() as store:
        check_known(store, repo)
        if dry_run:
            policy = gate_policy(store)
            due = store.split.due_pulls(policy=policy.digest, limit=limit, repo=repo)
            _tell(
                "Would split",
                ["repository", "pull", "title"],
                [[pull.repo, pull.number, pull.title] for pull in due],
                as_json=as_json,
            )
            return
        report = run_split(house, store, repo=repo, limit=limit, bars=progress())
    say_report(report, as_json=as_json)
    end_well(report)


def verify(
    repo: RepoOption = None,
    limit: LimitOption = NO_LIMIT,
    policy: PolicyOption = None,
    p2p: P2POption = "files",
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Build environments and run the tests of candidates before and after the fix.

    Exit code 75 when the machine failed on some, which stay due.
    """
    house = House.of_environment()
    chosen = house.policy(policy, p2p=p2p)
    with house.store() as store:
        check_known(store, repo)
        if dry_run:
            due = store.verify.due(
                version=VERIFIER_VERSION, policy=chosen.name, limit=limit, repo=repo, now=now()
            )
            _tell(
                f"Would verify ({chosen.name})",
                ["instance", "repository", "pull", "merged"],
                [[c.instance_id, c.repo, c.pull_number, f"{c.merged_at:%Y-%m-%d}"] for c in due],
                as_json=as_json,
            )
            return
        report = run_verify(house, store, policy=chosen, repo=repo, limit=limit, bars=progress())
    say_report(report, as_json=as_json)
    end_well(report)


def assess(limit: LimitOption = NO_LIMIT, as_json: JsonOption = False) -> None:
    """Measure how good each instance is: size, difficulty, leaks, clarity."""
    with House.of_environment().store() as store:
        report = run_assess(store, limit=limit, bars=progress())
    say_report(report, as_json=as_json)


def run_split(
    house: House, store: Database, *, repo: str | None, limit: int, bars: Progress
) -> StageReport:
    """The split stage under the gate policy in force."""
    return reported(
        store,
        lambda: split_stage(
            store.split,
            mirrors=house.mirrors(),
            policy=gate_policy(store),
            repo=repo,
            limit=limit,
            now=now,
            progress=bars,
        ),
    )


def run_verify(
    house: House,
    store: Database,
    *,
    policy: Policy,
    repo: str | None,
    limit: int,
    bars: Progress,
) -> StageReport:
    """The verify stage on this house's engine or cluster; stopped, its containers are gone."""
    house.ready_engine()
    with house.executor() as executor, live(bars, Stage.VERIFY, source=workshop.__name__):
        return reported(
            store,
            lambda: verify_stage(
                store.verify,
                executor=executor,
                workshop=house.workshop(),
                tree=trees(house),
                policy=policy,
                repo=repo,
                limit=limit,
                now=now,
                progress=bars,
                in_flight=house.settings.workers
                + 2,  # one is made ready, and one waits for its thread
            ),
        )


def run_assess(store: Database, *, limit: int, bars: Progress) -> StageReport:
    """Every signal."""
    return reported(
        store,
        lambda: assess_stage(store.assess, signals=SIGNALS, limit=limit, now=now, progress=bars),
    )


def _tell(title: str, columns: list[str], rows: list[list[object]], *, as_json: bool) -> None:
    if as_json:
        say_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        table(f"{title}: {len(rows)}", columns, rows)
