"""`miner status`: what goes on or is parked, what was done, what the API holds."""

from collections.abc import Sequence
from dataclasses import dataclass

from miner.cli.options import JsonOption
from miner.cli.speech import report_document, say, say_json, say_report, table
from miner.cli.wiring import House
from miner.crawl.github.budget import budgets
from miner.errors import MinerError
from miner.model import StageReport
from miner.rategate import Budget
from miner.store import Status, StoredPass
from validators.plural import counted

REPORTS_SHOWN = 6
PASSES_SHOWN = 5
MINUTE, SECOND = "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """All that is shown. `budgets`: the number of a token, and one of its budgets."""

    status: Status
    passes: Sequence[StoredPass]
    reports: Sequence[StageReport]
    budgets: Sequence[tuple[int, Budget]]
    budgets_trouble: str | None


def status(as_json: JsonOption = False) -> None:
    """What is under way, what is parked, what the last passes did, what the API's budgets hold."""
    house = House.of_environment()
    with house.store() as store:
        found = store.admin.status()
        passes = store.admin.last_passes(limit=PASSES_SHOWN)
        reports = store.admin.reports(limit=REPORTS_SHOWN)
    left, trouble = _budgets(house)
    standing = Standing(
        status=found, passes=passes, reports=reports, budgets=left, budgets_trouble=trouble
    )
    if as_json:
        say_json(document(standing))
    else:
        tell(standing)


def document(standing: Standing) -> dict[str, object]:
    """JSON-able."""
    found = standing.status
    return {
        "repos": found.repos,
        "pulls": found.pulls,
        "snapshots": found.snapshots,
        "open_requests": found.open_requests,
        "work": [[w.kind, w.subject, w.holder, w.lease_until] for w in found.work],
        "parked": [[p.instance_id, p.failures, p.last_error] for p in found.parked],
        "failures": found.failures,
        "passes": [_pass_document(one) for one in standing.passes],
        "reports": [report_document(report) for report in standing.reports],
        "budgets": [_budget_document(token, budget) for token, budget in standing.budgets],
        "budgets_trouble": standing.budgets_trouble,
    }


def tell(standing: Standing) -> None:
    """As tables."""
    found = standing.status
    held = {"repository": found.repos, "pull": found.pulls, "snapshot": found.snapshots}
    say(", ".join(counted(number, noun) for noun, number in held.items()))
    if not (found.work or found.parked or found.failures):
        say("nothing is under way or parked, and the machinery has not failed")
    work = [[w.kind, w.subject, w.holder, f"{w.lease_until:%H:%M:%S}"] for w in found.work]
    _table("Under way", ["what", "subject", "holder", "until"], work)
    parked = [[p.instance_id, p.failures, p.last_error] for p in found.parked]
    _table("Parked", ["instance", "failures", "last error"], parked)
    failures = [[f"{when:%m-%d %H:%M}", name, error] for when, name, error in found.failures]
    _table("Failures of the machinery", ["when", "subject", "error"], failures)
    if standing.passes:
        passes = [
            [f"{one.ended_at:{MINUTE}}", one.exit_code, one.summary] for one in standing.passes
        ]
        table("Last passes", ["ended (UTC)", "exit code", "what they did"], passes)
    for report in standing.reports:
        say_report(report, as_json=False)
    if standing.budgets:
        left = [
            [token, b.resource, b.remaining, b.limit, f"{b.reset_at:{SECOND}}"]
            for token, b in standing.budgets
        ]
        table("API budgets", ["token", "resource", "left", "of", "full again (UTC)"], left)
    if standing.budgets_trouble:
        say(f"API budgets are not known: {standing.budgets_trouble}")


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Nothing where there is nothing to tell."""
    if rows:
        table(title, columns, rows)


def _pass_document(one: StoredPass) -> dict[str, object]:
    return {
        "exit_code": one.exit_code,
        "summary": one.summary,
        "started_at": one.started_at,
        "ended_at": one.ended_at,
    }


def _budget_document(token: int, budget: Budget) -> dict[str, object]:
    return {
        "token": token,
        "resource": budget.resource,
        "limit": budget.limit,
        "remaining": budget.remaining,
        "reset_at": budget.reset_at,
    }


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
