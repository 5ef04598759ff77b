"""The crawl's store: versions of pulls, watermarks that never go back, the watch list."""

from dataclasses import replace
from datetime import UTC, datetime

from miner.model import EVER, Depth, Place, Stage
from miner.store import Database
from tests.miner.store.samples import NOW, POLICY, later, pull, rejection, repo


def test_the_watch_list_is_its_history(database: Database) -> None:
    assert database.admin.watch("b/b", reason="asked")
    assert database.admin.watch("a/a")
    assert not database.admin.watch("B/b")
    assert database.admin.unwatch("b/B")
    assert not database.admin.unwatch("b/b")
    assert database.crawl.watched() == ("a/a",)
    assert database.admin.watch("b/b", reason="again")
    assert database.crawl.watched() == ("a/a", "b/b")
    assert [watch.reason for watch in database.admin.watches()] == [None, "again"]


def test_a_pull_comes_back_byte_for_byte(database: Database) -> None:
    database.crawl.save_repo(repo(), now=NOW)
    database.crawl.save_pulls([(pull(), b"{\xff}")])
    assert database.split.due_pulls(policy=POLICY, limit=1, repo=None) == (pull(),)
    assert database.crawl.stored_pulls(repo(), ["raw-7-1", "raw-7-2"]) == {(7, "raw-7-1")}


def test_the_same_version_is_stored_once_and_the_newest_counts(database: Database) -> None:
    database.crawl.save_repo(repo(), now=NOW)
    for _ in range(2):
        database.crawl.save_pulls([(pull(), b"1")])
    newer = pull(title="Better", raw_digest="raw-7-2")
    database.crawl.save_pulls([(newer, b"2")])
    assert database.split.due_pulls(policy=POLICY, limit=9, repo=None) == (newer,)
    assert database.admin.status().pulls == 2
    assert database.admin.funnel().pulls == 1


def test_a_renamed_repository_keeps_its_rows(database: Database) -> None:
    database.crawl.save_repo(repo(), now=NOW)
    database.crawl.save_pulls([(pull(), b"1")])
    renamed = repo(name="new/name")
    database.crawl.save_repo(renamed, now=NOW)
    database.crawl.save_repo(renamed, now=NOW)
    assert database.crawl.stored_pulls(renamed, ["raw-7-1"]) == {(7, "raw-7-1")}
    assert database.crawl.known("new/name") == renamed
    for name in ("o/r", "New/Name"):
        assert len(database.split.due_pulls(policy=POLICY, limit=9, repo=name)) == 1
    assert database.split.due_pulls(policy=POLICY, limit=9, repo="o/other") == ()


def test_a_place_is_kept_until_the_crawl_is_complete(database: Database) -> None:
    crawl = database.crawl
    assert crawl.place(repo()) is None
    for after, moment in (("first", NOW), ("second", later(days=1))):
        place = Place(after=after, newest=moment)
        crawl.reach(repo(), place, now=NOW)
        assert crawl.place(repo()) == place
        assert crawl.place(replace(repo(), database_id=99)) is None
    crawl.advance(repo(), watermark=NOW, etag=None, now=NOW)
    assert crawl.place(repo()) is None


def test_a_watermark_never_goes_back(database: Database) -> None:
    assert database.crawl.watermark(repo()) is None
    assert database.crawl.etag(repo()) is None
    database.crawl.advance(repo(), watermark=NOW, etag="1", now=NOW)
    database.crawl.advance(repo(), watermark=datetime(2020, 1, 1, tzinfo=UTC), etag="2", now=NOW)
    assert (database.crawl.watermark(repo()), database.crawl.etag(repo())) == (NOW, "2")
    database.crawl.advance(repo(), watermark=None, etag="3", now=NOW)
    assert (database.crawl.watermark(repo()), database.crawl.etag(repo())) == (NOW, "3")
    database.crawl.advance(repo(), watermark=later(days=1), etag="3", now=NOW)
    assert database.crawl.watermark(repo()) == later(days=1)


def test_how_far_back_a_repository_is_read_is_kept(database: Database) -> None:
    crawl = database.crawl
    assert crawl.depth(repo()) == Depth()
    first = Depth(back_to=NOW, after="a")
    crawl.advance(repo(), watermark=NOW, etag="1", depth=first, now=NOW)
    assert crawl.depth(repo()) == first
    crawl.reach(repo(), Place(after="p", newest=NOW), now=NOW)
    further = Depth(back_to=NOW, after="b")
    crawl.deepen(repo(), further, now=NOW)
    assert (crawl.watermark(repo()), crawl.etag(repo())) == (NOW, "1")
    assert crawl.place(repo()) is not None
    crawl.advance(repo(), watermark=later(days=1), etag="2", now=NOW)
    assert crawl.depth(repo()) == further
    crawl.advance(repo(), watermark=None, etag="2", depth=Depth(back_to=EVER), now=NOW)
    assert crawl.depth(repo()) == Depth(back_to=EVER)
    assert crawl.watermark(repo()) == later(days=1)
    assert crawl.depth(replace(repo(), database_id=99)) == Depth()
    for shallow in (Depth(back_to=NOW, after="c"), Depth(after="c")):  # of a crawl begun before
        crawl.advance(repo(), watermark=None, etag="2", depth=shallow, now=NOW)
        crawl.deepen(repo(), shallow, now=NOW)
        assert crawl.depth(repo()) == Depth(back_to=EVER)


def test_failures_are_seen_in_the_status(database: Database) -> None:
    database.crawl.record_failure("o/r", error="The source is gone.", now=NOW)
    assert database.admin.status().failures == ((NOW, "o/r", "The source is gone."),)


def test_a_repository_is_known_by_its_present_then_by_a_former_name(database: Database) -> None:
    assert database.crawl.known("o/r") is None
    database.crawl.save_repo(repo(), now=NOW)
    renamed = repo(name="new/name")
    database.crawl.save_repo(renamed, now=NOW)
    assert database.crawl.known("NEW/name") == renamed
    assert database.crawl.known("o/r") == renamed
    successor = repo(database_id=12)
    database.crawl.save_repo(successor, now=NOW)
    assert database.crawl.known("o/r") == successor


def test_a_rejected_payload_is_kept_once(database: Database) -> None:
    refused = rejection(5, "malformed_payload", stage=Stage.CRAWL)
    for _ in range(2):
        database.crawl.reject(refused, raw=b"{bad")
    found = database.admin.evidence("o__r-5")
    assert found is not None
    assert [each.gate for each in found.rejections] == ["malformed_payload"]


def test_what_could_not_be_read_is_in_the_funnel_until_it_can(database: Database) -> None:
    database.crawl.save_repo(repo(), now=NOW)
    for number, raw in ((7, b"{"), (7, b"{}"), (8, b"{")):
        refused = rejection(number, "malformed_payload", stage=Stage.CRAWL)
        database.crawl.reject(refused, raw=raw)
    funnel = database.admin.funnel
    assert funnel().crawl_rejections == {"malformed_payload": 2}
    assert funnel(repo="O/r").crawl_rejections == {"malformed_payload": 2}
    assert funnel(repo="x/y").crawl_rejections == {}
    database.crawl.save_pulls([(pull(7), b"{}")])
    assert funnel().crawl_rejections == {"malformed_payload": 1}
    assert funnel().pulls == 1


def test_stars_alone_make_a_row_once_a_week(database: Database) -> None:
    database.crawl.save_repo(repo(stars=1), now=NOW)
    database.crawl.save_repo(repo(stars=2, languages=(("Python", 9),)), now=later(days=6))
    assert database.crawl.known("o/r") == repo(stars=1)
    database.crawl.save_repo(repo(stars=2, license=None), now=later(days=6))
    assert database.crawl.known("o/r") == repo(stars=2, license=None)
    database.crawl.save_repo(repo(stars=3, license=None), now=later(days=13))
    assert database.crawl.known("o/r") == repo(stars=3, license=None)


def test_a_found_repository_may_be_left_out_with_its_reason(database: Database) -> None:
    admin = database.admin
    assert admin.leave_out("o/fork", reason="it is a fork")
    assert not admin.leave_out("O/fork", reason="it is a fork")
    assert admin.leave_out("o/fork", reason="its licence is not known")
    admin.watch("o/mine", reason="asked")
    assert not admin.leave_out("o/mine", reason="it is a fork")  # a person wants it
    assert [(w.name, w.reason) for w in admin.left_out()] == [
        ("o/fork", "its licence is not known")
    ]
    assert [w.name for w in admin.watches()] == ["o/mine"]
    admin.watch("o/fork")
    assert admin.left_out() == ()
