"""What a solver is told: the issues as they stood when the pull was opened, and what was said
before the fix.

Nothing written once the fix had begun may get in: it tells the answer. Where the source cannot say
what a text was then, today's is taken and marked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from miner.model import Comment, Issue, PullRequest
from miner.split.people import is_bot

EDITED_LATER = "edited_later"
"""An issue's text was edited after the pull was opened, and its state then is not known."""

SEVERAL_ISSUES = "several_issues"

HINTS_EDITED_LATER = "hints_edited_later"
"""Comments were left out: written before the fix, edited after it began."""

HINTS_BY_PULL_AUTHOR = "hints_by_pull_author"
"""The author of the fix wrote some of the hints."""

ISSUE_CLOSED_BEFORE = "issue_closed_before"
"""An issue was closed before the pull was opened and not again since: something else closed it."""

_BETWEEN = "\n\n---\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """problem_statement, hints_text and what one should know of them. Lines end in LF."""

    problem_statement: str
    hints_text: str
    marks: tuple[str, ...] = ()


def statement(pull: PullRequest, issues: Sequence[Issue]) -> Statement:
    """The texts of the issues that the pull closes, in the order of their numbers."""
    ordered = sorted(issues, key=lambda issue: issue.number)
    marks = [SEVERAL_ISSUES] if len(ordered) > 1 else []
    texts = []
    for issue in ordered:
        text, known = text_as_of(issue, pull.created_at)
        texts.append(text)
        if not known:
            marks.append(EDITED_LATER)
        if issue.closed_at is not None and issue.closed_at < pull.created_at:
            marks.append(ISSUE_CLOSED_BEFORE)
    begun_at = fix_begun_at(pull)
    hints = []
    for comment in _in_time(ordered, begun_at):
        if comment.edited_at is not None and comment.edited_at >= begun_at:
            marks.append(HINTS_EDITED_LATER)
            continue
        by_author = _same_person(comment, pull)
        if by_author:
            marks.append(HINTS_BY_PULL_AUTHOR)
        hints.append(_hint(comment, by_author=by_author))
    return Statement(
        problem_statement=_BETWEEN.join(texts),
        hints_text=_BETWEEN.join(hints),
        marks=tuple(dict.fromkeys(marks)),
    )


def text_as_of(issue: Issue, moment: datetime) -> tuple[str, bool]:
    """Title, empty line, body as they stood at `moment`, and whether that is known.

    Known: the whole edit history was readable, or nothing was edited since.
    """
    then = [version for version in issue.versions if version.edited_at <= moment]
    if issue.versions_complete and then:
        return _joined(then[-1].title, then[-1].body), True
    edited = issue.edited_at is not None and issue.edited_at > moment
    return _joined(issue.title, issue.body), not (edited or len(then) < len(issue.versions))


def fix_begun_at(pull: PullRequest) -> datetime:
    """When the first commit was written or the pull opened, whichever is earlier."""
    written = [commit.authored_at for commit in pull.commits]
    return min([pull.created_at, *written])


def _in_time(issues: Sequence[Issue], begun_at: datetime) -> Iterator[Comment]:
    """People's visible comments from before the fix, issue by issue, oldest first."""
    for issue in issues:
        for comment in sorted(issue.comments, key=lambda each: each.created_at):
            told = not (comment.minimized or is_bot(comment.author))
            if told and comment.created_at < begun_at and comment.body.strip():
                yield comment


def _same_person(comment: Comment, pull: PullRequest) -> bool:
    if comment.author is None or pull.author is None:
        return False
    return comment.author.login.lower() == pull.author.login.lower()


def _hint(comment: Comment, *, by_author: bool) -> str:
    login = "ghost" if comment.author is None else comment.author.login
    whose = f"{login}, author of the fix" if by_author else login
    return f"[{whose}] {_normal(comment.body)}"


def _joined(title: str, body: str) -> str:
    return f"{_normal(title)}\n\n{_normal(body)}".strip()


def _normal(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").strip()
