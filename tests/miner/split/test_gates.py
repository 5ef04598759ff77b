"""Every gate says no with its own name, and the first reason is the one a maintainer expects."""

import pytest

from miner.git import RawChange
from miner.model import Actor, ActorKind, Gate, Issue, Link, LinkStrength, PullRequest
from miner.split.closing import closing
from miner.split.gates import CHANGE_GATES, PULL_GATES, Context, main_language, refusal
from miner.split.patch import Section
from miner.split.policy import GatePolicy
from miner.split.statement import statement
from tests.miner.split.pulls import DEPENDABOT, at, make_issue, make_link, make_pull
from validators.languages import FileClass

ENOUGH = ("test", "source")


def _section(
    kind: str, *, path: str = "", status: str = "M", text: bytes = b"", mode: str = "100644"
) -> Section:
    return Section(
        kind=FileClass(kind),
        text=text,
        change=RawChange(
            status=status,
            path=path or f"some.{kind}",
            old_path=path or f"some.{kind}",
            old_mode="100644",
            new_mode=mode,
            old_blob="1" * 40,
            new_blob="2" * 40,
            additions=1,
            deletions=1,
        ),
    )


def _gate(
    pull: PullRequest | None = None,
    *,
    kinds: tuple[str, ...] = ENOUGH,
    sections: tuple[Section, ...] = (),
    policy: GatePolicy | None = None,
    reverted_by: int | None = None,
) -> str | None:
    pull = pull or make_pull()
    found = closing(pull)
    context = Context(
        pull=pull,
        policy=policy or GatePolicy(),
        closing=found,
        sections=sections or tuple(_section(kind) for kind in kinds),
        reverted_by=reverted_by,
        license=pull.license,
        problem_statement=statement(pull, found.issues).problem_statement,
    )
    refused = refusal((*PULL_GATES, *CHANGE_GATES), context)
    if refused is None:
        return None
    assert refused.detail.endswith(".")
    return refused.gate


def test_a_good_pull_passes() -> None:
    assert _gate() is None


@pytest.mark.parametrize(
    ("pull", "gate"),
    [
        (make_pull(author=DEPENDABOT), Gate.BOT_AUTHOR),
        (make_pull(author=Actor(login="pre-commit-ci")), Gate.BOT_AUTHOR),
        (make_pull(author=None), None),
        (make_pull(merged_by=Actor(login="github-actions[bot]")), Gate.MERGED_BY_BOT),
        (make_pull(merged_by=DEPENDABOT), Gate.MERGED_BY_BOT),
        (make_pull(merged_by=Actor(login="github-merge-queue", kind=ActorKind.BOT)), None),
        (make_pull(merged_by=Actor(login="mergify[bot]")), None),
        (make_pull(merged_by=None), None),
        (make_pull(reverts=(3,)), Gate.REVERT),
        (make_pull(base_branch="2.x"), Gate.NOT_DEFAULT_BRANCH),
        (make_pull(base=None, detail="Nothing fits."), Gate.BASE_UNRESOLVED),
        (make_pull(spdx="GPL-3.0"), Gate.LICENSE_NOT_ALLOWED),
        (make_pull(spdx=None), Gate.LICENSE_NOT_ALLOWED),
        (make_pull(spdx="NOASSERTION"), Gate.LICENSE_NOT_ALLOWED),
        (make_pull(languages=(("C", 900), ("Python", 100))), Gate.LANGUAGE_NOT_SUPPORTED),
        (make_pull(languages=()), Gate.LANGUAGE_NOT_SUPPORTED),
        (make_pull(links=()), Gate.NO_LINKED_ISSUE),
        (make_pull(links=(make_link(strength=LinkStrength.MENTIONS),)), Gate.NO_LINKED_ISSUE),
        (make_pull(issues=()), Gate.NO_LINKED_ISSUE),
        (make_pull(issues=(make_issue(is_pull=True),)), Gate.LINKED_NUMBER_IS_PULL),
        (make_pull(issues=(make_issue(created_at=at(1)),)), Gate.LINKED_ISSUE_YOUNGER),
        (make_pull(links=(make_link(repo="x/y"),)), Gate.LINKED_ISSUE_ELSEWHERE),
        (
            make_pull(links=(make_link(repo="x/y"),), issues=(make_issue(repo="x/y"),)),
            Gate.LINKED_ISSUE_ELSEWHERE,
        ),
        (make_pull(issues=(make_issue(title="Bug", body=""),)), Gate.ISSUE_TEXT_TOO_SHORT),
    ],
)
def test_what_is_wrong_with_the_pull(pull: PullRequest, gate: Gate | None) -> None:
    assert _gate(pull) == gate


@pytest.mark.parametrize(
    ("kinds", "gate"),
    [
        (("docs",), Gate.DOCS_ONLY),
        (("docs", "ci", "other"), Gate.DOCS_ONLY),
        (("docs", "test"), Gate.NO_SOURCE_CHANGE),
        (("docs", "source"), Gate.NO_TEST_CHANGE),
        (("source",), Gate.NO_TEST_CHANGE),
        (("test",), Gate.NO_SOURCE_CHANGE),
        (("test", "other"), Gate.NO_SOURCE_CHANGE),
        (("ci",), Gate.NO_TEST_CHANGE),
        (("test", "source", *["docs"] * 50, *["lock"] * 5, *["ci"] * 5), None),
        (("test", "source", *["other"] * 13), None),
        (("test", "source", *["other"] * 14), Gate.TOO_MANY_FILES),
        (("test", *["source"] * 15), Gate.TOO_MANY_FILES),
    ],
)
def test_what_is_changed(kinds: tuple[str, ...], gate: Gate | None) -> None:
    assert _gate(kinds=kinds) == gate


def test_only_removed_tests_show_nothing() -> None:
    sections = (_section("source"), _section("test", status="D"))
    assert _gate(sections=sections) == Gate.NO_TEST_CHANGE


def test_submodules_and_lfs_pointers() -> None:
    pointer = b"+version https://git-lfs.github.com/spec/v1\n+oid sha256:0\n"
    for odd in (_section("other", mode="160000"), _section("test", text=pointer)):
        sections = (_section("source"), _section("test"), odd)
        assert _gate(sections=sections) == Gate.SUBMODULE_OR_LFS
    told = _section("source", text=b'+    "version https://git-lfs.github.com/spec/v1"\n')
    assert _gate(sections=(told, _section("test"))) is None


def test_patch_size() -> None:
    sections = (_section("source", text=b"x" * 600 * 1024), _section("test"))
    assert _gate(sections=sections) == Gate.PATCH_TOO_LARGE


def test_reverted_later() -> None:
    assert _gate(reverted_by=9) == Gate.REVERTED


@pytest.mark.parametrize(
    ("pull", "kinds", "gate"),
    [
        # a bot's version bump changes no tests, closes nothing and may be on any branch
        (make_pull(author=DEPENDABOT, links=(), base_branch="2.x"), ("other",), Gate.BOT_AUTHOR),
        # who reads about a revert does not care that it closes no issue
        (make_pull(reverts=(3,), links=()), ("source",), Gate.REVERT),
        # documentation that closes no issue, or a pull
        (make_pull(links=()), ("docs",), Gate.DOCS_ONLY),
        # a number that is a pull, and no tests either
        (make_pull(issues=(make_issue(is_pull=True),)), ("source",), Gate.LINKED_NUMBER_IS_PULL),
        # no link and no tests: without an issue there is nothing to ask for
        (make_pull(links=()), ("source",), Gate.NO_LINKED_ISSUE),
        # no tests in a huge pull
        (make_pull(), ("source",) * 40, Gate.NO_TEST_CHANGE),
    ],
)
def test_the_reason_is_the_one_a_maintainer_expects(
    pull: PullRequest, kinds: tuple[str, ...], gate: Gate
) -> None:
    assert _gate(pull, kinds=kinds) == gate


@pytest.mark.parametrize(
    ("policy", "pull"),
    [
        (GatePolicy(bots_may_write=True), make_pull(author=DEPENDABOT)),
        (GatePolicy(bots_may_merge=True), make_pull(merged_by=DEPENDABOT)),
        (GatePolicy(default_branch_only=False), make_pull(base_branch="2.x")),
        (GatePolicy(licenses=("GPL-3.0",)), make_pull(spdx="GPL-3.0")),
        (
            GatePolicy(language_share_min=0.05),
            make_pull(languages=(("C", 900), ("Python", 100))),
        ),
        (GatePolicy(text_chars_min=1), make_pull(issues=(make_issue(title="Bug", body=""),))),
    ],
)
def test_a_maintainer_may_open_a_gate(policy: GatePolicy, pull: PullRequest) -> None:
    assert _gate(pull) is not None
    assert _gate(pull, policy=policy) is None


def test_one_issue_only_is_a_choice() -> None:
    pull = make_pull(links=(make_link(5), make_link(6)), issues=(make_issue(5), make_issue(6)))
    assert _gate(pull) is None
    assert _gate(pull, policy=GatePolicy(several_issues=False)) == Gate.SEVERAL_ISSUES


def _numbers(links: tuple[Link, ...], issues: tuple[Issue, ...]) -> list[int]:
    return [issue.number for issue in closing(make_pull(links=links, issues=issues)).issues]


def test_one_good_link_is_enough() -> None:
    links = (make_link(9, repo="x/y"), make_link(8), make_link(5), make_link(4))
    issues = (make_issue(8, is_pull=True), make_issue(5), make_issue(4))
    assert _numbers(links, issues) == [4, 5]
    assert _gate(make_pull(links=links, issues=issues)) is None


def test_an_issue_named_twice_counts_once() -> None:
    assert _numbers((make_link(), make_link()), (make_issue(),)) == [5]


def test_repository_names_are_compared_without_case() -> None:
    assert _numbers((make_link(repo="O/R"),), (make_issue(repo="o/R"),)) == [5]


def test_a_target_that_moved_to_another_repository_does_not_count() -> None:
    pull = make_pull(links=(make_link(repo="x/y"),), issues=(make_issue(repo="x/y"),))
    assert closing(pull).issues == ()


def test_main_language() -> None:
    policy = GatePolicy(languages=("python", "javascript"))
    assert main_language((("JavaScript", 60), ("Python", 40)), policy) == "javascript"
    assert main_language((("JavaScript", 40), ("Python", 60)), policy) == "python"
    assert main_language((("Go", 100),), policy) is None
    assert main_language((), policy) is None
    assert main_language((("Go", 1),), GatePolicy(languages=())) is None
