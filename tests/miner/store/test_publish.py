"""Assess and publish: newest instances, signals, frozen snapshots."""

from dataclasses import replace

import pytest

from miner.errors import ConfigError, FatalError, SnapshotFrozenError
from miner.model import Member, Signal, Snapshot, Split
from miner.store import Database
from tests.miner.store.samples import NOW, accepted, refused, repo, with_candidates

ME = "m/1/1/me"
SNAPSHOT = Snapshot(
    name="2026-11-29",
    members=(
        Member(instance_id="o__r-2", split=Split.TEST),
        Member(instance_id="o__r-1", split=Split.TRAIN),
    ),
    content_hash="h1",
    created_at=NOW,
    window=(NOW.date(), None),
    excluded=(("o__r-3", "flaky"),),
)
ROWS = {"o__r-2": '{"a": "\udc80é"}', "o__r-1": "{}"}


@pytest.fixture
def verified(database: Database) -> Database:
    """Two instances, o__r-1 and o__r-2, merged on 27 November 2026."""
    for one in with_candidates(database, 1, 2):
        database.verify.claim(holder=ME, version=1, policy="quick", limit=9, repo=None, now=NOW)
        database.verify.save_examined(accepted(one), holder=ME, now=NOW)
    return database


def refuse_again(database: Database) -> None:
    """Both instances are examined once more, and are none any more."""
    for number in (1, 2):
        database.admin.request("verify", f"o__r-{number}", author=None, reason="test")
    due = database.verify.claim(holder=ME, version=1, policy="quick", limit=9, repo=None, now=NOW)
    for one in due:
        assert database.verify.save_examined(refused(one), holder=ME, now=NOW)


def size(instance_id: str, value: str, *, version: int = 1) -> Signal:
    """A signal."""
    return Signal(instance_id=instance_id, name="size", value=value, version=version)


def ids(database: Database, first: int | None = None, last: int | None = None) -> list[str]:
    """Instance ids with a merge date in November's days `first` to `last`."""
    window = tuple(None if day is None else NOW.date().replace(day=day) for day in (first, last))
    return [each.candidate.instance_id for each in database.publish.instances(window=window)]  # type: ignore[arg-type]  # two of them


def test_instances_are_sorted_and_the_window_includes_both_ends(verified: Database) -> None:
    assert ids(verified) == ["o__r-1", "o__r-2"]
    assert ids(verified, 27, 27) == ["o__r-1", "o__r-2"]
    assert ids(verified, 28, None) == []
    assert ids(verified, None, 26) == []


def test_an_instance_is_whole_but_for_its_runs(verified: Database) -> None:
    instance = verified.publish.instances(window=(None, None))[0]
    expected = accepted(instance.candidate).instance
    assert expected is not None
    assert instance == replace(expected, verdict=replace(expected.verdict, runs=()))


def test_a_buried_repository_publishes_nothing_until_it_is_back(verified: Database) -> None:
    for _ in range(2):
        verified.crawl.bury(repo(), reason="dmca", now=NOW)
    assert ids(verified) == []
    assert verified.publish.buried() == {"o/r": "dmca"}
    verified.crawl.save_repo(repo(), now=NOW)
    assert ids(verified) == ["o__r-1", "o__r-2"]
    assert verified.publish.buried() == {}


def test_former_names_of_a_buried_repository_are_buried_too(verified: Database) -> None:
    renamed = repo(name="o/new")
    verified.crawl.save_repo(renamed, now=NOW)
    verified.crawl.bury(renamed, reason="dmca", now=NOW)
    assert verified.publish.buried() == {"o/new": "dmca", "o/r": "dmca"}
    verified.crawl.save_repo(repo(database_id=12), now=NOW)  # another one took the old name
    assert verified.publish.buried() == {"o/new": "dmca"}


def test_the_images_of_instances_are_those_that_count_and_the_frozen_ones(
    verified: Database,
) -> None:
    image = verified.publish.instances(window=(None, None))[0].environment.image.digest
    assert verified.admin.instance_images() == {image}
    refuse_again(verified)
    assert verified.admin.instance_images() == frozenset()
    verified.publish.freeze(SNAPSHOT, rows=ROWS)
    assert verified.admin.instance_images() == {image}


def test_instances_without_the_signal_are_due_and_the_newest_version_counts(
    verified: Database,
) -> None:
    due = verified.assess.due_instances(signal="size", version=1, limit=1)
    assert [each.instance.candidate.instance_id for each in due] == ["o__r-1"]
    for version, value in ((2, '"new"'), (1, '"old"'), (1, '"again"')):
        verified.assess.save_signals([(due[0], size("o__r-1", value, version=version))])
    due = verified.assess.due_instances(signal="size", version=1, limit=9)
    assert [each.instance.candidate.instance_id for each in due] == ["o__r-2"]
    found = verified.publish.signals(("o__r-1", "o__r-2"))
    assert {name: dict(values) for name, values in found.items()} == {"o__r-1": {"size": '"new"'}}


def test_a_signal_stays_with_the_examination_that_was_measured(verified: Database) -> None:
    old, other = verified.assess.due_instances(signal="size", version=1, limit=2)
    for number in (1, 2):
        verified.admin.request("verify", f"o__r-{number}", author=None, reason="test")
    second, first = verified.verify.claim(  # the newest first
        holder=ME, version=1, policy="quick", limit=9, repo=None, now=NOW
    )
    verified.verify.save_examined(accepted(first), holder=ME, now=NOW)
    verified.verify.save_examined(refused(second), holder=ME, now=NOW)
    verified.assess.save_signals([(old, size("o__r-1", "1")), (other, size("o__r-2", "1"))])
    assert verified.publish.signals(("o__r-1", "o__r-2")) == {}
    (due,) = verified.assess.due_instances(signal="size", version=1, limit=9)
    assert (due.candidate_id, due.instance) == (old.candidate_id, old.instance)
    assert due.examination_id > old.examination_id


def test_a_snapshot_is_frozen(database: Database) -> None:
    database.publish.freeze(SNAPSHOT, rows=ROWS)
    database.publish.freeze(SNAPSHOT, rows=ROWS)
    assert database.publish.snapshot("2026-11-29") == SNAPSHOT
    assert list(database.publish.rows("2026-11-29").items()) == list(ROWS.items())
    with pytest.raises(SnapshotFrozenError, match="2026-11-29 is published"):
        database.publish.freeze(replace(SNAPSHOT, content_hash="h2"), rows=ROWS)
    assert database.publish.snapshots() == (SNAPSHOT,)


def test_snapshots_come_oldest_first(database: Database) -> None:
    newer = replace(SNAPSHOT, name="2026-12-01", supersedes="2026-11-29", window=(None, None))
    for snapshot in (SNAPSHOT, newer):
        database.publish.freeze(snapshot, rows=ROWS)
    assert database.publish.snapshots() == (SNAPSHOT, newer)


def test_members_without_rows_are_refused(database: Database) -> None:
    with pytest.raises(FatalError, match="do not fit"):
        database.publish.freeze(SNAPSHOT, rows={"o__r-1": "{}"})
    assert database.publish.snapshots() == ()


def test_an_unknown_snapshot_is_told(database: Database) -> None:
    assert database.publish.snapshot("no") is None
    with pytest.raises(ConfigError, match="no snapshot no"):
        database.publish.rows("no")
