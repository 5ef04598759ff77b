"""`miner evaluate`, `leaderboard`: predictions → grades → % resolved."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from miner.cli import exits
from miner.cli.datasets import find_dataset
from miner.cli.grade_lines import COLUMNS, Runs, grade_document, grade_line
from miner.cli.options import NO_LIMIT, DryRunOption, JsonOption, LimitOption, RepoOption
from miner.cli.reports import reported
from miner.cli.speech import as_text, live, progress, say, say_json, say_report, table
from miner.cli.submissions import submitted
from miner.cli.trees import trees
from miner.cli.wiring import House, now
from miner.errors import ConfigError
from miner.evaluate.dataset import Dataset
from miner.evaluate.hands import Hands
from miner.evaluate.predictions import EMPTY, GOLD
from miner.evaluate.report import ModelReport, Rate, report
from miner.evaluate.stage import Submission
from miner.evaluate.stage import evaluate as evaluate_stage
from miner.given import check_place, write_text
from miner.model import Evaluation, EvaluationState, Stage, StageReport
from miner.progress import Progress
from miner.store import Database
from validators import workshop
from validators.plural import counted

DatasetArgument = Annotated[
    str | None,
    typer.Argument(
        help="A snapshot's name or an exported file; default: the newest snapshot.",
        show_default=False,
    ),
]
PredictionsOption = Annotated[
    Path | None, typer.Option("--predictions", "-p", help="JSONL or JSON file of predictions.")
]
GoldOption = Annotated[bool, typer.Option("--gold", help="Grade the human fixes: 100 % expected.")]
EmptyOption = Annotated[bool, typer.Option("--empty", help="Grade empty patches: 0 % expected.")]
RunIdOption = Annotated[
    str | None, typer.Option("--run-id", help="Name of this run; default: the file's name.")
]
ResultsOption = Annotated[
    Path | None, typer.Option("--results", help="Write every grade to this JSON file.")
]


def evaluate(
    dataset: DatasetArgument = None,
    *,
    predictions: PredictionsOption = None,
    gold: GoldOption = False,
    empty: EmptyOption = False,
    run_id: RunIdOption = None,
    repo: RepoOption = None,
    limit: LimitOption = NO_LIMIT,
    results: ResultsOption = None,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Grade predictions against a snapshot or an exported file.

    Exit code 1 when --gold resolves less than all or --empty anything; 75 when the machine failed
    on some, so that they say nothing of the model.
    """
    if sum((predictions is not None, gold, empty)) != 1:
        raise ConfigError("Give one of --predictions FILE, --gold and --empty.")
    if results is not None:
        check_place(results, option="--results")
    house = House.of_environment()
    with house.store() as store:
        chosen = find_dataset(store, dataset, repo=repo, limit=limit)
        submission = submitted(chosen, predictions, gold=gold, run_id=run_id)
        if dry_run:
            _tell_plan(chosen, submission, as_json=as_json)
            return
        stage_report = grade(house, store, chosen, submission, progress())
        evaluations = of_models(store, chosen, submission)
        runs = store.evaluate.kept_run
        document = results_document(chosen, submission.run_id, evaluations, runs)
        if results is not None:
            write_text(results, as_text(document))
        if as_json:
            say_json(document)
        else:
            tell_grades(chosen, submission.run_id, evaluations, runs)
            say_report(stage_report, as_json=False)
    raise typer.Exit(verdict(GOLD if gold else EMPTY if empty else None, evaluations))


def leaderboard(dataset: DatasetArgument = None, as_json: JsonOption = False) -> None:
    """Models graded on a snapshot or file, best first, with 95 % intervals."""
    house = House.of_environment()
    with house.store() as store:
        chosen = find_dataset(store, dataset)
        evaluations = _of_every_name(store, chosen)
    reports = _reports(chosen, evaluations)
    if as_json:
        say_json([_document(entry) for entry in reports])
        return
    if not reports:
        say(f"Nothing was evaluated on {chosen.name} yet; `miner evaluate` does.")
        return
    table(
        f"Leaderboard of {chosen.name}, {counted(len(chosen.rows), 'instance')}",
        ["model", "run", "resolved", "95 % interval", "unflagged", "machine failed"],
        [_line(entry) for entry in reports],
    )


def grade(
    house: House, store: Database, dataset: Dataset, submission: Submission, bars: Progress
) -> StageReport:
    """Grade what is not graded yet, on this machine or a cluster."""
    house.ready_engine()
    with house.executor() as executor, live(bars, Stage.EVALUATE, source=workshop.__name__):
        hands = Hands(
            executor=executor,
            grader=house.workshop(),
            tree=trees(house),
            in_flight=house.settings.workers + 1,  # one is made ready while the others' tests run
        )
        return reported(
            store,
            lambda: evaluate_stage(
                store.evaluate,
                dataset=dataset,
                submission=submission,
                hands=hands,
                now=now,
                progress=bars,
            ),
        )


def of_models(store: Database, dataset: Dataset, submission: Submission) -> list[Evaluation]:
    """The newest grades of the submission's models on the dataset's rows."""
    models = {p.model_name_or_path for p in submission.predictions}
    ids = {row.instance_id for row in dataset.rows}
    found = store.evaluate.evaluations(dataset=dataset.name, run_id=submission.run_id)
    return [e for e in found if e.model_name_or_path in models and e.instance_id in ids]


def verdict(expected: str | None, evaluations: Sequence[Evaluation]) -> int:
    """The exit code: does what must hold hold?"""
    states = [evaluation.state for evaluation in evaluations]
    if EvaluationState.INFRASTRUCTURE in states:
        return exits.TRY_AGAIN
    if expected == GOLD and set(states) != {EvaluationState.RESOLVED}:
        return exits.DIFFERS
    if expected == EMPTY and EvaluationState.RESOLVED in states:
        return exits.DIFFERS
    return exits.OK


def results_document(
    dataset: Dataset, run_id: str, evaluations: Sequence[Evaluation], runs: Runs
) -> dict[str, object]:
    """Every grade and the rates, JSON-able; `runs` finds the run behind a grade."""
    rows = {row.instance_id: row for row in dataset.rows}
    return {
        "dataset": dataset.name,
        "run_id": run_id,
        "instances": len(dataset.rows),
        "models": [_document(entry) for entry in _reports(dataset, evaluations)],
        "grades": [grade_document(each, rows[each.instance_id], runs) for each in evaluations],
    }


def tell_grades(
    dataset: Dataset, run_id: str, evaluations: Sequence[Evaluation], runs: Runs
) -> None:
    """The same for people: a line a grade, then each model's rate."""
    rows = {row.instance_id: row for row in dataset.rows}
    table(
        f"{run_id} on {dataset.name}",
        COLUMNS,
        [grade_line(each, rows[each.instance_id], runs) for each in evaluations],
    )
    for entry in _reports(dataset, evaluations):
        say(f"{entry.model_name_or_path}: {_words(entry.overall)}")


def _of_every_name(store: Database, dataset: Dataset) -> list[Evaluation]:
    """The newest grade per run, model and instance, under whatever name the content was graded."""
    newest: dict[tuple[str, str, str], Evaluation] = {}
    for name in dict.fromkeys((dataset.name, *dataset.also)):
        for new in store.evaluate.evaluations(dataset=name, run_id=None):
            key = (new.run_id, new.model_name_or_path, new.instance_id)
            old = newest.get(key)
            if old is None or old.evaluated_at < new.evaluated_at:
                newest[key] = new
    return list(newest.values())


def _tell_plan(dataset: Dataset, submission: Submission, *, as_json: bool) -> None:
    models = sorted({p.model_name_or_path for p in submission.predictions})
    if as_json:
        say_json(
            {
                "dataset": dataset.name,
                "run_id": submission.run_id,
                "models": models,
                "instances": [row.instance_id for row in dataset.rows],
            }
        )
    else:
        found = (counted(len(models), "model"), counted(len(dataset.rows), "instance"))
        say(f"would grade {' on '.join(found)}")


def _reports(dataset: Dataset, evaluations: Sequence[Evaluation]) -> Sequence[ModelReport]:
    merged_at = {row.instance_id: row.merged_at for row in dataset.rows}
    return report([e for e in evaluations if e.instance_id in merged_at], merged_at=merged_at)


def _words(rate: Rate) -> str:
    """ "12 of 13 resolved, 92.3 % (66.7–98.6)"."""
    text = f"{rate.resolved} of {rate.total} resolved"
    if rate.share is not None:
        text += f", {100 * rate.share:.1f} % ({_interval(rate)})"
    if rate.infrastructure:
        text += f"; the machine failed on {rate.infrastructure} more"
    return text


def _interval(rate: Rate) -> str:
    if rate.interval is None:
        return ""
    low, high = rate.interval
    return f"{100 * low:.1f}–{100 * high:.1f}"


def _line(entry: ModelReport) -> list[object]:
    rate = entry.overall
    share = "" if rate.share is None else f" ({100 * rate.share:.1f} %)"
    return [
        entry.model_name_or_path,
        entry.run_id,
        f"{rate.resolved}/{rate.total}{share}",
        _interval(rate),
        rate.resolved - rate.flagged,
        rate.infrastructure,
    ]


def _document(entry: ModelReport) -> dict[str, object]:
    return {
        "model_name_or_path": entry.model_name_or_path,
        "run_id": entry.run_id,
        **_rate_document(entry.overall),
        "by_month": {month: _rate_document(rate) for month, rate in entry.by_month},
    }


def _rate_document(rate: Rate) -> dict[str, object]:
    return {
        "resolved": rate.resolved,
        "total": rate.total,
        "share": rate.share,
        "interval": rate.interval,
        "flagged": rate.flagged,
        "infrastructure": rate.infrastructure,
    }
