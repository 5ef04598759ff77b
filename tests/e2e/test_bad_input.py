"""What can be wrong: one sentence, the documented exit code, nothing lost. No containers needed."""

import sqlite3

import pytest

from miner.demo import Forge
from tests.e2e.conftest import Miner


def told(miner: Miner, *words: str) -> tuple[int, str]:
    """Exit code and the one sentence."""
    ended = miner.run(*words)
    lines = [line for line in ended.err.splitlines() if line.startswith("miner: ")]
    assert "Traceback" not in ended.err
    assert len(lines) == 1, ended.err
    return ended.code, lines[0]


def test_an_unknown_repository_is_told_with_the_closest_name(miner: Miner) -> None:
    code, sentence = told(miner, "crawl", "--repo", "demo/taly")
    assert code == 2
    assert "demo/tally" in sentence


def test_a_wrong_token_is_told_without_the_token(miner: Miner) -> None:
    secret = "ghp_" + "w" * 36
    miner.set(GITHUB_TOKEN=secret)
    code, sentence = told(miner, "crawl", "--repo", "demo/tally")
    assert code == 2
    assert "token" in sentence
    assert secret not in sentence


def test_no_token_is_told(miner: Miner) -> None:
    miner.set(GITHUB_TOKEN="")
    code, sentence = told(miner, "crawl", "--repo", "demo/tally")
    assert code == 2
    assert "GITHUB_TOKEN" in sentence


@pytest.mark.parametrize("words", [("funnel",), ("db", "upgrade"), ("crawl",)])
def test_a_database_of_a_newer_version_is_left_alone(miner: Miner, words: tuple[str, ...]) -> None:
    connection = sqlite3.connect(miner.database)
    with connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    before = miner.database.read_bytes()
    code, sentence = told(miner, *words)
    assert code == 70
    assert "newer" in sentence
    assert miner.database.read_bytes() == before


def test_no_engine_is_told_and_nothing_is_lost(miner: Miner) -> None:
    assert miner.run("crawl", "--repo", "demo/ledger").code == 0
    assert miner.run("split").code == 0
    miner.set(MINER_ENGINE="unix:///nowhere.sock")
    code, sentence = told(miner, "verify")
    assert code == 75
    assert "engine" in sentence
    assert '"never verified": 1' in miner.run("funnel", "--json").out


def test_the_token_is_in_no_file_and_no_log(miner: Miner, made: Forge) -> None:
    ended = miner.run("crawl", "--repo", "demo/tally", "--debug")
    assert ended.code == 0
    assert made.token not in ended.out + ended.err
    held = [
        path
        for path in miner.folder.rglob("*")
        if path.is_file() and made.token.encode() in path.read_bytes()
    ]
    assert held == []


def test_crawling_and_splitting_twice_changes_nothing(miner: Miner) -> None:
    miner.run("crawl", "--repo", "demo/tally")
    miner.run("split")
    before = miner.run("funnel", "--json").out
    assert miner.run("crawl", "--repo", "demo/tally").code == 0
    assert miner.run("split").code == 0
    assert miner.run("funnel", "--json").out == before


def test_a_dry_run_tells_what_is_due_and_does_nothing(miner: Miner) -> None:
    miner.run("repos", "add", "demo/tally")
    assert "demo/tally" in miner.run("crawl", "--dry-run").out
    assert '"pulls seen": 0' in miner.run("funnel", "--json").out
    miner.run("crawl")
    assert miner.run("split", "--dry-run").out.count("demo/tally") == 5
    assert '"waiting to be split": 5' in miner.run("funnel", "--json").out
