"""`miner show`, `funnel`: what is in the database."""

from typing import Annotated

import typer

from miner.cli.evidence import evidence_document, tell, tell_logs
from miner.cli.grade_lines import stored_grade_document, tell_grade_logs, tell_stored_grades
from miner.cli.options import JsonOption, RepoOption
from miner.cli.repos import NAME, check_known, stranger
from miner.cli.speech import say_json, table
from miner.cli.wiring import House
from miner.errors import ConfigError
from miner.store import Database, Evidence, Funnel

InstanceArgument = Annotated[str, typer.Argument(help="owner__name-123, 123 being the pull.")]
LogsOption = Annotated[
    bool, typer.Option("--logs", help="Print the logs of its runs and grades as well.")
]


def show(
    instance_id: InstanceArgument, logs: LogsOption = False, as_json: JsonOption = False
) -> None:
    """All evidence about one pull: patches, recipes tried, runs, verdict, rejections, grades."""
    with House.of_environment().store() as store:
        found = store.admin.evidence(instance_id)
        grades, runs = store.evaluate.of_instance(instance_id), store.evaluate.kept_run
        if found is None and not grades:
            raise ConfigError(f"Nothing is known of {instance_id!r}{_hint(store, instance_id)}.")
        known = found or Evidence(instance_id=instance_id)
        if as_json:
            graded = [stored_grade_document(each, runs) for each in grades]
            say_json(evidence_document(known) | {"grades": graded})
            return
        tell(known)
        tell_stored_grades(grades, runs)
        if logs:
            tell_logs(known)
            tell_grade_logs(grades, runs)


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


def funnel_rows(counted: Funnel) -> list[tuple[str, int]]:
    """The funnel as lines: name, count."""
    return [
        *((f"crawl: {gate}", count) for gate, count in counted.crawl_rejections.items()),
        ("pulls seen", counted.pulls),
        ("linked to an issue", counted.linked),
        ("waiting to be split", counted.waiting_split),
        *((f"split: {gate}", count) for gate, count in counted.split_rejections.items()),
        ("candidates", counted.candidates),
        ("never verified", counted.waiting_verify),
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
