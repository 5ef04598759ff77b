"""`miner run`: crawl to assess over named repositories, now."""

from collections.abc import Sequence
from datetime import datetime

from miner.cli.crawling import run_crawl
from miner.cli.looks import tell_funnel
from miner.cli.options import NO_LIMIT, JsonOption, LimitOption, ReposOption, SinceOption, since
from miner.cli.reports import end_well
from miner.cli.repos import check_name
from miner.cli.speech import progress, report_document, say, say_json, say_report
from miner.cli.stages import P2POption, PolicyOption, run_assess, run_split, run_verify
from miner.cli.wiring import House, now
from miner.errors import ConfigError
from miner.model import StageReport
from miner.store import Database, Funnel
from validators.model import Policy


def run(
    repo: ReposOption = None,
    *,
    since_text: SinceOption = None,
    limit: LimitOption = NO_LIMIT,
    policy: PolicyOption = None,
    p2p: P2POption = "files",
    as_json: JsonOption = False,
) -> None:
    """Crawl, split, verify and assess the named repositories now, watched or not."""
    if not repo:
        raise ConfigError("Name what to mine: miner run --repo owner/name --since 30d.")
    for name in repo:
        check_name(name)
    house = House.of_environment()
    with house.store() as store:
        reports = mine(
            house,
            store,
            repos=repo,
            scopes=repo,
            first=since(since_text, now=now()),
            limit=limit,
            policy=house.policy(policy, p2p=p2p),
        )
        counted = store.admin.funnel(repo=repo[0] if len(repo) == 1 else None)
    if as_json:
        say_json([report_document(report) for report in reports])
    else:
        for report in reports:
            say_report(report, as_json=False)
        tell_end(counted)
    end_well(*reports)


def tell_end(counted: Funnel) -> None:
    """The funnel, and what can be done next; of nothing, why it is nothing."""
    if not counted.pulls and not counted.crawl_rejections:
        say("nothing to mine: no merged pull was found; an earlier --since looks further back")
        return
    tell_funnel(counted)
    if counted.instances:
        say("next: miner publish · miner export · miner evaluate --gold")
    else:
        say("no instance yet; miner show owner__name-123 tells all about one pull")


def mine(
    house: House,
    store: Database,
    *,
    repos: Sequence[str],
    scopes: Sequence[str | None],
    first: datetime | None,
    limit: int,
    policy: Policy,
) -> tuple[StageReport, ...]:
    """Crawl `repos`; split, verify and assess within `scopes` (None: whatever is due)."""
    reports = [run_crawl(house, store, repos=list(repos), first=first, bars=progress())]
    reports += [
        run_split(house, store, repo=scope, limit=limit, bars=progress()) for scope in scopes
    ]
    reports += [
        run_verify(house, store, policy=policy, repo=scope, limit=limit, bars=progress())
        for scope in scopes
    ]
    reports.append(run_assess(store, limit=NO_LIMIT, bars=progress()))
    return tuple(reports)
