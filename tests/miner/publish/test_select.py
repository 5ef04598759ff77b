"""Selection: well-formed instances of the window, each fix once."""

from datetime import date, timedelta

import pytest

from miner.model import Instance
from miner.publish.select import NAME, select, unfit
from tests.samples import GOLD, NOON, candidate, instance, verdict
from validators.model import Flaw

ALL = (None, None)


def ids(*instances: Instance, window: tuple[date | None, date | None] = ALL) -> list[str]:
    selection = select(instances, window=window)
    return [member.candidate.instance_id for member, _ in selection.members]


def test_members_are_sorted_by_id() -> None:
    second = instance(of=candidate(instance_id="a__a-1", patch_hash="other", issue_numbers=(4,)))
    assert ids(instance(), second) == ["a__a-1", "o__r-7"]


def test_the_window_holds_both_of_its_days() -> None:
    day = NOON.date()
    assert ids(instance(), window=(day, day)) == ["o__r-7"]
    assert ids(instance(), window=(day + timedelta(days=1), None)) == []
    assert ids(instance(), window=(None, day - timedelta(days=1))) == []


def test_a_backport_is_left_out_with_the_id_of_its_original() -> None:
    backport = candidate(instance_id="o__r-9", merged_at=NOON + timedelta(days=1))
    selection = select([instance(of=backport), instance()], window=ALL)
    assert [m.candidate.instance_id for m, _ in selection.members] == ["o__r-7"]
    assert selection.excluded == (("o__r-9", "same patch as o__r-7"),)


def test_a_second_try_is_left_out_with_the_id_of_the_first() -> None:
    second = candidate(instance_id="o__r-9", patch_hash="other", merged_at=NOON + timedelta(days=1))
    selection = select([instance(of=second), instance()], window=ALL)
    assert selection.excluded == (("o__r-9", "same issue as o__r-7"),)


def test_a_copy_of_what_was_merged_before_the_window_is_nothing_new() -> None:
    day = NOON.date()
    old = candidate(instance_id="o__r-1", merged_at=NOON - timedelta(days=40))
    selection = select([instance()], window=(day, None), earlier=[old])
    assert selection.members == ()
    assert selection.excluded == (("o__r-7", "same patch as o__r-1"),)


def test_what_no_grader_could_use_takes_no_copy_s_place() -> None:
    flaky = instance(
        verdict=verdict(flaw=Flaw.FLAKY),
        of=candidate(instance_id="o__r-1", merged_at=NOON - timedelta(days=1)),
    )
    assert ids(flaky, instance()) == ["o__r-7"]


@pytest.mark.parametrize(
    ("flawed", "reason"),
    [
        (instance(verdict=verdict(flaw=Flaw.FLAKY)), "not accepted: flaky"),
        (instance(verdict=verdict(fail_to_pass=())), "FAIL_TO_PASS is empty"),
        (instance(verdict=verdict(fail_to_pass=("t.py::a[log(x",))), "cut off: t.py::a[log(x"),
        (instance(verdict=verdict(pass_to_pass=(" ",))), "blank"),
        (instance(of=candidate(patch=b"garbage")), "patch does not parse"),
        (instance(of=candidate(test_patch=b"")), "test_patch does not parse"),
    ],
)
def test_what_no_grader_could_use_is_left_out(flawed: Instance, reason: str) -> None:
    found = unfit(flawed)
    assert found is not None
    assert reason in found


def test_a_sound_instance_is_fit() -> None:
    assert unfit(instance()) is None


@pytest.mark.parametrize("name", ["2026-11-29", "2026-11-29-b"])
def test_names_are_dates(name: str) -> None:
    assert NAME.fullmatch(name)


@pytest.mark.parametrize("name", ["today", "../2026-11-29", "2026-11-29/x"])
def test_other_names_are_not(name: str) -> None:
    assert not NAME.fullmatch(name)


def test_a_legal_path_that_unidiff_cannot_follow_is_fit() -> None:
    odd = GOLD.replace(b"pkg/core.py", b"x b/core.py")
    assert unfit(instance(of=candidate(patch=odd))) is None
