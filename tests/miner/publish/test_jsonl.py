"""JSONL: whole files or none, errors with line and reason, the cutoff on all three dates."""

import json
import os
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from miner.errors import ConfigError
from miner.model import Split
from miner.publish.formats import jsonl
from miner.publish.row import ExportRow, canonical, export_row
from tests.samples import candidate, instance


def row(**changes: object) -> ExportRow:
    return export_row(
        instance(of=candidate(**changes)), snapshot="2024-06-01", split=Split.TEST, signals={},
        dockerfile="",
    )  # fmt: skip


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    rows = (row(instance_id="a__a-1", repo="a/a"), row())
    jsonl.write(rows, tmp_path / "deep" / "set.jsonl")
    assert jsonl.read(tmp_path / "deep" / "set.jsonl") == rows


def test_what_is_no_file_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to(pipe)
    with os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
        jsonl.write([row()], tmp_path / "link")
        assert reader.read().decode() == canonical(row()) + "\n"
    assert pipe.is_fifo()
    assert (tmp_path / "link").is_symlink()


def test_a_link_to_a_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.jsonl").touch()
    (tmp_path / "link").symlink_to(tmp_path / "real.jsonl")
    jsonl.write([row()], tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert jsonl.read(tmp_path / "real.jsonl") == (row(),)


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    jsonl.write([row()], path)
    before = path.read_bytes()
    with pytest.raises(AttributeError):
        jsonl.write([row(), None], path)  # type: ignore[list-item]  # a row that cannot be written
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["set.jsonl"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", r"set.jsonl:2: line: Invalid JSON"),
        ("{}", r"set.jsonl:2: instance_id: Field required"),
        (None, r"set.jsonl:2: o__r-7 is in the file twice"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, text: str | None, sentence: str) -> None:
    path = tmp_path / "set.jsonl"
    good = canonical(row())
    path.write_text(f"{good}\n{good if text is None else text}\n")
    with pytest.raises(ConfigError, match=sentence):
        jsonl.read(path)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"PASS_TO_PASS": ["b", "a"], "FAIL_TO_PASS": ["a"]}, "PASS_TO_PASS: 'a' is in FAIL_TO_PA"),
        ({"PASS_TO_PASS": '["a"]', "FAIL_TO_PASS": '["a"]'}, "PASS_TO_PASS: 'a' is in FAIL_TO_PA"),
        ({"merged_at": "2024-05-17T12:00:00"}, "merged_at: .*timezone"),
        ({"created_at": "2024-05-17T12:00:00"}, "created_at: .*timezone"),
        ({"issue_created_at": "2024-05-17"}, "issue_created_at: .*timezone"),
        ({"repo": "stranger/r"}, "repo: instance_id names another one; of owner/name it is owner_"),
        ({"instance_id": "stranger__r-7"}, "repo: instance_id names another one"),
    ],
)
def test_a_row_that_contradicts_itself_is_named(
    tmp_path: Path, changes: dict[str, object], sentence: str
) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps(json.loads(canonical(row())) | changes) + "\n")
    with pytest.raises(ConfigError, match=rf"set\.jsonl:1: {sentence}"):
        jsonl.read(path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"memory_mb": 0}, "memory_mb: it must be from 64"),
        ({"timeout_s": 1e18}, "timeout_s: it must be from 1"),
        ({"apt": ["-oDPkg::Pre-Invoke::=id"]}, "apt: '-oDPkg::Pre-Invoke::=id' is no name"),
        ({"env_vars": [["A=B", "c"]]}, "env_vars: 'A=B' is no name"),
        ({"test_cmd": "pytest \0"}, "test_cmd: .* holds a character"),
    ],
)
def test_a_strangers_recipe_lifts_no_limit(
    tmp_path: Path, change: dict[str, object], sentence: str
) -> None:
    given = json.loads(canonical(row()))
    given["install_config"] |= change
    (tmp_path / "set.jsonl").write_text(json.dumps(given) + "\n")
    with pytest.raises(ConfigError, match=rf"set\.jsonl:1: install_config\.{sentence}"):
        jsonl.read(tmp_path / "set.jsonl")


def test_an_empty_or_missing_file_is_no_dataset(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(ConfigError, match="holds no instance"):
        jsonl.read(tmp_path / "empty.jsonl")
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        jsonl.read(tmp_path / "none.jsonl")


@pytest.mark.parametrize("old", ["issue_created_at", "created_at", "merged_at"])
def test_the_cutoff_asks_for_issue_pull_and_merge(old: str) -> None:
    dates = dict.fromkeys(
        ("issue_created_at", "created_at", "merged_at"), datetime(2024, 5, 2, tzinfo=UTC)
    )
    young = row(**dates)
    aged = row(**(dates | {old: datetime(2024, 5, 1, 23, tzinfo=UTC)}))
    assert jsonl.narrowed([young, aged], cutoff=date(2024, 5, 1)) == (young,)


def test_the_window_is_over_the_merge() -> None:
    may = row()
    assert jsonl.narrowed([may], merged_from=date(2024, 5, 17), merged_to=date(2024, 5, 17))
    assert not jsonl.narrowed([may], merged_from=date(2024, 5, 18))
    assert not jsonl.narrowed([may], merged_to=date(2024, 5, 16))
