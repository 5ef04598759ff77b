"""Verification's store: claims, fences, evidence."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import event

from miner.errors import FatalError
from miner.model import Candidate
from miner.store import Database
from miner.store.connection import Sql
from miner.store.sentences import LostError
from tests.miner.store.samples import (
    NOW,
    POLICY,
    accepted,
    candidate,
    damage,
    later,
    pull,
    refused,
    rejection,
    with_candidates,
)
from validators.model import Flaw, Recipe

ME = "other-machine/1/1/me"
YOU = "other-machine/2/1/you"


def claim(database: Database, holder: str = ME, **changes: object) -> tuple[Candidate, ...]:
    """Claim with defaults."""
    arguments: dict[str, object] = {
        "holder": holder,
        "version": 1,
        "policy": "quick",
        "limit": 10,
        "repo": None,
        "now": NOW,
    }
    return tuple(database.verify.claim(**(arguments | changes)))  # type: ignore[arg-type]  # as named


def test_claimed_candidates_come_back_whole_newest_merge_first(database: Database) -> None:
    first, second = with_candidates(database, 1, 2)
    assert claim(database) == (second, first)


def test_a_claim_is_exclusive(database: Database) -> None:
    with_candidates(database, 1, 2, 3)
    mine = claim(database, limit=2)
    yours = claim(database, YOU)
    assert len(mine) == 2
    assert len(yours) == 1
    assert not set(mine) & set(yours)


def test_only_the_named_repository_is_claimed(database: Database) -> None:
    with_candidates(database, 1)
    assert claim(database, repo="o/other") == ()
    assert len(claim(database, repo="O/R")) == 1


@contextmanager
def silent_at_first(url: str) -> Iterator[Database]:
    """A database whose first statement is given up after five minutes, and the next ones answer."""
    clock = [later(days=9)]  # not quite that of the machine that claims
    sql = Sql(url, clock=lambda: clock[0], pause=lambda _seconds: None)

    def fall_silent(*_: object) -> None:
        clock[0] += timedelta(seconds=301)
        raise LostError("The database cannot be reached.")

    event.listen(sql.engine, "before_cursor_execute", fall_silent, once=True)
    yield Database(sql)
    sql.close()


def test_a_lease_lives_however_long_its_claim_took(database: Database, url: str) -> None:
    (one,) = with_candidates(database, 1)
    with silent_at_first(url) as late:
        assert claim(late) == (one,)
    assert claim(database, YOU, now=later(seconds=302)) == ()
    assert database.verify.heartbeat(one, holder=ME, now=later(seconds=302))


def test_a_lock_lives_however_long_its_taking_took(database: Database, url: str) -> None:
    with silent_at_first(url) as late:
        assert late.admin.passes.lock("pass", holder=ME, now=NOW) is None
    assert database.admin.passes.lock("pass", holder=YOU, now=later(seconds=302)) == ME
    assert database.admin.passes.beat("pass", holder=ME, now=later(seconds=302))


def test_what_cannot_be_read_is_told_and_parked_and_keeps_no_other_from_its_lease(
    database: Database,
) -> None:
    one, two, three = with_candidates(database, 1, 2, 3)
    mend = damage(database, three)
    told: list[tuple[str, str]] = []

    def unread(name: str, error: FatalError) -> None:
        told.append((name, str(error)))

    assert claim(database, limit=1, unread=unread) == (two,)  # the next one in its place
    ((name, error),) = told
    assert name == three.instance_id
    assert "is damaged" in error
    assert claim(database, unread=unread) == (one,)
    assert len(told) == 1  # it waits
    for each in (one, two):
        assert database.verify.save_examined(refused(each), holder=ME, now=NOW)
    for days in range(1, 6):
        assert claim(database, now=later(days=days), unread=unread) == ()
    assert len(told) == 5
    (parked,) = database.admin.status().parked
    assert (parked.instance_id, parked.failures, parked.last_error) == (name, 5, error)
    mend()
    database.admin.request("verify", name, author="ann", reason="restored")
    assert claim(database, now=later(days=9)) == (three,)


def test_a_result_ends_the_work(database: Database) -> None:
    (one,) = with_candidates(database, 1)
    claim(database)
    assert database.verify.save_examined(accepted(one), holder=ME, now=later(minutes=1))
    assert claim(database, now=later(days=9)) == ()


def test_a_refusal_ends_the_work_too(database: Database) -> None:
    (one,) = with_candidates(database, 1)
    claim(database)
    assert database.verify.save_examined(refused(one), holder=ME, now=NOW)
    assert claim(database, now=later(days=9)) == ()


def test_a_newer_verifier_a_policy_a_recipe_and_a_request_make_due_again(
    database: Database,
) -> None:
    (one,) = with_candidates(database, 1)
    claim(database)
    database.verify.save_examined(accepted(one), holder=ME, now=NOW)
    assert claim(database) == ()
    assert claim(database, version=2) == (one,)
    database.verify.release(one, holder=ME, error=None, now=NOW)
    assert claim(database, policy="full") == (one,)
    database.verify.release(one, holder=ME, error=None, now=NOW)
    recipe = Recipe(language="python", python="3.9")
    database.admin.set_recipe("O/r", recipe, author="ann")
    assert claim(database) == (one,)
    database.verify.save_examined(accepted(one), holder=ME, now=NOW)
    assert claim(database) == ()
    database.admin.request("verify", one.instance_id, author="ann", reason="is it flaky?")
    assert claim(database) == (one,)
    database.verify.save_examined(refused(one, Flaw.FLAKY), holder=ME, now=NOW)
    assert claim(database) == ()


def test_a_new_comment_does_not_verify_again_but_a_new_patch_does(database: Database) -> None:
    (one,) = with_candidates(database, 1)
    claim(database)
    database.verify.save_examined(accepted(one), holder=ME, now=NOW)
    talked = replace(one, raw_digest="raw-1-2", hints_text="more")
    database.crawl.save_pulls([(pull(1, raw_digest="raw-1-2"), b"2")])
    database.split.save_split(pull(1, raw_digest="raw-1-2"), talked, policy=POLICY)
    assert claim(database) == ()
    (instance,) = database.publish.instances(window=(None, None))
    assert instance.candidate == talked
    patched = replace(one, raw_digest="raw-1-3", patch=b"other")
    database.crawl.save_pulls([(pull(1, raw_digest="raw-1-3"), b"3")])
    database.split.save_split(pull(1, raw_digest="raw-1-3"), patched, policy=POLICY)
    assert claim(database) == (patched,)
    assert database.publish.instances(window=(None, None)) == ()


def test_a_lease_that_ran_out_is_lost_and_its_result_refused(database: Database) -> None:
    (one,) = with_candidates(database, 1)
    claim(database)
    assert claim(database, YOU, now=later(seconds=200)) == ()
    assert claim(database, YOU, now=later(seconds=301)) == (one,)
    assert not database.verify.heartbeat(one, holder=ME, now=later(seconds=302))
    assert not database.verify.save_examined(accepted(one), holder=ME, now=later(seconds=302))
    assert database.admin.evidence("o__r-1").examinations == ()  # type: ignore[union-attr]  # there
    assert database.verify.save_examined(accepted(one), holder=YOU, now=later(seconds=303))


def test_a_late_holder_is_refused_even_when_nobody_took_over(database: Database) -> None:
    (one,) = with_candidates(database, 1)
    claim(database)
    assert not database.verify.save_examined(accepted(one), holder=ME, now=later(seconds=301))


def test_a_heartbeat_prolongs(database: Database) -> None:
    (one,) = with_candidates(database, 1)
    claim(database)
    assert database.verify.heartbeat(one, holder=ME, now=later(seconds=200))
    assert claim(database, YOU, now=later(seconds=400)) == ()
    assert database.verify.save_examined(accepted(one), holder=ME, now=later(seconds=450))


def test_failures_back_off_then_park_and_a_request_unparks(database: Database) -> None:
    (one,) = with_candidates(database, 1)
    now = NOW
    for wait_s in (0, 60, 240, 960, 0):
        assert claim(database, now=now) == (one,)
        database.verify.release(one, holder=ME, error="no engine", now=now)
        now += timedelta(seconds=wait_s)
        if wait_s:
            assert claim(database, now=now - timedelta(seconds=1)) == ()
    assert claim(database, now=later(days=30)) == ()
    told = database.admin.status().failures
    assert [(name, error) for _, name, error in told] == [("o__r-1", "no engine")] * 5
    assert told[0][0] > told[-1][0]
    (parked,) = database.admin.status().parked
    assert (parked.instance_id, parked.failures, parked.last_error) == ("o__r-1", 5, "no engine")
    database.admin.request("verify", "o__r-1", author="ann", reason="engine is back")
    assert claim(database, now=later(days=30)) == (one,)
    assert database.admin.status().parked == ()


def test_a_release_without_error_is_no_failure(database: Database) -> None:
    (one,) = with_candidates(database, 1)
    for _ in range(9):
        assert claim(database) == (one,)
        database.verify.release(one, holder=ME, error=None, now=NOW)
    assert database.admin.evidence("o__r-1").failures == ()  # type: ignore[union-attr]  # there


def test_evidence_comes_back_as_it_was(database: Database) -> None:
    (one,) = with_candidates(database, 1)
    claim(database)
    examined = accepted(one)
    database.verify.save_examined(examined, holder=ME, now=later(minutes=1))
    found = database.admin.evidence("o__r-1")
    assert found is not None
    assert found.is_instance
    assert found.candidate == one
    (stored,) = found.examinations
    assert stored.examination == examined.examination
    assert (stored.outcome, stored.policy, stored.version) == ("instance", "quick", 1)


def test_a_repaired_recipe_is_learned_once_and_people_win(database: Database) -> None:
    one, two = with_candidates(database, 1, 2)
    claim(database)
    for each in (one, two):
        database.verify.save_examined(accepted(each), holder=ME, now=NOW)
    (learned,) = database.verify.recipes("o/r")
    assert learned.author is None
    assert learned.recipe.lock == "pytest==8.2.0\n"
    assert (learned.environment_key, learned.base_image) == ("abc", "sha256:b")
    assert learned.base_commit == two.base_commit == one.base_commit
    mine = Recipe(language="python", python="3.8")
    database.admin.set_recipe("o/r", mine, author="ann")
    first, second = database.verify.recipes("o/r")
    assert (first.recipe, first.author) == (mine, "ann")
    assert second == learned


def test_a_candidate_that_is_rejected_now_is_not_claimed(database: Database) -> None:
    with_candidates(database, 1)
    reverting = pull(9, reverts=(1,), raw_digest="r9")
    database.crawl.save_pulls([(reverting, b"9")])
    due = database.split.due_pulls(policy=POLICY, limit=9, repo=None)
    assert {each.number for each in due} == {1, 9}
    assert database.split.reverted_by(pull(1)) == 9
    database.split.save_split(pull(1), rejection(1, "reverted"), policy=POLICY, reverted=True)
    assert claim(database) == ()


def test_unknown_evidence_is_none(database: Database) -> None:
    assert database.admin.evidence("o__r-1") is None
    assert candidate(1).instance_id == "o__r-1"


def test_people_come_first_then_new_work_then_revalidation(database: Database) -> None:
    one, two, three = with_candidates(database, 1, 2, 3)
    claim(database)
    for each in (one, two):
        database.verify.save_examined(accepted(each), holder=ME, now=NOW)
    database.verify.release(three, holder=ME, error=None, now=NOW)
    revalidate = database.admin.revalidate
    assert revalidate(examined_before=NOW, limit=9, reason="monthly") == 0
    assert revalidate(examined_before=later(days=1), limit=1, reason="monthly") == 1
    assert revalidate(examined_before=later(days=1), limit=9, reason="monthly") == 1
    assert revalidate(examined_before=later(days=1), limit=9, reason="monthly") == 0
    database.admin.request("verify", two.instance_id, author="ann", reason="doubt")
    assert database.admin.status().open_requests == 3
    assert claim(database, now=later(days=2)) == (two, three, one)
    for each in (one, two, three):
        database.verify.save_examined(accepted(each), holder=ME, now=later(days=2))
    assert claim(database) == ()
    assert revalidate(examined_before=later(days=1), limit=9, reason="monthly") == 0
    assert database.admin.status().open_requests == 0


def test_an_instance_that_fails_its_revalidation_is_published_no_more(database: Database) -> None:
    (one,) = with_candidates(database, 1)
    claim(database)
    database.verify.save_examined(accepted(one), holder=ME, now=NOW)
    database.admin.revalidate(examined_before=later(days=1), limit=9, reason="monthly")
    claim(database)
    database.verify.save_examined(refused(one, Flaw.FLAKY), holder=ME, now=NOW)
    assert database.publish.instances(window=(None, None)) == ()
    funnel = database.admin.funnel()
    assert (funnel.instances, dict(funnel.verify_rejections)) == (0, {"flaky": 1})


def test_a_look_at_what_is_due_claims_nothing(database: Database) -> None:
    first, second = with_candidates(database, 1, 2)

    def due() -> tuple[Candidate, ...]:
        return tuple(database.verify.due(version=1, policy="quick", limit=9, repo="o/r", now=NOW))

    assert due() == due() == (second, first)
    assert claim(database, limit=1) == (second,)
    assert due() == (first,)


def test_what_is_due_is_counted_as_it_would_be_claimed(database: Database) -> None:
    def due(**changes: object) -> int:
        wanted: dict[str, object] = {
            "version": 1, "policy": "quick", "limit": 9, "repo": None, "now": NOW,
        }  # fmt: skip
        return database.verify.count_due(**(wanted | changes))  # type: ignore[arg-type]  # as named

    assert due() == 0
    with_candidates(database, 1, 2, 3)
    assert (due(), due(limit=2), due(repo="O/R"), due(repo="o/other")) == (3, 2, 3, 0)
    claim(database, limit=1)
    assert due() == 2
    assert due(now=later(hours=1)) == 3  # its lease ran out
    assert len(claim(database, now=later(hours=1))) == 3


def test_what_waits_for_its_answer_is_counted_in_whosever_hands_it_is(database: Database) -> None:
    one, other = with_candidates(database, 1, 2)
    month = (later(days=-9), later(days=9))

    def waiting(merged: tuple[datetime, datetime] = month) -> int:
        return database.verify.count_unanswered(version=1, policy="quick", merged=merged)

    assert waiting() == 2
    assert waiting((one.merged_at, other.merged_at)) == 1  # its end is not in it
    assert waiting((later(days=1), later(days=9))) == 0
    assert len(claim(database)) == 2
    assert waiting() == 2
    assert database.verify.save_examined(refused(other), holder=ME, now=NOW)
    assert waiting() == 1
    database.admin.request("verify", other.instance_id, author="ann", reason="again")
    assert waiting() == 1  # it has an answer, though another is asked for
