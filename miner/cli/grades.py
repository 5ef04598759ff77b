"""`miner evaluate`, `leaderboard`: predictions → grades → % resolved."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import product
from pathlib import Path
from typing import Annotated

import typer

from miner.cli import exits
from miner.cli.datasets import find_dataset
from miner.cli.grade_lines import COLUMNS, Runs, grade_document, grade_line
from miner.cli.options import NO_LIMIT, DryRunOption, JsonOption, LimitOption, RepoOption
from miner.cli.rates import RATE_COLUMNS, rate_document, rate_line, rate_words
from miner.cli.reports import reported
from miner.cli.speech import as_text, live, progress, say, say_json, say_report, table
from miner.cli.submissions import submitted
from miner.cli.trees import trees
from miner.cli.wiring import House, now
from miner.errors import ConfigError
from miner.evaluate.dataset import Dataset, patch_hash
from miner.evaluate.hands import Hands
from miner.evaluate.predictions import EMPTY, GOLD
from miner.evaluate.report import ModelReport, report
from miner.evaluate.stage import Submission
from miner.evaluate.stage import evaluate as evaluate_stage
from miner.given import check_place, write_text
from miner.model import Evaluation, EvaluationState, IncompleteError, Stage, StageReport
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
    on some, so that they say nothing of the model. What was graded is told in any case.
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
        told = _Told(store, chosen, submission, results=results, as_json=as_json)
        try:
            stage_report = grade(house, store, chosen, submission, progress())
        except IncompleteError:
            told.grades()
            raise
        evaluations = told.grades()
        if not as_json:
            say_report(stage_report, as_json=False)
    raise typer.Exit(verdict(GOLD if gold else EMPTY if empty else None, evaluations))


@dataclass(frozen=True, slots=True)
class _Told:
    """To whom `miner evaluate` tells what is graded by now."""

    store: Database
    dataset: Dataset
    submission: Submission
    _: KW_ONLY
    results: Path | None
    as_json: bool

    def grades(self) -> list[Evaluation]:
        """Written where somebody asked for it, and said."""
        evaluations = of_models(self.store, self.dataset, self.submission)
        given = (self.dataset, self.submission, evaluations, self.store.evaluate.kept_run)
        document = results_document(*given)
        if self.results is not None:
            write_text(self.results, as_text(document))
        if self.as_json:
            say_json(document)
        else:
            tell_grades(*given)
        return evaluations


def leaderboard(dataset: DatasetArgument = None, as_json: JsonOption = False) -> None:
    """Models graded on a snapshot or file, best first, with 95 % intervals."""
    house = House.of_environment()
    with house.store() as store:
        chosen = find_dataset(store, dataset)
        evaluations = _of_every_name(store, chosen)
    reports = _reports(chosen, evaluations)
    if as_json:
        say_json([rate_document(entry) for entry in reports])
        return
    if not reports:
        say(f"Nothing was evaluated on {chosen.name} yet; `miner evaluate` does.")
        return
    table(
        f"Leaderboard of {chosen.name}, {counted(len(chosen.rows), 'instance')}",
        RATE_COLUMNS,
        [rate_line(entry) for entry in reports],
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
    """The newest grades of the submission's answers on the dataset's rows.

    Not of the answers that the same run had before: those are not this submission's.
    """
    wanted = dict.fromkeys(_pairs(dataset, submission), "")  # "": there is no answer
    for p in submission.predictions:
        wanted[p.instance_id, p.model_name_or_path] = patch_hash(p.model_patch)
    found = store.evaluate.evaluations(dataset=dataset.name, run_id=submission.run_id)
    return [e for e in found if wanted.get((e.instance_id, e.model_name_or_path)) == e.patch_hash]


def _pairs(dataset: Dataset, submission: Submission) -> Iterable[tuple[str, str]]:
    return product((row.instance_id for row in dataset.rows), submission.models)


def ungraded(
    dataset: Dataset, submission: Submission, evaluations: Sequence[Evaluation]
) -> list[tuple[str, str]]:
    """Instance and model of what grading did not come to, before it was given up."""
    found = {(each.instance_id, each.model_name_or_path) for each in evaluations}
    return [pair for pair in _pairs(dataset, submission) if pair not in found]


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
    dataset: Dataset, submission: Submission, evaluations: Sequence[Evaluation], runs: Runs
) -> dict[str, object]:
    """Every grade and the rates, JSON-able; `runs` finds the run behind a grade."""
    rows = {row.instance_id: row for row in dataset.rows}
    left = ungraded(dataset, submission, evaluations)
    return {
        "dataset": dataset.name,
        "run_id": submission.run_id,
        "instances": len(dataset.rows),
        "models": [rate_document(entry) for entry in _reports(dataset, evaluations)],
        "grades": [grade_document(each, rows[each.instance_id], runs) for each in evaluations],
        "not_graded": [{"instance_id": i, "model_name_or_path": model} for i, model in left],
    }


def tell_grades(
    dataset: Dataset, submission: Submission, evaluations: Sequence[Evaluation], runs: Runs
) -> None:
    """The same for people: a line a grade, then each model's rate."""
    rows = {row.instance_id: row for row in dataset.rows}
    table(
        f"{submission.run_id} on {dataset.name}",
        COLUMNS,
        [grade_line(each, rows[each.instance_id], runs) for each in evaluations],
    )
    for entry in _reports(dataset, evaluations):
        say(f"{entry.model_name_or_path}: {rate_words(entry.overall)}")
    left = Counter(model for _, model in ungraded(dataset, submission, evaluations))
    for model, number in sorted(left.items()):
        say(f"{model}: {counted(number, 'answer')} not graded yet")


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
