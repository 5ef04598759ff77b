"""Publishing: frozen, the same twice, refused when other; nothing to publish is told."""

import hashlib
from datetime import timedelta
from pathlib import Path

import pytest

from miner.errors import ConfigError, SnapshotFrozenError
from miner.model import Instance, Snapshot
from miner.publish.formats import jsonl
from miner.publish.stage import plan, publish, read_rows
from miner.store import Database
from tests.fakes.progress import SilentProgress
from tests.miner.store.samples import NOW
from tests.miner.verified import add_instances, candidate

NAME = "2026-11-29"


def dockerfile(instance: Instance) -> str:
    return f"FROM python:{instance.environment.recipe.python}-slim\n"


def freeze(database: Database, name: str = NAME, *, days: int = 0) -> Snapshot:
    return publish(
        database.publish, name=name, window=(None, None), dockerfile=dockerfile,
        now=NOW + timedelta(days=days), progress=SilentProgress(),
    )  # fmt: skip


def test_all_instances_are_frozen_with_their_rows(database: Database) -> None:
    add_instances(database, candidate(1), candidate(2))
    snapshot = freeze(database)
    assert [member.instance_id for member in snapshot.members] == ["o__r-1", "o__r-2"]
    rows = read_rows(database.publish, NAME)
    assert [row.snapshot for row in rows] == [NAME, NAME]
    assert rows[0].dockerfile == "FROM python:3.12-slim\n"


def test_the_same_content_again_changes_nothing(database: Database) -> None:
    add_instances(database, candidate(1))
    assert freeze(database) == freeze(database, days=1)
    assert len(database.publish.snapshots()) == 1


def test_other_content_under_the_same_name_is_refused(database: Database) -> None:
    add_instances(database, candidate(1))
    before = freeze(database)
    add_instances(database, candidate(2))
    with pytest.raises(SnapshotFrozenError, match=NAME):
        freeze(database)
    assert database.publish.snapshot(NAME) == before
    assert len(freeze(database, f"{NAME}-b").members) == 2


def test_what_is_left_out_is_kept_with_its_reason(database: Database) -> None:
    add_instances(database, candidate(1), candidate(2, patch_hash="h1"))
    add_instances(database, candidate(3, issue_numbers=(1001,)))
    assert freeze(database).excluded == (
        ("o__r-2", "same patch as o__r-1"),
        ("o__r-3", "same issue as o__r-1"),
    )
    funnel = database.admin.funnel(repo="o/r")
    assert dict(funnel.left_out) == {"same issue": 1, "same patch": 1}
    assert (funnel.instances, funnel.published) == (3, 1)
    assert database.admin.funnel(repo="o/other").left_out == {}


def test_what_no_row_can_hold_keeps_nothing_else_from_being_published(database: Database) -> None:
    add_instances(
        database,
        candidate(1),
        candidate(2, problem_statement=""),
        candidate(3, problem_statement="\ud800 " * 20),
    )
    snapshot = freeze(database)
    assert [member.instance_id for member in snapshot.members] == ["o__r-1"]
    assert [(name, why.partition(": ")[0]) for name, why in snapshot.excluded] == [
        ("o__r-2", "no row can hold it"),
        ("o__r-3", "no row can hold it"),
    ]
    assert "problem_statement" in snapshot.excluded[0][1]
    assert dict(database.admin.funnel().left_out) == {"no row can hold it": 2}


def test_a_copy_of_an_older_fix_is_no_news(database: Database) -> None:
    day = candidate(1).merged_at.date()
    late = {"merged_at": candidate(1).merged_at + timedelta(days=40)}
    add_instances(
        database, candidate(1), candidate(2, patch_hash="h1", **late), candidate(3, **late)
    )
    snapshot, _ = plan(
        database.publish,
        name=NAME,
        window=(day + timedelta(days=9), None),
        dockerfile=dockerfile,
        now=NOW,
    )
    assert [member.instance_id for member in snapshot.members] == ["o__r-3"]
    assert snapshot.excluded == (("o__r-2", "same patch as o__r-1"),)


def test_a_plan_freezes_nothing(database: Database) -> None:
    add_instances(database, candidate(1))
    drawn, _ = plan(
        database.publish, name=NAME, window=(None, None), dockerfile=dockerfile, now=NOW
    )
    assert database.publish.snapshots() == ()
    assert drawn.content_hash == freeze(database).content_hash


def test_the_hash_is_that_of_the_exported_file(database: Database, tmp_path: Path) -> None:
    add_instances(database, candidate(1), candidate(2))
    snapshot = freeze(database)
    jsonl.write(read_rows(database.publish, NAME), tmp_path / "all.jsonl")
    exported = (tmp_path / "all.jsonl").read_bytes()
    assert hashlib.sha256(exported).hexdigest() == snapshot.content_hash


def test_nothing_to_publish_is_told(database: Database) -> None:
    with pytest.raises(ConfigError, match="no verified instance"):
        freeze(database)


@pytest.mark.parametrize("name", ["latest", "2026-11-29/../x"])
def test_a_bad_name_is_told(database: Database, name: str) -> None:
    with pytest.raises(ConfigError, match="is no snapshot name"):
        freeze(database, name)


def test_an_unknown_snapshot_is_told_with_the_known_ones(database: Database) -> None:
    with pytest.raises(ConfigError, match="makes the first"):
        read_rows(database.publish, NAME)
    add_instances(database, candidate(1))
    freeze(database)
    with pytest.raises(ConfigError, match=f"published are: {NAME}"):
        read_rows(database.publish, "2020-01-01")
