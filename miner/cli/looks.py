"""`miner show`, `funnel`, `status`: what is in the database."""

from typing import Annotated

import typer

from miner.cli.evidence import evidence_document, tell, tell_logs
from miner.cli.options import JsonOption, RepoOption
from miner.cli.repos import NAME, check_known, stranger
from miner.cli.speech import report_document, say, say_json, say_report, table
from miner.cli.wiring import House
from miner.crawl.github.budget import budgets
from miner.errors import ConfigError, MinerError
from miner.rategate import Budget
from miner.store import Database, Funnel

InstanceArgument = Annotated[str, typer.Argument(help="owner__name-123, 123 being the pull.")]
LogsOption = Annotated[bool, typer.Option("--logs", help="Print the logs of its runs as well.")]


def show(
    instance_id: InstanceArgument, logs: LogsOption = False, as_json: JsonOption = False
) -> None:
    """All evidence about one pull: patches, recipes tried, runs, verdict, rejections, signals."""
    with House.of_environment().store() as store:
        found = store.admin.evidence(instance_id)
        if found is None:
            raise ConfigError(f"Nothing is known of {instance_id!r}{_hint(store, instance_id)}.")
    if as_json:
        say_json(evidence_document(found))
        return
    tell(found)
    if logs:
        tell_logs(found)


def _hint(store: Database, instance_id: str) -> str:
    """Why there is nothing: a repository that is unknown, or a pull of a known one."""
    name, _, _ = instance_id.rpartition("-")
    repo = name.replace("__", "/", 1)
    if NAME.fullmatch(repo) is None:
        return "; an id looks like owner__name-123"
    return stranger(store, repo) or f"; no such pull of {repo} was crawled"


def funnel(repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """From pulls to published instances: how many fell out where, and why."""
    with House.of_environment().store() as store:
        check_known(store, repo)
        counted = store.admin.funnel(repo=repo)
    if as_json:
        say_json(dict(funnel_rows(counted)))
    else:
        tell_funnel(counted)


def status(as_json: JsonOption = False) -> None:
    """What is under way, what is stuck, what the last stages did, what the API's budgets hold."""
    house = House.of_environment()
    with house.store() as store:
        found, reports = store.admin.status(), store.admin.reports(limit=6)
    left, trouble = _budgets(house)
    if as_json:
        say_json(
            {
                "repos": found.repos,
                "pulls": found.pulls,
                "snapshots": found.snapshots,
                "open_requests": found.open_requests,
                "work": [[w.kind, w.subject, w.holder, w.lease_until] for w in found.work],
                "parked": [[p.instance_id, p.failures, p.last_error] for p in found.parked],
                "failures": found.failures,
                "reports": [report_document(report) for report in reports],
                "budgets": [
                    {"token": token, "resource": b.resource, "limit": b.limit,
                     "remaining": b.remaining, "reset_at": b.reset_at}
                    for token, b in left
                ],
                "budgets_trouble": trouble,
            }
        )  # fmt: skip
        return
    say(f"{found.repos} repositories, {found.pulls} pulls, {found.snapshots} snapshots")
    work = [[w.kind, w.subject, w.holder, f"{w.lease_until:%H:%M:%S}"] for w in found.work]
    table("Under way", ["what", "subject", "holder", "until"], work)
    parked = [[p.instance_id, p.failures, p.last_error] for p in found.parked]
    table("Stuck", ["instance", "failures", "last error"], parked)
    failures = [[f"{when:%m-%d %H:%M}", name, error] for when, name, error in found.failures]
    table("Failures of the machinery", ["when", "subject", "error"], failures)
    for report in reports:
        say_report(report, as_json=False)
    resets = [
        [token, b.resource, b.remaining, b.limit, f"{b.reset_at:%Y-%m-%d %H:%M:%S}"]
        for token, b in left
    ]
    if resets:
        table("API budgets", ["token", "resource", "left", "of", "full again (UTC)"], resets)
    if trouble:
        say(f"API budgets are not known: {trouble}")


def _budgets(house: House) -> tuple[list[tuple[int, Budget]], str | None]:
    """(token, budget) as the API tells now; without tokens nothing is asked."""
    if not (house.settings.github_tokens or house.settings.github_apps):
        return [], None
    try:
        with house.client() as client:
            told = budgets(client)
    except MinerError as error:
        return [], str(error)
    return [(one.token, budget) for one in told for budget in one.budgets], None


def funnel_rows(counted: Funnel) -> list[tuple[str, int]]:
    """The funnel as lines: name, count."""
    return [
        ("pulls seen", counted.pulls),
        ("linked to an issue", counted.linked),
        ("waiting to be split", counted.waiting_split),
        *((f"split: {gate}", count) for gate, count in counted.split_rejections.items()),
        ("candidates", counted.candidates),
        ("waiting to be verified", counted.waiting_verify),
        *((f"verify: {flaw}", count) for flaw, count in counted.verify_rejections.items()),
        ("instances", counted.instances),
        ("assessed", counted.assessed),
        *((f"publish: {reason}", count) for reason, count in counted.left_out.items()),
        ("in the newest snapshot", counted.published),
    ]


def tell_funnel(counted: Funnel) -> None:
    """The funnel as a table; what was rejected is indented."""
    rows = [
        [f"  {name} (rejected)" if ": " in name else name, count]
        for name, count in funnel_rows(counted)
    ]
    table("Funnel", ["step", "pulls"], rows)
