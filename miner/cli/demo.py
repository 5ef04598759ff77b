"""`miner demo`: the whole line on real releases, offline from GitHub, and `miner demo serve`."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from miner.cli import exits
from miner.cli.datasets import find_dataset
from miner.cli.demo_table import Ending, tell_ending
from miner.cli.differences import differences, expected_gates
from miner.cli.grades import grade, of_models
from miner.cli.mining import mine
from miner.cli.options import NO_LIMIT
from miner.cli.snapshots import dockerfile_of, run_publish
from miner.cli.speech import brief_progress, complain, progress, say, say_report
from miner.cli.wiring import House, demo_house, now
from miner.demo import ForgeData, build_forge, load_forge, serve
from miner.demo.expected import expected
from miner.demo.pulls import RepositoryRecord
from miner.errors import ConfigError
from miner.evaluate.predictions import EMPTY, GOLD, empty_predictions, gold_predictions
from miner.evaluate.stage import Submission
from miner.model import Evaluation, Snapshot
from miner.progress import Progress
from miner.publish import stage as publish_stage
from miner.publish.formats import jsonl
from miner.store import Database, upgrade
from validators.plural import counted

GROUP = typer.Typer(
    invoke_without_command=True, help="The whole line on real releases, without GitHub."
)
SNAPSHOT = "2026-11-17"
"""A fixed name, after the newest of its pulls: the demo ends in the same bytes on every day."""

LISTED = 20
"""So many repositories are named when a forge is served."""

FreshOption = Annotated[
    bool, typer.Option("--fresh", help="Begin with an empty database; caches are kept.")
]
GitOption = Annotated[
    Path | None,
    typer.Option("--git", help="A folder of git repositories, bare or with a work tree."),
]
PullsOption = Annotated[
    Path | None, typer.Option("--pulls", help="Issues and pulls as JSONL; see docs/forge.md.")
]
PortOption = Annotated[
    int, typer.Option("--port", min=0, max=65535, help="Port on 127.0.0.1; 0: any free one.")
]


@GROUP.callback()
def demo(context: typer.Context, fresh: FreshOption = False) -> None:
    """Mine, verify, publish, export and grade real releases; compare with what must come out."""
    if context.invoked_subcommand is not None:
        return
    started_at = time.monotonic()
    house = House.of_environment()
    data_dir = house.data_dir / "demo"
    if fresh:
        empty(data_dir)
    forge = build(house, data_dir, progress())
    with serve(forge) as served:
        own = demo_house(house, data_dir=data_dir, github_url=served.base_url, token=served.token)
        ending = whole_line(own, repositories(forge))
    tell_ending(ending, seconds=time.monotonic() - started_at)
    if ending.differences:
        raise typer.Exit(exits.DIFFERS)


@GROUP.command("serve")
def serve_alone(git: GitOption = None, pulls: PullsOption = None, port: PortOption = 0) -> None:
    """Serve the demo's repositories, or your own, in GitHub's shape until Ctrl-C or SIGTERM."""
    if (git is None) is not (pulls is None):
        raise ConfigError("Give both --git DIR and --pulls FILE, or neither for the demo's own.")
    house = House.of_environment()
    if git is None or pulls is None:
        forge = build(house, house.data_dir / "demo", brief_progress())
    else:
        forge = load_forge(git, pulls)
    with serve(forge, port=port) as served:
        say(f"export MINER_GITHUB_URL={served.base_url} GITHUB_TOKEN={served.token}")
        say(f"# {_listed(repositories(forge))}")
        with suppress(KeyboardInterrupt):  # that is how it is meant to end
            complain("serving; Ctrl-C ends it")
            while True:
                time.sleep(3600)
        complain("The forge ends.")


def _listed(names: Sequence[str]) -> str:
    """How many, and the first of them: "14 repositories: demo/cachetools, …"."""
    rest = len(names) - LISTED
    more = f" and {rest} more" if rest > 0 else ""
    return f"{counted(len(names), 'repository')}: {', '.join(names[:LISTED])}{more}"


def build(house: House, data_dir: Path, bars: Progress) -> ForgeData:
    """The forge's data, made when it is not there."""
    return build_forge(
        data_dir / "cache",
        index_url=house.settings.index_url,
        ca_bundle=house.settings.ca_bundle,
        progress=bars,
    )


def empty(data_dir: Path) -> None:
    """Remove database and exports; releases, repositories, mirrors and images stay."""
    for path in (*data_dir.glob("miner.db*"), *data_dir.glob("*.jsonl")):
        path.unlink()


def repositories(forge: ForgeData) -> list[str]:
    """The forge's repositories, sorted."""
    return sorted(record.name for record in forge.records if isinstance(record, RepositoryRecord))


def whole_line(house: House, names: Sequence[str]) -> Ending:
    """Every stage in order. What is there already is not done again."""
    upgrade(house.settings.database)
    with house.store() as store:
        for name in names:
            store.admin.watch(name, reason="demo")
        for report in mine(
            house,
            store,
            repos=names,
            scopes=(None,),
            first=None,
            limit=NO_LIMIT,
            policy=house.policy(None),
        ):
            say_report(report, as_json=False)
        snapshot = _publish(store)
        export = house.data_dir / f"{SNAPSHOT}.jsonl"
        rows = publish_stage.read_rows(store.publish, SNAPSHOT)
        jsonl.write(rows, export)
        grades = (*_grade(house, store, export, GOLD), *_grade(house, store, export, EMPTY))
        ending = _ending(house, store, snapshot, export, grades)
        return replace(ending, flags={row.instance_id: row.flags for row in rows})


def _publish(store: Database) -> Snapshot:
    old = store.publish.snapshot(SNAPSHOT)
    draft, _ = publish_stage.plan(
        store.publish, name=SNAPSHOT, window=(None, None), dockerfile=dockerfile_of, now=now()
    )
    if old is not None and old.content_hash != draft.content_hash:
        raise ConfigError(
            "The demo's snapshot was published with other content, by another version or after a "
            "failure of the machine; begin again with `miner demo --fresh`."
        )
    return run_publish(store, name=SNAPSHOT, window=(None, None))[0]


def _grade(house: House, store: Database, export: Path, kind: str) -> list[Evaluation]:
    dataset = find_dataset(store, str(export))
    answers = gold_predictions if kind == GOLD else empty_predictions
    submission = Submission(run_id=kind, predictions=answers(dataset.rows))
    grade(house, store, dataset, submission, progress())
    return of_models(store, dataset, submission)


def _ending(
    house: House, store: Database, snapshot: Snapshot, export: Path, grades: Sequence[Evaluation]
) -> Ending:
    wanted = expected()
    verdicts = {
        instance.candidate.instance_id: instance.verdict
        for instance in store.publish.instances(window=(None, None))
    }
    rejected = {}
    for name in (*expected_gates(wanted), *wanted.by_instance_id()):
        found = store.admin.evidence(name)
        if found is not None and not found.is_instance and found.rejections:
            rejected[name] = found.rejections[0].gate
    lists = {name: verdict.fail_to_pass for name, verdict in verdicts.items()}
    return Ending(
        funnel=store.admin.funnel(),
        verdicts=verdicts,
        flags={},
        grades=tuple(grades),
        snapshot=snapshot,
        export=export,
        policy=house.policy(None),
        expected=wanted,
        differences=(
            *differences(wanted, fail_to_pass=lists, rejected=rejected),
            *_wrong_grades(grades),
        ),
    )


def _wrong_grades(grades: Sequence[Evaluation]) -> list[str]:
    return [
        f"{evaluation.instance_id}: {evaluation.model_name_or_path} is {evaluation.state}"
        for evaluation in grades
        if (evaluation.state == "resolved") is not (evaluation.model_name_or_path == GOLD)
        or evaluation.state == "infrastructure"
    ]
