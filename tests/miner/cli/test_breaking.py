"""Bad words, places and files: one sentence that says what, where and what to do; a true code."""

import errno
import json
import os
from pathlib import Path

import pytest

from miner.cli import exits
from miner.cli.main import _file_trouble
from miner.errors import ConfigError
from miner.evaluate.predictions import read_predictions
from miner.store import Database
from tests.miner.cli.conftest import Miner
from tests.miner.store.samples import with_candidates


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("split", "--limit", "0"), "'--limit'"),
        (("split", "--limit", "9" * 30), "'--limit'"),
        (("images", "gc", "--older-than", "9" * 30), "'--older-than'"),
        (("schedule", "--at", "0 0 31 2 *"), "never comes"),
        (("publish", "--from", "0001-01-01", "--to", "9999-12-31"), "no verified instance"),
        (("repos", "add", "a/" + "b" * 101), "write owner/name"),
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


def test_a_user_without_a_name_is_asked_for_one(
    miner: Miner, db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_000)
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "gates.json").write_text("{}")
    (tmp_path / "recipe.json").write_text('{"python": "3.12", "test_cmd": "pytest"}')
    with_candidates(db, 7)
    for words in (
        ("gates", "set", "gates.json"),
        ("recipes", "set", "o/r", "recipe.json"),
        ("request", "verify", "o__r-7"),
    ):
        answer = miner(*words)
        assert answer.code == exits.WRONG_INPUT
        assert answer.err.endswith("has no name here; give --author.\n")
        assert miner(*words, "--author", "Ada").code == exits.OK


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
        ("p.jsonl", json.dumps(GOOD | {"model_name_or_path": "m" * 301}), "model_name_or_path"),
        ("p.json", json.dumps({"o__r-2": GOOD}), "names another instance"),
    ],
)
def test_predictions_that_would_be_lost_or_mistaken(
    tmp_path: Path, name: str, text: str, reason: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError, match=reason):
        read_predictions(tmp_path / name, known=["o__r-1", "o__r-2"])
