"""Commands that need neither GitHub nor an engine, on a real database."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from miner.cli import exits
from miner.model import Stage
from miner.store import Database
from tests.miner.cli.conftest import Miner
from tests.miner.store.samples import NOW, repo
from tests.miner.verified import add_instances, candidate


def test_a_database_is_made_once(miner: Miner) -> None:
    assert miner("db", "check").code == exits.FATAL
    assert miner("db", "upgrade").code == exits.OK
    assert miner("db", "upgrade").code == exits.OK
    assert miner("db", "check").code == exits.OK


def test_watching_and_forgetting(miner: Miner, db: Database, tmp_path: Path) -> None:
    assert miner("repos", "add", "o/r", "o/s").out == "2 added, 0 were watched already\n"
    (tmp_path / "names").write_text("o/s # again\n\no/t\n")
    assert miner("repos", "add", "--file", "names").out == "1 added, 1 were watched already\n"
    assert miner("repos", "remove", "o/r").out == "1 removed, 0 were not watched\n"
    listed = json.loads(miner("repos", "list", "--json").out)
    assert [entry["name"] for entry in listed] == ["o/s", "o/t"]
    assert "o/s" in miner("crawl", "--dry-run").out


def test_a_persons_recipe_is_stored(miner: Miner, db: Database, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text('{"python": "3.9", "requirements": ["-e .[test]"]}')
    assert miner("recipes", "set", "o/r", "r.json", "--author", "ada").code == exits.OK
    stored = json.loads(miner("recipes", "show", "o/r", "--json").out)
    assert [(r["author"], r["recipe"]["python"]) for r in stored] == [("ada", "3.9")]
    # which environment a commit needs is known only when it is made: nothing could choose by it
    narrow = miner("recipes", "set", "o/r", "r.json", "--environment-key", "abc")
    assert narrow.code == exits.WRONG_INPUT


def test_one_word_stands_for_a_list_of_it_and_an_object_for_pairs(
    miner: Miner, db: Database, tmp_path: Path
) -> None:
    loose = {
        "python": "3.9",
        "apt": "gcc",
        "requirements": ".[test]",
        "env_vars": {"A": "b", "C": "d=e"},
        "cutoff_exempt": {"wheel": "2024-05-01T00:00:00Z"},
    }
    (tmp_path / "r.json").write_text(json.dumps(loose))
    assert miner("recipes", "set", "o/r", "r.json").code == exits.OK
    (row,) = db.admin.recipes("o/r")
    assert (row.recipe.apt, row.recipe.requirements) == (("gcc",), (".[test]",))
    assert row.recipe.env_vars == (("A", "b"), ("C", "d=e"))
    assert row.recipe.cutoff_exempt == (("wheel", datetime(2024, 5, 1, tzinfo=UTC)),)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "r.json is not JSON"),
        ("[]", "r.json: a JSON object is expected."),
        ('{"pyhton": "3.9"}', "r.json: pyhton is no field of a recipe."),
        ("{}", "r.json: python: Field required."),
        ('{"python": "3.9", "apt": ["x; id"]}', "r.json: apt: 'x; id' is no name of a Debian"),
        ('{"python": "3.9", "apt": "x y"}', "r.json: apt: 'x y' is no name of a Debian"),
        ('{"python": "3.9", "apt": 7}', "r.json: apt: give a list of texts, or one text."),
        ('{"python": "3.9", "apt": [7]}', "r.json: apt: give a list of texts, or one text."),
        ('{"python": "3.9", "env_vars": {"A": 1}}', "r.json: env_vars: give variables with"),
        ('{"python": "3.9", "env_vars": "A=b"}', "r.json: env_vars: give variables with"),
        ('{"python": "3.9", "env_vars": [["A"]]}', "r.json: env_vars: give variables with"),
        ('{"python": "3.9", "cutoff_exempt": {"a": "x"}}', "r.json: cutoff_exempt: give packages"),
        ('{"python": "3.9", "test_cmd": ""}', "r.json: test_cmd: it is empty;"),
        ('{"python": "3.9", "lock": "a>=1"}', "r.json: lock: 'a>=1' is no pin with its hash,"),
    ],
)
def test_a_bad_recipe_is_told(
    miner: Miner, db: Database, tmp_path: Path, text: str, sentence: str
) -> None:
    (tmp_path / "r.json").write_text(text)
    answer = miner("recipes", "set", "o/r", "r.json")
    assert answer.code == exits.WRONG_INPUT
    assert sentence in answer.err


def test_publish_and_export(miner: Miner, db: Database, tmp_path: Path) -> None:
    add_instances(db, candidate(1), candidate(2))
    assert "2 instances" in miner("publish", "--name", "2026-11-29", "--dry-run").out
    assert miner("leaderboard").code == exits.WRONG_INPUT
    assert db.admin.reports(stage=Stage.PUBLISH) == ()
    first = miner("publish", "--name", "2026-11-29")
    assert first.code == exits.OK
    assert "unchanged" not in first.out
    again = miner("publish", "--name", "2026-11-29")
    assert again.code == exits.OK
    assert again.out == first.out.rstrip() + ", unchanged\n"
    assert [report.done for report in db.admin.reports(stage=Stage.PUBLISH)] == [2, 2]
    assert miner("export", "--out", "all.jsonl").out == (
        "all.jsonl: 2 of 2 instances of 2026-11-29\n"
    )
    assert len((tmp_path / "all.jsonl").read_text().splitlines()) == 2
    assert miner("export", "--cutoff", "2026-12-01", "--out", "none.jsonl").out == (
        "none.jsonl: 0 of 2 instances of 2026-11-29\n"
    )
    add_instances(db, candidate(3))
    for dry in ((), ("--dry-run",)):
        frozen = miner("publish", "--name", "2026-11-29", *dry)
        assert (frozen.code, frozen.out) == (exits.FATAL, "")
        assert "2026-11-29" in frozen.err


def test_plans_are_told_as_json_too(miner: Miner, db: Database) -> None:
    add_instances(db, candidate(1), candidate(2))
    miner("publish", "--name", "2026-11-29")
    plan = json.loads(miner("evaluate", "--gold", "--dry-run", "--json").out)
    assert (plan["models"], plan["instances"]) == (["gold"], ["o__r-1", "o__r-2"])
    assert "would grade 1 model on 2 instances" in miner("evaluate", "--gold", "--dry-run").out
    assert json.loads(miner("verify", "--policy", "quick", "--dry-run", "--json").out) == []
    due = json.loads(miner("verify", "--policy", "full", "--dry-run", "--json").out)
    assert {entry["instance"] for entry in due} == {"o__r-1", "o__r-2"}
    whole = json.loads(
        miner("verify", "--policy", "quick", "--p2p", "suite", "--dry-run", "--json").out
    )
    assert {entry["instance"] for entry in whole} == {"o__r-1", "o__r-2"}
    assert "Would verify (full): 1" in miner("verify", "--dry-run", "--limit", "1").out
    assert db.admin.status().work == ()  # nothing is leased


def test_looking(miner: Miner, db: Database) -> None:
    add_instances(db, candidate(1))
    assert miner("assess").code == exits.OK
    counted = json.loads(miner("funnel", "--json").out)
    assert (counted["pulls seen"], counted["instances"]) == (1, 1)
    assert "instances" in miner("funnel").out
    shown = miner("show", "o__r-1").out
    assert "an instance" in shown
    assert "FAIL_TO_PASS: 1" in shown
    assert json.loads(miner("show", "o__r-1", "--json").out)["is_instance"] is True
    assert "1 repository, 1 pull, 0 snapshots" in miner("status").out
    assert json.loads(miner("status", "--json").out)["pulls"] == 1


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ("crawl", 2, "needs a GitHub token; set GITHUB_TOKEN"),
        ("run", 2, "miner run --repo owner/name"),
        ("run --repo nonsense", 2, "'nonsense' is no repository; write owner/name."),
        ("run --repo o/r --since soon", 2, "--since: 'soon' is no date; write 2024-05-01"),
        ("repos add", 2, "Name at least one repository"),
        ("repos add --file none", 2, "none cannot be read"),
        ("publish", 2, "no verified instance to publish"),
        ("publish --name today", 2, "'today' is no snapshot name"),
        ("publish --from 2024-13-01", 2, "--from: '2024-13-01' is no date"),
        ("export", 2, "There is no snapshot yet"),
        ("export 2020-01-01", 2, "There is no snapshot '2020-01-01'"),
        ("export --format xml", 2, "--format: 'xml' is unknown"),
        ("evaluate", 2, "Give one of --predictions FILE, --gold and --empty."),
        ("evaluate --gold --empty", 2, "Give one of"),
        ("evaluate 2020-01-01 --gold", 2, "There is no snapshot '2020-01-01'"),
        ("evaluate none.jsonl --gold", 2, "none.jsonl cannot be read"),
        ("leaderboard", 2, "There is no snapshot yet"),
        ("show o__r-9", 2, "Nothing is known of 'o__r-9'"),
        (
            "verify --policy slow",
            2,
            "There is no verification policy 'slow'; known are quick and full.",
        ),
        ("verify --policy slow --p2p suite", 2, "no verification policy 'slow'; known are quick"),
        ("verify --p2p all", 2, "PASS_TO_PASS is looked for in files or suite, not in 'all'"),
        ("recipes try o__r-9 none.json", 2, "none.json cannot be read"),
        ("demo serve --git .", 2, "Give both --git DIR and --pulls FILE"),
    ],
)
def test_bad_input_is_one_sentence(
    miner: Miner, db: Database, words: str, code: int, sentence: str
) -> None:
    answer = miner(*words.split())
    assert answer.code == code
    assert sentence in answer.err
    assert answer.out == ""
    told = [line for line in answer.err.splitlines() if not line.endswith(" begins")]
    assert len(told) == 1


@pytest.mark.parametrize("words", ["status", "funnel"])
def test_a_look_without_a_database_leaves_no_folder(
    miner: Miner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    folder = tmp_path / "data"
    monkeypatch.setenv("MINER_DATA_DIR", str(folder))
    assert miner(*words.split()).code == exits.FATAL
    assert not folder.exists()


def test_status_of_nothing_has_no_empty_tables(miner: Miner, db: Database) -> None:
    said = miner("status").out
    assert "nothing is under way or parked" in said
    assert "Under way" not in said


@pytest.mark.parametrize("words", ["repos list", "funnel", "crawl", "publish", "evaluate --gold"])
def test_without_a_database_the_next_step_is_told(miner: Miner, words: str) -> None:
    answer = miner(*words.split())
    assert answer.code == exits.FATAL
    assert "miner db upgrade" in answer.err


def test_an_unreachable_engine_is_told(
    miner: Miner, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINER_ENGINE", "unix:///nowhere/engine.sock")
    answer = miner("verify")
    assert answer.code == exits.TRY_AGAIN
    assert len(answer.err.splitlines()) == 1


def test_an_unreachable_api_is_told(
    miner: Miner, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINER_GITHUB_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_" + "x" * 36)
    answer = miner("crawl", "--repo", "o/r")
    assert answer.code == exits.TRY_AGAIN
    assert "127.0.0.1" in answer.err
    assert "ghp_" not in answer.err


def test_asking_for_another_verification(miner: Miner, db: Database) -> None:
    add_instances(db, candidate(1))
    assert miner("request", "verify", "o__r-1", "--reason", "flaky?").code == exits.OK
    assert "miner verify" in miner("request", "revalidation", "--older-than", "1").out
    assert json.loads(miner("status", "--json").out)["open_requests"] == 1
    unknown = miner("request", "verify", "o__r-1", "o__r-9")
    assert unknown.code == exits.WRONG_INPUT
    assert "There is no candidate 'o__r-9'" in unknown.err
    assert json.loads(miner("status", "--json").out)["open_requests"] == 1


def test_what_was_taken_down_is_left_out_of_later_exports(
    miner: Miner, db: Database, tmp_path: Path
) -> None:
    add_instances(db, candidate(1))
    assert miner("publish", "--name", "2026-11-29").code == exits.OK
    db.crawl.bury(repo(), reason="dmca", now=NOW)
    answer = miner("export", "--out", "after.jsonl")
    assert "0 of 1 instance of" in answer.out
    assert "left out: o__r-1, its repository was taken down" in answer.out
    assert (tmp_path / "after.jsonl").read_text() == ""
