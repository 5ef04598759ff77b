"""The gate policy as a maintainer writes it."""

from dataclasses import fields
from pathlib import Path

import pytest

from miner.errors import ConfigError
from miner.model import Gate
from miner.split import statement
from miner.split.policy import GatePolicy, policy_from_json


def test_the_digest_tells_policies_apart_and_is_stable() -> None:
    assert GatePolicy().digest == GatePolicy().digest
    assert GatePolicy().digest != GatePolicy(files_max=14).digest
    assert len(GatePolicy().digest) == 16


def test_json_round_trip() -> None:
    policy = GatePolicy(files_max=3, licenses=("MIT",), language_share_min=0.5)
    assert policy_from_json(policy.to_json()) == policy
    assert policy_from_json("{}") == GatePolicy()
    assert policy_from_json('{"files_max": 3}') == GatePolicy(files_max=3)
    assert policy_from_json('{"language_share_min": 1}').language_share_min == 1.0


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ('{"files": 3}', "has no 'files'; it has files_min"),
        ('{"files_max": "3"}', "'files_max' of the gate policy is a number"),
        ('{"files_max": true}', "is a number"),
        ('{"files_max": 1.5}', "is a number"),
        ('{"bots_may_merge": 1}', "is true or false"),
        ('{"licenses": "MIT"}', "is a list of names"),
        ('{"licenses": [1]}', "is a list of names"),
    ],
)
def test_a_wrong_policy_is_one_clear_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        policy_from_json(text)


GUIDE = (Path(__file__).parents[3] / "docs" / "splitting.md").read_text()


@pytest.mark.parametrize("name", [each.name for each in fields(GatePolicy)])
def test_the_guide_tells_every_setting(name: str) -> None:
    assert f"`{name}`" in GUIDE


@pytest.mark.parametrize("gate", sorted(set(Gate) - {Gate.MALFORMED_PAYLOAD}))
def test_the_guide_tells_every_reason(gate: Gate) -> None:
    assert f"`{gate}`" in GUIDE


def test_the_guide_tells_every_mark() -> None:
    marks = [value for name, value in vars(statement).items() if name.isupper() and name[0] != "_"]
    assert len(marks) >= 5
    assert all(f"`{mark}`" in GUIDE for mark in marks)
