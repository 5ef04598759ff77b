"""Read and check predictions: JSONL, a JSON list, or a JSON object by instance id."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from miner.errors import ConfigError
from miner.evaluate.dataset import DatasetRow
from miner.given import read_text
from miner.jsontext import parsed
from miner.model import Prediction

GOLD, EMPTY = "gold", "empty"
NAME_CHARS = 300
"""No model's name or path is longer; it stands in every table."""

_NO_OBJECT = {
    False: "a JSON object is expected",
    True: "a JSON object is expected; a list of them belongs in a file named .json",
}

SHOWN = 5
"""Unknown ids named in the message."""


class _Answer(BaseModel):
    """One record at the door. `model_patch` null or "" is an answer: the model changed nothing."""

    model_config = ConfigDict(extra="ignore", strict=True)

    instance_id: str = Field(min_length=1)
    model_name_or_path: str = Field(
        min_length=1, max_length=NAME_CHARS, pattern=r"^[^\x00-\x1f\x7f]+$"
    )
    model_patch: str | None


def read_predictions(path: Path, *, known: Sequence[str]) -> tuple[Prediction, ...]:
    """All predictions, sorted by model and instance.

    ConfigError with file, line (JSONL) or position (JSON) and reason: malformed records, an
    instance answered twice by one model, ids that the dataset (`known`) does not have.
    """
    seen: dict[tuple[str, str], str] = {}
    predictions: list[Prediction] = []
    unknown: list[str] = []
    known_ids = frozenset(known)
    for where, record in _records(path):
        prediction = _prediction(record, where=where)
        key = (prediction.model_name_or_path, prediction.instance_id)
        if key in seen:
            raise ConfigError(
                f"{where}: {key[0]} answers {key[1]} a second time; the first is at {seen[key]}."
            )
        seen[key] = where
        if prediction.instance_id not in known_ids:
            unknown.append(f"{where}: {prediction.instance_id}")
        predictions.append(prediction)
    if unknown:
        raise ConfigError(_unknown_sentence(unknown))
    if not predictions:
        raise ConfigError(f"{path} holds no prediction.")
    return tuple(sorted(predictions, key=lambda p: (p.model_name_or_path, p.instance_id)))


def gold_predictions(rows: Sequence[DatasetRow]) -> tuple[Prediction, ...]:
    """The human fixes as predictions: 100 % resolved, or something is wrong with the machine."""
    return tuple(
        Prediction(instance_id=row.instance_id, model_name_or_path=GOLD, model_patch=row.patch)
        for row in rows
    )


def empty_predictions(rows: Sequence[DatasetRow]) -> tuple[Prediction, ...]:
    """Nothing changed anywhere: 0 % resolved."""
    return tuple(
        Prediction(instance_id=row.instance_id, model_name_or_path=EMPTY, model_patch=b"")
        for row in rows
    )


def _records(path: Path) -> Iterator[tuple[str, object]]:
    text = read_text(path)
    if path.suffix == ".json":
        yield from _json_records(path, text)
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield f"{path}:{number}", _parsed(line, where=f"{path}:{number}")


def _json_records(path: Path, text: str) -> Iterator[tuple[str, object]]:
    whole = _parsed(text, where=str(path))
    if isinstance(whole, list):
        yield from ((f"{path}[{index}]", record) for index, record in enumerate(whole))
    elif isinstance(whole, dict):
        for instance_id, record in whole.items():
            keyed = {"instance_id": instance_id, **record} if isinstance(record, dict) else record
            if isinstance(keyed, dict) and keyed["instance_id"] != instance_id:
                raise ConfigError(
                    f"{path}[{instance_id!r}]: instance_id: the record names another instance."
                )
            yield f"{path}[{instance_id!r}]", keyed
    else:
        raise ConfigError(f"{path}: a JSON list or object of predictions is expected.")


def _parsed(text: str, *, where: str) -> object:
    try:
        return parsed(text)
    except ValueError as error:
        raise ConfigError(f"{where}: is not JSON ({error}).") from error


def _prediction(record: object, *, where: str) -> Prediction:
    try:
        answer = _Answer.model_validate(record)
    except ValidationError as error:
        first = error.errors()[0]
        column = ".".join(str(part) for part in first["loc"])
        reason = f"{column}: {first['msg']}" if column else _NO_OBJECT[isinstance(record, list)]
        raise ConfigError(f"{where}: {reason}.") from error
    try:
        # Lone surrogates carry bytes that are not UTF-8, as Python's surrogateescape writes them.
        patch = (answer.model_patch or "").encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise ConfigError(f"{where}: model_patch is not encodable as UTF-8.") from error
    return Prediction(
        instance_id=answer.instance_id,
        model_name_or_path=answer.model_name_or_path,
        model_patch=patch,
    )


def _unknown_sentence(unknown: Sequence[str]) -> str:
    shown = "; ".join(unknown[:SHOWN])
    more = f" and {len(unknown) - SHOWN} more" if len(unknown) > SHOWN else ""
    return f"The dataset has no such instance: {shown}{more}."
