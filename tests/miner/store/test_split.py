"""The split's store: due by absence, one result an input, reverts."""

import pytest

from miner.errors import FatalError
from miner.store import Database
from tests.miner.store.samples import NOW, POLICY, candidate, pull, rejection, repo


@pytest.fixture(autouse=True)
def crawled(database: Database) -> None:
    """Two pulls of one repository."""
    database.crawl.save_repo(repo(), now=NOW)
    for number in (1, 2):
        database.crawl.save_pulls([(pull(number), b"{}")])


def due(database: Database, policy: str = POLICY) -> list[int]:
    """Numbers of the due pulls."""
    return [each.number for each in database.split.due_pulls(policy=policy, limit=9, repo=None)]


def test_a_result_ends_the_work_for_this_policy(database: Database) -> None:
    assert due(database) == [2, 1]
    database.split.save_split(pull(1), candidate(1), policy=POLICY)
    database.split.save_split(pull(2), rejection(2), policy=POLICY)
    assert due(database) == []
    assert due(database, "gates-2") == [2, 1]


def test_a_second_result_changes_nothing(database: Database) -> None:
    database.split.save_split(pull(1), candidate(1), policy=POLICY)
    database.split.save_split(pull(1), rejection(1), policy=POLICY)
    database.split.save_split(pull(1), candidate(1), policy=POLICY)
    funnel = database.admin.funnel()
    assert (funnel.candidates, dict(funnel.split_rejections)) == (1, {})


def test_a_limit_is_kept(database: Database) -> None:
    assert len(database.split.due_pulls(policy=POLICY, limit=1, repo=None)) == 1


def test_an_unknown_pull_cannot_be_split(database: Database) -> None:
    with pytest.raises(FatalError, match="o/r#3 is not stored"):
        database.split.save_split(pull(3), candidate(3), policy=POLICY)


def test_a_pull_is_due_again_once_it_is_reverted_and_again_when_that_is_undone(
    database: Database,
) -> None:
    database.split.save_split(pull(1), candidate(1), policy=POLICY)
    database.split.save_split(pull(2), rejection(2), policy=POLICY)
    database.crawl.save_pulls([(pull(3, reverts=(1,)), b"{}")])
    database.split.save_split(pull(3), rejection(3, "revert"), policy=POLICY)
    assert database.split.reverted_by(pull(1)) == 3
    assert due(database) == [1]
    database.split.save_split(pull(1), rejection(1, "reverted"), policy=POLICY, reverted=True)
    assert due(database) == []
    assert database.admin.funnel().candidates == 0
    database.crawl.save_pulls([(pull(4, reverts=(3,)), b"{}")])
    database.split.save_split(pull(4), rejection(4, "revert"), policy=POLICY)
    assert database.split.reverted_by(pull(1)) is None
    assert database.split.reverted_by(pull(3)) == 4
    assert due(database) == [3]
    database.split.save_split(pull(3), rejection(3, "reverted"), policy=POLICY, reverted=True)
    assert due(database) == []
    assert database.admin.funnel().candidates == 1


def test_a_candidate_cut_before_its_revert_was_seen_is_due_again(database: Database) -> None:
    database.crawl.save_pulls([(pull(3, reverts=(1,)), b"{}")])
    database.split.save_split(pull(1), candidate(1), policy=POLICY)
    database.split.save_split(pull(1), candidate(1), policy=POLICY)  # by another process
    assert 1 in due(database)
    database.split.save_split(pull(1), candidate(1), policy=POLICY, reverted=True)
    assert 1 not in due(database)  # the policy lets it pass


def test_a_no_for_a_revert_that_was_undone_meanwhile_is_not_for_ever(database: Database) -> None:
    database.crawl.save_pulls([(pull(3, reverts=(1,)), b"{}")])
    assert database.split.reverted_by(pull(1)) == 3
    database.crawl.save_pulls([(pull(4, reverts=(3,)), b"{}")])  # by a crawl beside
    database.split.save_split(pull(1), rejection(1, "reverted"), policy=POLICY, reverted=True)
    assert 1 in due(database)
    database.split.save_split(pull(1), candidate(1), policy=POLICY)
    assert 1 not in due(database)
    assert database.admin.funnel().candidates == 1


def test_the_newest_policy_decides_whatever_was_split_last(database: Database) -> None:
    database.split.save_split(pull(1), candidate(1), policy="strict")
    database.split.save_split(pull(1), rejection(1), policy="loose")
    assert database.admin.funnel().candidates == 0
    assert database.admin.set_gate_policy("strict", "{}", author="ann")
    assert not database.admin.set_gate_policy("strict", "{}", author="ann")
    assert database.admin.funnel().candidates == 1
    assert database.admin.set_gate_policy("loose", "{}", author="ann")
    assert database.admin.funnel().candidates == 0
    stored = database.admin.gate_policy()
    assert stored is not None
    assert (stored.digest, stored.document, stored.author) == ("loose", "{}", "ann")
