"""Bad words, places and files: one sentence that says what, where and what to do; a true code."""

import errno
import json
from pathlib import Path

import pytest

from miner.cli import exits
from miner.cli.main import _file_trouble
from miner.errors import ConfigError
from miner.evaluate.predictions import read_predictions
from miner.store import Database
from tests.miner.cli.conftest import Miner


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("split", "--limit", "0"), "'--limit'"),
        (("show",), "Missing argument"),
        (("show", "\udcff"), "is not UTF-8 text"),
        (("crawl", "--repo", "a/b", "--since", "99999999999d"), "--since"),
        (("crawl", "--repo", "a/b", "--since", "9999999d"), "--since"),
        (("crawl", "--repo", "a/b", "--since", "soon", "--dry-run"), "is no date"),
        (("crawl", "--repo", "a b", "--dry-run"), "write owner/name"),
        (("repos", "add", "../b"), "write owner/name"),
        (("repos", "add", "a/b\n"), "write owner/name"),
        (("request", "revalidation", "--older-than", "800000"), "--older-than 800000"),
        (("publish", "--name", "2026-02-30"), "is no snapshot name"),
        (("publish", "--from", "2026-02-02", "--to", "2026-02-01"), "--from 2026-02-02 is after"),
        (("export", "--from", "2026-02-02", "--to", "2026-02-01"), "put the earlier day first"),
        (("crawl", "--repo", "a/b", "--since", "2999-01-01", "--dry-run"), "is yet to come"),
        (("demo", "serve", "--port", "99999"), "'--port'"),
    ],
)
def test_wrong_words(miner: Miner, db: Database, words: tuple[str, ...], sentence: str) -> None:
    answer = miner(*words)
    assert answer.code == exits.WRONG_INPUT
    assert sentence in answer.err
    assert "Traceback" not in answer.err


def test_a_folder_that_is_a_file(
    miner: Miner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("MINER_DATA_DIR", str(tmp_path / "file"))
    answer = miner("funnel")
    assert answer.code == exits.WRONG_INPUT
    assert str(tmp_path / "file") in answer.err


def test_a_full_disk_is_tried_again() -> None:
    trouble = _file_trouble(OSError(errno.ENOSPC, "No space left on device", "x.jsonl"))
    assert trouble.exit_code == exits.TRY_AGAIN
    assert "x.jsonl: No space left" in str(trouble)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MINER_DATABASE_URL", "postgresql+psycopg://["),
        ("MINER_GITHUB_URL", "http://127.0.0.1:99999"),
        ("MINER_INDEX_URL", "https://me:hunter2@index.invalid/simple/"),
        ("MINER_ADVISOR_URL", "nowhere"),
    ],
)
def test_a_setting_that_is_no_plain_address(
    miner: Miner, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    answer = miner("config")
    assert answer.code == exits.WRONG_INPUT
    assert f"{name}: " in answer.err
    assert "hunter2" not in answer.err + answer.out


GOOD = {"instance_id": "o__r-1", "model_name_or_path": "m", "model_patch": ""}


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(GOOD).encode() + b"\r\n")
    assert len(read_predictions(path, known=["o__r-1"])) == 1


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("p.jsonl", '{"instance_id": ' + "9" * 5000 + "}", "p.jsonl:1: .*number is too long"),
        ("p.jsonl", '{"model_patch": "a", "model_patch": "b"}', "p.jsonl:1: .*twice: model_patch"),
        ("p.jsonl", json.dumps(GOOD | {"model_name_or_path": "m\0"}), "model_name_or_path"),
        ("p.json", json.dumps({"o__r-2": GOOD}), "names another instance"),
    ],
)
def test_predictions_that_would_be_lost_or_mistaken(
    tmp_path: Path, name: str, text: str, reason: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError, match=reason):
        read_predictions(tmp_path / name, known=["o__r-1", "o__r-2"])
