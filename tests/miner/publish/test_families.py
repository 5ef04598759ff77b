"""One fix told several times is one family."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from miner.model import Candidate
from miner.publish.families import families
from tests.miner.split.pulls import OPENED


def _candidate(number: int, *, issues: tuple[int, ...], patch: str, repo_id: int = 1) -> Candidate:
    return Candidate(
        instance_id=f"o{repo_id}__r-{number}",
        repo=f"o{repo_id}/r",
        repo_id=repo_id,
        pull_number=number,
        raw_digest="d",
        policy="p",
        issue_numbers=issues,
        base_commit="b",
        merge_tree="m",
        patch=b"",
        test_patch=b"",
        patch_hash=patch,
        problem_statement="",
        hints_text="",
        issue_created_at=OPENED,
        created_at=OPENED,
        merged_at=OPENED + timedelta(days=number),
        language="python",
        version="0.0",
        license="MIT",
    )


def test_different_fixes_are_no_family() -> None:
    assert (
        families([_candidate(1, issues=(5,), patch="a"), _candidate(2, issues=(6,), patch="b")])
        == ()
    )


def test_a_backport_has_the_same_patch() -> None:
    backport, fix = _candidate(9, issues=(8,), patch="a"), _candidate(3, issues=(5,), patch="a")
    (family,) = families([backport, fix])
    assert family.members == ("o1__r-3", "o1__r-9")
    assert family.first == "o1__r-3"
    assert family.copies == {"o1__r-9": "same patch as o1__r-3"}


def test_a_second_try_has_the_same_issue() -> None:
    (family,) = families(
        [_candidate(1, issues=(5, 6), patch="a"), _candidate(2, issues=(6,), patch="b")]
    )
    assert family.copies == {"o1__r-2": "same issue as o1__r-1"}


def test_a_fork_has_the_same_patch_but_its_own_issues() -> None:
    one, other = (
        _candidate(1, issues=(5,), patch="a"),
        _candidate(2, issues=(5,), patch="b", repo_id=2),
    )
    assert families([one, other]) == ()
    fork = _candidate(3, issues=(70,), patch="a", repo_id=2)
    assert [family.members for family in families([one, other, fork])] == [("o1__r-1", "o2__r-3")]


def test_what_binds_two_families_joins_them() -> None:
    candidates = [
        _candidate(1, issues=(5,), patch="a"),
        _candidate(2, issues=(6,), patch="b"),
        _candidate(3, issues=(5, 6), patch="c"),
        _candidate(4, issues=(7,), patch="c"),
        _candidate(5, issues=(8,), patch="d"),
    ]
    (family,) = families(candidates)
    assert family.members == ("o1__r-1", "o1__r-2", "o1__r-3", "o1__r-4")
    assert family.copies == {
        "o1__r-2": "same issue as o1__r-3",
        "o1__r-3": "same issue as o1__r-1",
        "o1__r-4": "same patch as o1__r-3",
    }


@given(
    st.lists(
        st.tuples(st.lists(st.integers(1, 6), min_size=1, max_size=2), st.integers(1, 8)),
        max_size=12,
    ),
)
def test_a_candidate_is_in_one_family_whatever_the_order(
    shapes: list[tuple[list[int], int]],
) -> None:
    candidates = [
        _candidate(number, issues=tuple(issues), patch=str(patch))
        for number, (issues, patch) in enumerate(shapes)
    ]
    found = families(candidates)
    members = [member for family in found for member in family.members]
    assert len(members) == len(set(members))
    assert families(reversed(candidates)) == found
    assert all(set(family.copies) == set(family.members[1:]) for family in found)
    homes = {member: family for family in found for member in family.members}
    for one in candidates:
        for other in candidates:
            bound = one.patch_hash == other.patch_hash or set(one.issue_numbers) & set(
                other.issue_numbers
            )
            if one is not other and bound:
                assert homes[one.instance_id] is homes[other.instance_id]
