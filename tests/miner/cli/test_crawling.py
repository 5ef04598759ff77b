"""`miner crawl` and what belongs to it, against the demo's forge."""

import gzip
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import stamina

from miner.cli import exits
from miner.demo import Forge, made_forge, serve
from miner.model import Stage
from miner.store import Database
from tests.miner.cli.conftest import Miner
from tests.miner.demo.test_search import many
from tests.serving import serving

DAY = "2024-05-01"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    with serve(made_forge(tmp_path_factory.mktemp("forge"))) as forge:
        yield forge


@pytest.fixture
def forge(running: Forge, monkeypatch: pytest.MonkeyPatch) -> Forge:
    monkeypatch.setenv("MINER_GITHUB_URL", running.base_url)
    monkeypatch.setenv("MINER_GITHUB_TOKENS", running.token)
    return running


def counts(answer_out: str) -> dict[str, int]:
    found: dict[str, int] = json.loads(answer_out)["counts"]
    return found


def test_watched_repositories_are_crawled_and_then_cost_nothing(
    miner: Miner, db: Database, forge: Forge
) -> None:
    miner("repos", "add", "demo/tally", "demo/ledger")
    assert counts(miner("crawl", "--json").out)["repositories_changed"] == 2
    before = forge.requests.counted()
    assert counts(miner("crawl", "--json").out) == {"repositories_unchanged": 2}
    assert forge.requests.counted() == before
    assert "demo/tally" in miner("crawl", "--dry-run").out


def test_an_earlier_since_reads_what_is_missing_and_says_so(
    miner: Miner, db: Database, forge: Forge
) -> None:
    words = ("crawl", "--repo", "demo/tally", "--since")
    tally = forge.world.repository("demo/tally")
    assert tally is not None
    merged = [pull for pull in tally.pulls_by_update() if pull.merged_at is not None]
    newest = max(map(tally.updated_at, merged))
    first = miner(*words, f"{newest:%Y-%m-%d}", "--json")
    assert "reading back" not in first.err
    plan = miner(*words, "2015-01-01", "--dry-run")
    assert "2015-01-01 00:00" in plan.out
    again = miner(*words, "2015-01-01", "--json")
    told = "reading back to 2015-01-01 00:00 UTC what earlier crawls left out: demo/tally"
    assert (again.code, told in again.err) == (exits.OK, True)
    assert counts(first.out)["stored"] > 0
    assert counts(again.out)["stored"] > 0
    quiet = miner(*words, "2015-01-01", "--json")
    assert counts(quiet.out) == {"repositories_unchanged": 1}
    assert "reading back" not in quiet.err


@pytest.mark.parametrize("options", [(), ("--dry-run",), ("--json",)])
def test_with_no_watched_repository_it_says_how_to_add_one(
    miner: Miner, db: Database, forge: Forge, options: tuple[str, ...]
) -> None:
    answer = miner("crawl", *options)
    told = answer.err if options == ("--json",) else answer.out
    assert (answer.code, "miner repos add owner/name" in told) == (exits.OK, True)


def test_an_unknown_repository_is_told_with_the_closest(
    miner: Miner, db: Database, forge: Forge
) -> None:
    answer = miner("crawl", "--repo", "demo/tali")
    assert answer.code == exits.WRONG_INPUT
    assert "did you mean demo/tally?" in answer.err


def test_what_failed_is_told_and_what_was_stored_is_kept(
    miner: Miner, db: Database, forge: Forge
) -> None:
    answer = miner("crawl", "--repo", "demo/nothing-like-it", "--repo", "demo/ledger")
    assert answer.code == exits.TRY_AGAIN
    assert "demo/nothing-like-it" in answer.err
    (report,) = db.admin.reports(limit=5)
    assert (report.done, report.retried) == (1, 1)


def test_a_crawl_is_recorded_and_replayed_without_a_network(
    miner: Miner, db: Database, forge: Forge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    words = ("crawl", "--repo", "demo/tally", "--json")
    live = counts(miner(*words, "--record", "tape.jsonl").out)
    assert forge.token not in (tmp_path / "tape.jsonl").read_text()
    monkeypatch.setenv("MINER_DATA_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.delenv("MINER_GITHUB_TOKENS")
    miner("db", "upgrade")
    asked = len(forge.requests.entries)
    again = miner(*words, "--replay", "tape.jsonl")
    assert counts(again.out) == live
    assert len(forge.requests.entries) == asked
    shown = json.loads(miner("funnel", "--json").out)
    assert shown  # the mirror is there: what was replayed can be split
    assert miner("split", "--json").code == exits.OK
    other = miner("crawl", "--repo", "demo/ledger", "--replay", "tape.jsonl")
    assert (other.code, "The tape holds no answer" in other.err) == (exits.TRY_AGAIN, True)


def test_what_the_archive_hinted_is_taped_too(
    miner: Miner, db: Database, forge: Forge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files = tmp_path / "site"
    files.mkdir()
    line = (
        '{"type":"PullRequestEvent","repo":{"id":1,"name":"demo/ledger"},'
        f'"payload":{{"action":"merged","number":2}},"created_at":"{DAY}T00:00:00Z"}}'
    )
    (files / f"{DAY}-0.json.gz").write_bytes(gzip.compress(line.encode()))
    (files / f"{DAY}-1.json.gz").write_bytes(gzip.compress(line.encode())[:-9])
    (files / f"{DAY}-2.json.gz").write_bytes(b"no gzip" * 99)
    words = ("crawl", "--gharchive", f"{DAY}-0..{DAY}-3", "--json")
    miner("repos", "add", "demo/tally", "demo/ledger")
    with archive_site(files) as address:
        live = miner(*words, "--archive", address, "--record", "tape.jsonl")
    assert counts(live.out)["repositories_changed"] == 1
    assert f"{DAY}-1: The gzip is cut off" in live.err
    assert f"{DAY}-2: The gzip is corrupt" in live.err
    assert f"{DAY}-3: {address[7:]}/{DAY}-3.json.gz does not exist." in live.err
    monkeypatch.setenv("MINER_DATA_DIR", str(tmp_path / "elsewhere"))
    miner("db", "upgrade")
    miner("repos", "add", "demo/tally", "demo/ledger")
    again = miner(*words, "--archive", address, "--replay", "tape.jsonl")
    assert (counts(again.out), again.err) == (counts(live.out), live.err)


def test_of_many_bad_hours_the_first_few_and_a_count_are_told(
    miner: Miner, db: Database, forge: Forge, tmp_path: Path
) -> None:
    miner("repos", "add", "demo/tally")
    answer = miner("crawl", "--gharchive", DAY, "--archive", str(tmp_path))
    assert answer.code == exits.WRONG_INPUT
    assert f"{DAY}-4: " in answer.err
    assert f"{DAY}-5: " not in answer.err
    assert f"and 19 more hours missing or broken, the last being {DAY}-23" in answer.err


def test_a_retry_is_told_with_its_reason_and_the_port(
    miner: Miner, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # and not listening: every connection is refused
        where = f"127.0.0.1:{held.getsockname()[1]}"
        monkeypatch.setenv("MINER_GITHUB_URL", f"http://{where}")
        monkeypatch.setenv("MINER_GITHUB_TOKENS", "ghp_verysecret")
        with stamina.set_testing(True, attempts=3, cap=True):
            answer = miner("crawl", "--repo", "o/r")
    assert answer.code == exits.TRY_AGAIN
    told = [line for line in answer.err.splitlines() if "WARNING" in line]
    assert ["Attempt 2 follows in 0.0 s." in told[0], "Attempt 3 follows" in told[1]] == [True] * 2
    assert all(f"{where}/repos/o/r cannot be reached" in line for line in told)
    assert "stamina" not in answer.err
    assert "ghp_verysecret" not in answer.err


@contextmanager
def archive_site(folder: Path) -> Iterator[str]:
    """A site that serves the folder's files; its address."""
    handler = partial(QuietHandler, directory=str(folder))
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as server:
        yield f"http://127.0.0.1:{server.server_port}"


class QuietHandler(SimpleHTTPRequestHandler):
    """Says nothing on stderr."""

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--record", "a", "--replay", "b"), "either recorded or replayed"),
        (("--replay", "missing"), "missing cannot be read"),
        (("--gharchive", "2999-01-01"), "reaches into the future"),
        (("--gharchive", "2024-05-02..2024-05-01"), "runs backwards"),
    ],
)
def test_bad_options_are_told(
    miner: Miner, db: Database, forge: Forge, options: tuple[str, ...], sentence: str
) -> None:
    answer = miner("crawl", "--repo", "demo/tally", *options)
    assert answer.code == exits.WRONG_INPUT
    assert sentence in answer.err


def test_only_what_the_archive_hints_at_is_crawled(
    miner: Miner, db: Database, forge: Forge, tmp_path: Path
) -> None:
    def event(repo: str, number: int) -> str:
        return json.dumps(
            {
                "type": "PullRequestEvent",
                "repo": {"id": 1, "name": repo},
                "payload": {"action": "merged", "number": number},
                "created_at": f"{DAY}T00:00:00Z",
            },
            separators=(",", ":"),
        )

    lines = [event("demo/ledger", 2), event("else/where", 3), event("else/where", 4)]
    archive = tmp_path / "archive"
    archive.mkdir()
    (archive / f"{DAY}-0.json.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    (archive / f"{DAY}-1.json.gz").write_bytes(b"no gzip")
    miner("repos", "add", "demo/tally", "demo/ledger")
    hours = f"{DAY}-0..{DAY}-1"
    answer = miner("crawl", "--gharchive", hours, "--archive", str(archive), "--json")
    assert answer.code == exits.OK
    assert counts(answer.out)["repositories_changed"] == 1
    assert f"{DAY}-1: The gzip is corrupt" in answer.err
    assert "else/where 2" in answer.err
    miner("repos", "remove", "demo/ledger")
    nothing = miner("crawl", "--gharchive", hours, "--archive", str(archive))
    assert (nothing.code, nothing.out[:16]) == (exits.OK, "nothing to crawl")
    nothing = miner("crawl", "--gharchive", hours, "--archive", str(archive), "--json")
    assert (nothing.code, json.loads(nothing.out)["done"]) == (exits.OK, 0)


def test_an_archive_of_which_nothing_can_be_read_is_told(
    miner: Miner, db: Database, forge: Forge, tmp_path: Path
) -> None:
    miner("repos", "add", "demo/tally")
    (tmp_path / f"{DAY}-1.json.gz").write_bytes(b"no gzip")
    hours = f"{DAY}-0..{DAY}-2"
    wrong = miner("crawl", "--gharchive", hours, "--archive", str(tmp_path))
    assert wrong.code == exits.WRONG_INPUT
    assert "No hour of GH Archive could be read" in wrong.err
    assert f"{DAY}-0" in wrong.err
    away = miner("crawl", "--gharchive", hours, "--archive", "http://127.0.0.1:9", "--dry-run")
    assert away.code == exits.TRY_AGAIN
    assert "No hour of GH Archive could be read" in away.err
    assert away.out == ""


def test_a_report_of_what_was_not_finished_is_kept_once(
    miner: Miner, db: Database, forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINER_ENGINE", "unix:///nowhere/engine.sock")
    miner("repos", "add", "demo/none", "demo/nothing")
    assert miner("crawl").code == exits.TRY_AGAIN
    assert [report.retried for report in db.admin.reports(stage=Stage.CRAWL)] == [2]
    assert miner("nightly").code == exits.TRY_AGAIN
    assert [report.retried for report in db.admin.reports(stage=Stage.CRAWL)] == [2, 2]


def test_status_tells_each_tokens_budgets(miner: Miner, db: Database, forge: Forge) -> None:
    told = json.loads(miner("status", "--json").out)
    assert {b["resource"] for b in told["budgets"]} == {"core", "graphql", "search"}
    assert told["budgets_trouble"] is None
    assert "API budgets" in miner("status").out


def test_status_without_tokens_asks_nobody(miner: Miner, db: Database) -> None:
    told = json.loads(miner("status", "--json").out)
    assert (told["budgets"], told["budgets_trouble"]) == ([], None)


@pytest.mark.parametrize(
    ("apps", "sentence"),
    [
        ("123", "APP_ID:INSTALLATION_ID:KEY_FILE"),
        ("123:abc:key.pem", "APP_ID:INSTALLATION_ID:KEY_FILE"),
        ("123:456:missing.pem", "key file missing.pem cannot be read"),
    ],
)
def test_a_bad_app_is_told(
    miner: Miner, db: Database, monkeypatch: pytest.MonkeyPatch, apps: str, sentence: str
) -> None:
    monkeypatch.setenv("MINER_GITHUB_APPS", apps)
    answer = miner("crawl", "--repo", "o/r")
    assert answer.code == exits.WRONG_INPUT
    assert sentence in answer.err


def test_nothing_found_says_what_was_looked_for(miner: Miner, db: Database, forge: Forge) -> None:
    answer = miner("repos", "discover")  # the made repositories have few stars
    assert answer.code == exits.OK
    assert "no Python repository with 100 stars or more was pushed to since" in answer.out
    assert json.loads(miner("repos", "discover", "--json").out) == []


def test_a_licence_that_will_do_can_be_named(miner: Miner, db: Database, forge: Forge) -> None:
    words = ("repos", "discover", "--min-stars", "5", "--active-days", "9999", "--json")
    (found,) = json.loads(miner(*words, "--license", "GPL-3.0", "--license", "0BSD").out)
    assert (found["wanted"], found["reason"]) == (False, "its licence is MIT")
    (left_out,) = db.admin.left_out()
    assert (left_out.name, left_out.reason) == ("demo/tally", "its licence is MIT")
    (found,) = json.loads(miner(*words, "--license", "mit").out)
    assert found["wanted"]
    answer = miner(*words, "--license", "no licence")
    assert (answer.code, "SPDX" in answer.err) == (exits.WRONG_INPUT, True)


def test_more_than_a_search_shows_is_found_in_windows(
    miner: Miner, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(many(1100)) as forge:
        monkeypatch.setenv("MINER_GITHUB_URL", forge.base_url)
        monkeypatch.setenv("MINER_GITHUB_TOKENS", forge.token)
        words = ("repos", "discover", "--min-stars", "0", "--active-days", "9999", "--json")
        found = json.loads(miner(*words).out)
    assert len({each["name"] for each in found}) == len(found) == 1100
    assert len(db.admin.watches()) == 1100


def test_found_repositories_are_watched_or_left_out_with_the_reason(
    miner: Miner, db: Database, forge: Forge
) -> None:
    words = ("repos", "discover", "--min-stars", "5", "--active-days", "9999", "--json")
    assert json.loads(miner(*words, "--dry-run").out)
    assert db.admin.watches() == ()
    found = {f["name"]: f["wanted"] for f in json.loads(miner(*words).out)}
    assert found == {"demo/tally": True}
    assert [(w.name, "12 stars" in str(w.reason)) for w in db.admin.watches()] == [
        ("demo/tally", True)
    ]
    db.admin.leave_out("o/fork", reason="it is a fork")
    assert "it is a fork" in miner("repos", "list", "--left-out").out
    assert "it is a fork" not in miner("repos", "list").out
    stricter = ("repos", "discover", "--min-stars", "1", "--active-days", "9999")
    miner(*stricter, "--language", "Shell")
    assert [w.name for w in db.admin.watches()] == ["demo/tally"]
