"""Strangers' files: every defect named with file, line and reason."""

import json
from pathlib import Path

import pytest

from miner.errors import ConfigError
from miner.evaluate.predictions import read_predictions

KNOWN = ["o__r-7", "o__r-8"]


def line(**changes: object) -> str:
    record: dict[str, object] = {
        "instance_id": "o__r-7", "model_name_or_path": "m", "model_patch": "diff",
    }  # fmt: skip
    return json.dumps(record | changes)


def read(tmp_path: Path, text: str, name: str = "p.jsonl") -> list[tuple[str, bytes]]:
    (tmp_path / name).write_text(text)
    found = read_predictions(tmp_path / name, known=KNOWN)
    return [(prediction.instance_id, prediction.model_patch) for prediction in found]


def test_lines_and_blank_lines(tmp_path: Path) -> None:
    text = f"{line(instance_id='o__r-8')}\n\n{line()}\n"
    assert read(tmp_path, text) == [("o__r-7", b"diff"), ("o__r-8", b"diff")]


@pytest.mark.parametrize("nothing", [None, ""])
def test_no_patch_is_an_answer(tmp_path: Path, nothing: str | None) -> None:
    assert read(tmp_path, line(model_patch=nothing)) == [("o__r-7", b"")]


def test_a_list_and_an_object_of_records(tmp_path: Path) -> None:
    assert read(tmp_path, f"[{line()}]", "p.json") == [("o__r-7", b"diff")]
    keyed = json.dumps({"o__r-8": {"model_name_or_path": "m", "model_patch": "d"}})
    assert read(tmp_path, keyed, "p.json") == [("o__r-8", b"d")]


def test_bytes_that_are_not_utf8_travel_as_surrogates(tmp_path: Path) -> None:
    assert read(tmp_path, line(model_patch="caf\udce9")) == [("o__r-7", b"caf\xe9")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", r"p\.jsonl:2: is not JSON"),
        ("3", r"p\.jsonl:2: a JSON object is expected"),
        ('{"instance_id": "o__r-7"}', r"p\.jsonl:2: model_name_or_path: Field required"),
        (line(model_patch=3), r"p\.jsonl:2: model_patch: Input should be a valid string"),
        (line(instance_id=""), r"p\.jsonl:2: instance_id: String should have at least 1"),
        (line(model_patch="\ud800"), r"p\.jsonl:2: model_patch is not encodable"),
        (line(instance_id="o__r-8"), r"p\.jsonl:2: m answers o__r-8 a second time; .*:1"),
        (line(instance_id="x__y-1"), r"no such instance: .*p\.jsonl:2: x__y-1"),
    ],
)
def test_a_bad_record_is_named(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        read(tmp_path, f"{line(instance_id='o__r-8')}\n{text}\n")


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_bytes(line().encode() + b"\n\xff\n")
    with pytest.raises(ConfigError, match=r"p\.jsonl:2: is not UTF-8"):
        read_predictions(tmp_path / "p.jsonl", known=KNOWN)


def test_no_file_and_no_record(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_predictions(tmp_path / "none.jsonl", known=KNOWN)
    with pytest.raises(ConfigError, match="holds no prediction"):
        read(tmp_path, "\n")
