"""The whole demo: every instance, rejection and grade; and a second time."""

import json
import sqlite3

import pytest

from miner.cli.demo import SNAPSHOT
from miner.cli.differences import OPTIONAL, expected_gates
from miner.demo.expected import ExpectedInstance, expected
from tests.e2e.conftest import DEMO_S, Demo, Machine

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.timeout(DEMO_S + 60)]

WANTED = expected()
MUST = [want for want in WANTED.instances if want.kind != OPTIONAL]
GATES = expected_gates(WANTED)
EXPORT = f"{SNAPSHOT}.jsonl"
PASSING = ("leases", "passes", "stage_reports")
"""Tables that say what went on, not what is."""


def rows(demo: Demo) -> dict[str, dict[str, object]]:
    """The exported rows by id."""
    lines = (demo.inside.folder / EXPORT).read_text("ascii").splitlines()
    return {row["instance_id"]: row for row in map(json.loads, lines)}


def counts(machine: Machine) -> dict[str, int]:
    """Table → rows."""
    connection = sqlite3.connect(machine.database)
    try:
        names = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
        ]
        return {
            name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]  # noqa: S608
            for name in names
            if name not in PASSING and not name.startswith("sqlite_")
        }
    finally:
        connection.close()


def test_it_ends_well(demo: Demo) -> None:
    assert demo.ended.code == 0, demo.ended.out + demo.ended.err[-4000:]
    assert "everything is as it must be" in demo.ended.out
    assert "policy quick: every run 2 times, no probes" in demo.ended.out


@pytest.mark.parametrize("want", MUST, ids=lambda want: want.instance_id)
def test_an_instance_has_exactly_the_expected_tests(demo: Demo, want: ExpectedInstance) -> None:
    row = rows(demo)[want.instance_id]
    assert row["FAIL_TO_PASS"] == sorted(want.fail_to_pass)


def test_nothing_else_is_published(demo: Demo) -> None:
    assert set(rows(demo)) - {want.instance_id for want in WANTED.instances} == set()


@pytest.mark.parametrize(("name", "gate"), GATES.items())
def test_a_rejected_pull_carries_its_reason(demo: Demo, name: str, gate: str) -> None:
    shown = json.loads(demo.inside.run("show", name, "--json").out)
    assert shown["is_instance"] is False
    assert [rejection["gate"] for rejection in shown["rejections"]] == [gate]


def test_the_edge_is_marked(demo: Demo) -> None:
    (edge,) = [want.instance_id for want in WANTED.instances if want.kind == "edge"]
    meta = rows(demo)[edge]["meta"]
    assert isinstance(meta, dict)
    assert meta["flags"] == ["wording"]


def test_gold_resolves_all_and_empty_nothing(demo: Demo) -> None:
    total = len(rows(demo))
    gold = demo.inside.run("evaluate", EXPORT, "--gold", "--results", "gold.json")
    assert gold.code == 0
    assert f"gold: {total} of {total} resolved, 100.0 %" in gold.out
    graded = json.loads((demo.inside.folder / "gold.json").read_text())
    assert {grade["state"] for grade in graded["grades"]} == {"resolved"}
    empty = demo.inside.run("evaluate", EXPORT, "--empty")
    assert empty.code == 0
    assert f"empty: 0 of {total} resolved, 0.0 %" in empty.out


def test_a_second_run_changes_nothing(demo: Demo) -> None:
    before, exported = counts(demo.inside), (demo.inside.folder / EXPORT).read_bytes()
    again = demo.home.run("demo", timeout_s=DEMO_S)
    assert again.code == 0
    assert counts(demo.inside) == before
    assert (demo.inside.folder / EXPORT).read_bytes() == exported
    assert "verify 1/" not in again.err
    assert "split 1:" not in again.err


def test_predictions_that_are_malformed_are_told(demo: Demo) -> None:
    (demo.inside.folder / "bad.jsonl").write_text('{"instance_id": 3}\n')
    ended = demo.inside.run("evaluate", EXPORT, "--predictions", "bad.jsonl")
    assert ended.code == 2
    assert "bad.jsonl:1: instance_id" in ended.err


def test_the_snapshot_is_younger_than_its_pulls(demo: Demo) -> None:
    assert max(str(row["merged_at"]) for row in rows(demo).values()) < SNAPSHOT


def test_no_exported_row_names_this_machine(demo: Demo) -> None:
    text = (demo.inside.folder / EXPORT).read_text("ascii")
    assert (
        "ca-certificates.crt" not in text
    )  # the bundle's usual path; Debian's package may be there
    assert str(demo.home.folder) not in text
    assert "127.0.0.1" not in text
