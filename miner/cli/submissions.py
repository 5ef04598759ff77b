"""What `miner evaluate` grades: predictions of a file, the human fixes, or empty patches."""

from pathlib import Path

from miner.errors import ConfigError
from miner.evaluate.dataset import Dataset
from miner.evaluate.predictions import (
    EMPTY,
    GOLD,
    NAME_CHARS,
    empty_predictions,
    gold_predictions,
    read_predictions,
)
from miner.evaluate.stage import Submission
from miner.model import Prediction


def submitted(dataset: Dataset, path: Path | None, *, gold: bool, run_id: str | None) -> Submission:
    """What is to be graded, under its name. ConfigError for a name or a file that is of no use."""
    found: tuple[Prediction, ...]
    if path is not None:
        found = _of_chosen(dataset, path)
    else:
        found = gold_predictions(dataset.rows) if gold else empty_predictions(dataset.rows)
    name = _usual_name(path, gold=gold) if run_id is None else run_id
    if len(name) > NAME_CHARS or not name.isprintable():
        raise ConfigError(f"--run-id: {name!r} is no name of a run; give a short printable one.")
    return Submission(run_id=name, predictions=found)


def _usual_name(path: Path | None, *, gold: bool) -> str:
    """A run's name when none is given. ConfigError for pipes: they share the names they have."""
    if path is None:
        return GOLD if gold else EMPTY
    if not path.is_file():
        raise ConfigError(f"--run-id: {path} is no file that could lend its name; name the run.")
    return path.stem


def _of_chosen(dataset: Dataset, path: Path) -> tuple[Prediction, ...]:
    """The file's predictions for the chosen rows; those for others are of no concern."""
    chosen = {row.instance_id for row in dataset.rows}
    every = read_predictions(path, known=[*chosen, *dataset.others])
    found = tuple(each for each in every if each.instance_id in chosen)
    if not found:
        raise ConfigError(f"{path} answers none of the instances that --repo and --limit choose.")
    return found
