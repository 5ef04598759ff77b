"""What can be wrong: one sentence, the documented exit code, nothing lost. No containers needed."""

import sqlite3
from collections.abc import Callable

import pytest

from miner.demo import Forge
from tests.e2e.conftest import Machine

pytestmark = pytest.mark.timeout(120)
At = Callable[[Forge], Machine]


def told(machine: Machine, *words: str, **settings: str) -> tuple[int, str]:
    """Exit code and the one sentence."""
    from dataclasses import replace  # noqa: PLC0415 – used once

    ended = replace(machine, env={**machine.env, **settings}).run(*words)
    lines = [line for line in ended.err.splitlines() if line.startswith("miner: ")]
    assert "Traceback" not in ended.err
    assert len(lines) == 1, ended.err
    return ended.code, lines[0]


def test_an_unknown_repository_is_told_with_the_closest_name(made: Forge, at: At) -> None:
    code, sentence = told(at(made), "crawl", "--repo", "demo/taly")
    assert code == 2
    assert "demo/tally" in sentence


def test_a_wrong_token_is_told_without_the_token(made: Forge, at: At) -> None:
    secret = "ghp_" + "w" * 36
    code, sentence = told(at(made), "crawl", "--repo", "demo/tally", GITHUB_TOKEN=secret)
    assert code == 2
    assert "token" in sentence
    assert secret not in sentence


def test_no_token_is_told(made: Forge, at: At) -> None:
    code, sentence = told(at(made), "crawl", "--repo", "demo/tally", GITHUB_TOKEN="")
    assert code == 2
    assert "GITHUB_TOKEN" in sentence


def test_a_database_of_a_newer_version_is_left_alone(made: Forge, at: At) -> None:
    machine = at(made)
    with sqlite3.connect(machine.database) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    before = machine.database.read_bytes()
    for words in (("funnel",), ("db", "upgrade"), ("crawl",)):
        code, sentence = told(machine, *words)
        assert code == 70
        assert "newer" in sentence
    assert machine.database.read_bytes() == before


def test_no_engine_is_told_and_nothing_is_lost(made: Forge, at: At) -> None:
    machine = at(made)
    assert machine.run("crawl", "--repo", "demo/ledger").code == 0
    assert machine.run("split").code == 0
    code, sentence = told(machine, "verify", MINER_ENGINE="unix:///nowhere.sock")
    assert code == 75
    assert "engine" in sentence
    assert '"waiting to be verified": 1' in machine.run("funnel", "--json").out


def test_the_token_is_in_no_file(made: Forge, at: At) -> None:
    machine = at(made)
    assert machine.run("crawl", "--repo", "demo/tally", "--debug").code == 0
    held = [
        path
        for path in machine.folder.rglob("*")
        if path.is_file() and made.token.encode() in path.read_bytes()
    ]
    assert held == []


def test_crawling_twice_changes_nothing(made: Forge, at: At) -> None:
    machine = at(made)
    machine.run("crawl", "--repo", "demo/tally")
    machine.run("split")
    before = machine.run("funnel", "--json").out
    assert machine.run("crawl", "--repo", "demo/tally").code == 0
    assert machine.run("split").code == 0
    assert machine.run("funnel", "--json").out == before
