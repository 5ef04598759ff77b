"""The demo's end is compared with what it must be, item by item."""

from miner.cli.differences import differences, expected_gates
from miner.demo.expected import expected

WANTED = expected()
LISTS = {want.instance_id: want.fail_to_pass for want in WANTED.instances}
GATES = expected_gates(WANTED)


def test_the_expected_end_has_no_difference() -> None:
    assert differences(WANTED, fail_to_pass=LISTS, rejected=GATES) == ()


def test_an_optional_instance_may_be_rejected() -> None:
    optional = next(want.instance_id for want in WANTED.instances if want.kind == "optional")
    lists = {name: tests for name, tests in LISTS.items() if name != optional}
    rejected = GATES | {optional: "build_failed"}
    assert differences(WANTED, fail_to_pass=lists, rejected=rejected) == ()


def test_every_kind_of_difference_is_told() -> None:
    name = "demo__parse-2"
    fewer = {**LISTS, name: LISTS[name][1:]}
    assert differences(WANTED, fail_to_pass=fewer, rejected=GATES) == (
        f"{name}: FAIL_TO_PASS differs from what it must be",
    )
    gone = {key: tests for key, tests in LISTS.items() if key != name}
    assert differences(WANTED, fail_to_pass=gone, rejected=GATES | {name: "flaky"}) == (
        f"{name}: must be an instance, is flaky",
    )
    assert differences(WANTED, fail_to_pass=LISTS, rejected=GATES | {"demo__tally-2": "x"}) == (
        "demo__tally-2: should be rejected by no_linked_issue, but is x",
    )
    more = {**LISTS, "o__r-1": ()}
    assert differences(WANTED, fail_to_pass=more, rejected=GATES) == (
        "o__r-1: is not expected in the demo",
    )
