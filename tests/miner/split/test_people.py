"""People and programs."""

import pytest

from miner.model import Actor, ActorKind
from miner.split.people import is_bot


@pytest.mark.parametrize(
    "login",
    [
        "dependabot[bot]",
        "Dependabot",
        "renovate",
        "pre-commit-ci",
        "github-actions",
        "pyup-bot",
        "my-release-bot",
        "some_bot",
        "bot-of-ann",
        "x[bot]",
    ],
)
def test_programs_by_name(login: str) -> None:
    assert is_bot(Actor(login=login))


@pytest.mark.parametrize("login", ["abbot", "botond", "robotics", "ann", "talbot", "both"])
def test_people_with_bot_in_their_name(login: str) -> None:
    assert not is_bot(Actor(login=login))


def test_the_source_says_so() -> None:
    assert is_bot(Actor(login="ann", kind=ActorKind.BOT))
    assert not is_bot(Actor(login="org", kind=ActorKind.ORGANIZATION))


def test_a_deleted_account_is_a_person() -> None:
    assert not is_bot(None)
