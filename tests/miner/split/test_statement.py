"""What a solver is told: only what stood there before the fix."""

from dataclasses import replace

from miner.model import Actor, ActorKind, TextVersion
from miner.split.statement import fix_begun_at, statement, text_as_of
from tests.miner.split.pulls import ANN, OPENED, at, make_comment, make_issue, make_pull


def test_title_and_body() -> None:
    told = statement(make_pull(), [make_issue(title=" It breaks ", body="One\r\ntwo\rthree\n")])
    assert told.problem_statement == "It breaks\n\nOne\ntwo\nthree"
    assert told.hints_text == ""
    assert told.marks == ()


def test_an_empty_body_leaves_the_title() -> None:
    assert statement(make_pull(), [make_issue(body="  ")]).problem_statement == "It breaks"


def test_several_issues_are_in_number_order_and_marked() -> None:
    issues = [make_issue(9, title="Nine", body="n"), make_issue(5, title="Five", body="f")]
    told = statement(make_pull(), issues)
    assert told.problem_statement == "Five\n\nf\n\n---\n\nNine\n\nn"
    assert told.marks == ("several_issues",)


def test_text_edited_before_the_pull_is_todays() -> None:
    told = statement(make_pull(), [make_issue(edited_at=at(-1))])
    assert told.marks == ()


def test_text_edited_later_without_history_is_marked() -> None:
    told = statement(make_pull(), [make_issue(edited_at=at(1), body="Solved by x = 1.")])
    assert told.marks == ("edited_later",)
    assert "Solved" in told.problem_statement


def test_a_complete_history_gives_the_text_of_then() -> None:
    versions = (
        TextVersion(title="First", body="1", edited_at=at(-48)),
        TextVersion(title="Second", body="2", edited_at=at(-2)),
        TextVersion(title="Third", body="3", edited_at=at(3)),
    )
    issue = make_issue(
        title="Third", body="3", edited_at=at(3), versions=versions, versions_complete=True
    )
    assert text_as_of(issue, OPENED) == ("Second\n\n2", True)
    assert text_as_of(issue, at(-2)) == ("Second\n\n2", True)
    assert text_as_of(issue, at(-3)) == ("First\n\n1", True)
    assert text_as_of(issue, at(4)) == ("Third\n\n3", True)


def test_an_incomplete_history_is_not_trusted() -> None:
    versions = (TextVersion(title="Third", body="3", edited_at=at(3)),)
    issue = make_issue(title="Third", body="3", edited_at=at(3), versions=versions)
    assert text_as_of(issue, OPENED) == ("Third\n\n3", False)


def test_a_complete_history_that_begins_too_late_is_marked() -> None:
    versions = (TextVersion(title="Third", body="3", edited_at=at(3)),)
    issue = make_issue(
        title="Third", body="3", edited_at=at(3), versions=versions, versions_complete=True
    )
    assert text_as_of(issue, OPENED)[1] is False


def test_hints_end_where_the_fix_begins() -> None:
    comments = (
        make_comment("after the first commit", hours=-0.5),
        make_comment("second", hours=-2),
        make_comment("first", hours=-3),
        make_comment("after the pull", hours=1),
        make_comment("at the first commit", hours=-1),
    )
    told = statement(make_pull(), [make_issue(comments=comments)])
    assert told.hints_text == "[bob] first\n\n---\n\n[bob] second"
    assert fix_begun_at(make_pull()) == at(-1)


def test_bots_and_minimized_comments_are_no_hints() -> None:
    comments = (
        make_comment("spam", minimized=True),
        make_comment("ci", author=Actor(login="codecov", kind=ActorKind.BOT)),
        make_comment("ci", author=Actor(login="codecov-io")),
        make_comment("  "),
        make_comment("seen", author=None),
    )
    assert statement(make_pull(), [make_issue(comments=comments)]).hints_text == "[ghost] seen"


def test_the_fixs_author_is_marked() -> None:
    told = statement(make_pull(), [make_issue(comments=(make_comment("I know", author=ANN),))])
    assert told.hints_text == "[ann, author of the fix] I know"
    assert told.marks == ("hints_by_pull_author",)


def test_a_comment_edited_after_the_fix_began_is_left_out_and_marked() -> None:
    comments = (
        make_comment("edited early", edited_at=at(-2)),
        make_comment("fixed in #7", edited_at=at(2)),
    )
    told = statement(make_pull(), [make_issue(comments=comments)])
    assert told.hints_text == "[bob] edited early"
    assert told.marks == ("hints_edited_later",)


def test_an_issue_that_something_else_had_closed_is_marked() -> None:
    for closed_at, marks in [(None, ()), (at(5), ()), (at(-2), ("issue_closed_before",))]:
        issue = replace(make_issue(), closed_at=closed_at)
        assert statement(make_pull(), [issue]).marks == marks
