"""`miner publish`, `export`: instances → a dated snapshot → a file."""

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from miner.cli.options import NO_LIMIT, DryRunOption, JsonOption, maybe_day, window
from miner.cli.speech import progress, say, say_json, table
from miner.cli.stages import run_assess
from miner.cli.wiring import House, now
from miner.errors import ConfigError
from miner.model import Instance, Snapshot, Stage, StageReport
from miner.publish import stage
from miner.publish.formats import FORMATS, jsonl
from miner.store import Database
from validators.dockerfile import dockerfile
from validators.plural import counted

NameOption = Annotated[
    str | None, typer.Option("--name", help="Name of the snapshot, a date; default: today.")
]
FromOption = Annotated[
    str | None, typer.Option("--from", help="Merged on this day or later (2024-05-01).")
]
ToOption = Annotated[
    str | None, typer.Option("--to", help="Merged on this day or earlier (2024-05-31).")
]
CutoffOption = Annotated[
    str | None,
    typer.Option(
        "--cutoff", help="Only instances whose issue, pull and merge are all later than this day."
    ),
]
FormatOption = Annotated[str, typer.Option("--format", help=f"One of: {', '.join(FORMATS)}.")]
OutOption = Annotated[
    Path | None, typer.Option("--out", help="The file to write; default: NAME.jsonl.")
]
SnapshotArgument = Annotated[
    str | None, typer.Argument(help="Name of a snapshot; default: the newest.", show_default=False)
]


def publish(
    name: NameOption = None,
    merged_from: FromOption = None,
    merged_to: ToOption = None,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Freeze the verified instances as a dated snapshot that never changes again."""
    merged = window(merged_from, merged_to)
    house, moment = House.of_environment(), now()
    chosen = name or f"{moment:%Y-%m-%d}"
    with house.store() as store:
        is_known = store.publish.snapshot(chosen) is not None
        if dry_run:
            snapshot, _ = stage.plan(
                store.publish, name=chosen, window=merged, dockerfile=dockerfile_of, now=moment
            )
            stage.check(store.publish, snapshot)
        else:
            snapshot, _ = run_publish(store, name=chosen, window=merged)
    tell(snapshot, is_known=is_known, as_json=as_json)


def export(
    snapshot: SnapshotArgument = None,
    *,
    out: OutOption = None,
    file_format: FormatOption = "jsonl",
    cutoff: CutoffOption = None,
    merged_from: FromOption = None,
    merged_to: ToOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a snapshot's rows to a file with SWE-bench's columns and ours."""
    if file_format not in FORMATS:
        raise ConfigError(f"--format: {file_format!r} is unknown; known are {', '.join(FORMATS)}.")
    merged = window(merged_from, merged_to)
    until = maybe_day(cutoff, option="--cutoff")
    with House.of_environment().store() as store:
        name = snapshot or newest(store.publish)
        rows = stage.read_rows(store.publish, name)
        buried = {repo.lower() for repo in store.publish.buried()}
    gone = [row.instance_id for row in rows if row.repo.lower() in buried]
    kept = jsonl.narrowed(
        [row for row in rows if row.instance_id not in set(gone)],
        cutoff=until,
        merged_from=merged[0],
        merged_to=merged[1],
    )
    path = out or Path(f"{name}.{file_format}")
    FORMATS[file_format](kept, path)
    if as_json:
        say_json(
            {
                "snapshot": name,
                "instances": len(kept),
                "of": len(rows),
                "file": str(path),
                "taken_down": gone,
            }
        )
        return
    say(f"{path}: {len(kept)} of {counted(len(rows), 'instance')} of {name}")
    for instance_id in gone:
        say(f"left out: {instance_id}, its repository was taken down")


def newest(store: stage.Store) -> str:
    """The name of the snapshot published last."""
    snapshots = store.snapshots()
    if not snapshots:
        raise ConfigError("There is no snapshot yet; `miner publish` makes the first.")
    return snapshots[-1].name


def run_publish(
    store: Database, *, name: str, window: tuple[date | None, date | None]
) -> tuple[Snapshot, StageReport]:
    """The publish stage; its report is kept.

    What is verified and not assessed, as another worker's answer of just now, is assessed first: a
    frozen row has its flags or never gets them.
    """
    run_assess(store, limit=NO_LIMIT, bars=progress())
    started_at = now()
    snapshot = stage.publish(
        store.publish,
        name=name,
        window=window,
        dockerfile=dockerfile_of,
        now=started_at,
        progress=progress(),
    )
    report = StageReport(
        stage=Stage.PUBLISH,
        done=len(snapshot.members),
        rejected=len(snapshot.excluded),
        counts={name: len(snapshot.members)},
        started_at=started_at,
        ended_at=now(),
    )
    store.admin.save_report(report)
    return snapshot, report


def dockerfile_of(instance: Instance) -> str:
    """The Dockerfile that does what the instance's recipe says, on the official image."""
    recipe, candidate = instance.environment.recipe, instance.candidate
    return dockerfile(
        recipe,
        base=f"python:{recipe.python}-slim",
        committed_at=candidate.base_committed_at,
        tag=candidate.nearest_tag,
    )


def tell(snapshot: Snapshot, *, is_known: bool, as_json: bool) -> None:
    """What is in a snapshot, and what was left out; `is_known`: it was published before."""
    if as_json:
        say_json(
            {
                "name": snapshot.name,
                "content_hash": snapshot.content_hash,
                "created_at": snapshot.created_at,
                "unchanged": is_known,
                "members": [member.instance_id for member in snapshot.members],
                "excluded": dict(snapshot.excluded),
            }
        )
        return
    held = f"{counted(len(snapshot.members), 'instance')}, sha256 {snapshot.content_hash}"
    say(f"{snapshot.name}: {held}{', unchanged' if is_known else ''}")
    if snapshot.excluded:
        table("Left out", ["instance", "reason"], snapshot.excluded)
