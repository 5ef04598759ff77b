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
from tests.miner.verified import add_instances, candidate


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


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("evaluate", "--gold", "--run-id", ""), "Nothing is given after --run-id;"),
        (("evaluate", "", "--gold"), "Nothing is given after evaluate;"),
        (("publish", "--name", ""), "Nothing is given after --name;"),
        (("publish", "--name="), "Nothing is given after --name;"),
        (("crawl", "--repo", "o/r", "--record", "."), "--record: . is a folder"),
        (("crawl", "--repo", "o/r", "--record", "none/tape"), "there is no folder none"),
        (("evaluate", "--gold", "--run-id", "a\nb"), "--run-id: 'a\\nb' is no name"),
        (("evaluate", "--gold", "--run-id", "x" * 301), "is no name of a run"),
        (("evaluate", "--gold", "--results", "."), "--results: . is a folder"),
        (("evaluate", "--gold", "--results", "none/x.json"), "there is no folder none"),
        (("evaluate", "pipe.jsonl", "--gold"), "pipe.jsonl holds no instance"),
        (("evaluate", "/dev/null", "--gold"), "/dev/null holds no instance"),
        (("evaluate", "-p", "pipe.jsonl"), "pipe.jsonl holds no prediction"),
        (("evaluate", "-p", "/dev/null"), "/dev/null holds no prediction"),
        (("evaluate", "-p", "."), ". cannot be read: Is a directory"),
        (("evaluate", "-p", "none.jsonl"), "cannot be read: No such file"),
        (("evaluate", "-p", "list.jsonl"), "belongs in a file named .json"),
        (("evaluate", "-p", "table.csv"), "table.csv:1: is not JSON"),
        (("evaluate", "-p", "noise.jsonl"), "noise.jsonl:1: is not UTF-8 text"),
        (("export", "--out", "."), ".: Is a directory; choose another place"),
        (("export", "--out", "pipe.jsonl"), "pipe.jsonl: No such device"),
        (("export", "--out", "/proc/none"), "/proc/none: "),
        (("gates", "set", "pipe.jsonl"), "is not JSON"),
        (("gates", "set", "."), ". cannot be read"),
        (("gates", "set", "noise.jsonl"), "noise.jsonl:1: is not UTF-8 text"),
        (("recipes", "set", "o/r", "noise.jsonl"), "noise.jsonl:1: is not UTF-8 text"),
        (("recipes", "set", "o/r", "pipe.jsonl"), "pipe.jsonl is not JSON"),
        (("repos", "add", "--file", "noise.jsonl"), "noise.jsonl:1: is not UTF-8 text"),
        (("repos", "add", "--file", "pipe.jsonl"), "Name at least one"),
        (("demo", "serve", "--git", ".", "--pulls", "pipe.jsonl"), "holds no repository"),
    ],
)
def test_files_of_all_kinds_are_one_sentence_and_never_waited_for(
    miner: Miner, db: Database, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    add_instances(db, candidate(1))
    assert miner("publish", "--name", "2026-11-29").code == exits.OK
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "list.jsonl").write_text(json.dumps([GOOD]))
    (tmp_path / "table.csv").write_text("instance_id,model_name_or_path,model_patch\n")
    (tmp_path / "noise.jsonl").write_bytes(bytes(range(255, 0, -1)))
    answer = miner(*words)
    assert answer.code == exits.WRONG_INPUT
    assert sentence in answer.err
    told = [line for line in answer.err.splitlines() if line.startswith("miner: ")]
    assert len(told) == 1
    assert "Traceback" not in answer.err


def test_a_dataset_may_come_through_a_pipe(miner: Miner, db: Database, tmp_path: Path) -> None:
    add_instances(db, candidate(1))
    assert miner("publish", "--name", "2026-11-29").code == exits.OK
    assert miner("export", "--out", "all.jsonl").code == exits.OK
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write((tmp_path / "all.jsonl").read_bytes())
    answer = miner("evaluate", f"/dev/fd/{reading}", "--gold", "--dry-run", "--json")
    os.close(reading)
    assert answer.code == exits.OK
    assert json.loads(answer.out)["dataset"] == "2026-11-29"


def test_predictions_of_a_pipe_want_a_name_for_their_run(
    miner: Miner, db: Database, tmp_path: Path
) -> None:
    add_instances(db, candidate(1))
    assert miner("publish", "--name", "2026-11-29").code == exits.OK
    for words, code in (((), exits.WRONG_INPUT), (("--run-id", "mine"), exits.OK)):
        reading, writing = os.pipe()
        with os.fdopen(writing, "w") as pipe:
            pipe.write(json.dumps(GOOD))
        answer = miner("evaluate", "--predictions", f"/dev/fd/{reading}", "--dry-run", *words)
        os.close(reading)
        assert answer.code == code
        assert ("name the run" in answer.err) is (code == exits.WRONG_INPUT)
