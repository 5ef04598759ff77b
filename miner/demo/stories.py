"""How each pair of releases is told: its issue, its pull and what people wrote, with dates. Pure.

Everything lies between the two uploads: issue, comments, first commit, pull, further comments, and
the merge at the second upload; a few comments and edits come days later, as on any forge.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from miner.demo.histories import Branch, Changes, History, Method, Step
from miner.demo.pairs import Note, Package, Pair, Story
from miner.demo.pulls import (
    CommentRecord,
    Connection,
    Edit,
    IssueRecord,
    Person,
    PullRecord,
    Rename,
)
from miner.demo.sdists import SourceFile

WEB_URL = "https://github.com"  # what links in texts begin with, whatever address serves them
_REPORTER, _CONTRIBUTOR, _MAINTAINER = "reporter", "contributor", "maintainer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The moments of one pair."""

    start: datetime
    merged: datetime

    def at(self, share: float) -> datetime:
        """The whole second that lies `share` of the way from start to merge."""
        return (self.start + share * (self.merged - self.start)).replace(microsecond=0)

    def later(self, hours: int) -> datetime:
        """Some hours after the merge."""
        return self.at(1.0) + timedelta(hours=hours)


_WHEN = {"before": 0.25, "between": 0.7}
_EDIT_H, _RENAME_H, _AFTER_H = 20, 22, 24


def tell(
    history: History, package: Package, pair: Pair, files: Mapping[str, Mapping[str, SourceFile]]
) -> tuple[IssueRecord, PullRecord, int]:
    """Grow the history by the pair's pull; its issue, the pull and the merge commit's key.

    `files`: version → tree. The pull's `merge_commit` is still to be filled in from the key.
    """
    base, merged = package.releases[pair.base], package.releases[pair.merged]
    times = Timeline(start=base.uploaded_at, merged=merged.uploaded_at)
    history.release(package.tag_prefix + pair.base, files[pair.base], at=times.at(0))
    branch = Branch(
        number=pair.story.pull,
        name=pair.story.branch,
        title=pair.story.title,
        steps=tuple(_steps(pair, files, times)),
        method=Method(pair.story.method),
        merged_at=times.at(1),
        base_moved_at=times.at(0.6) if pair.story.base_moves else None,
        takes_base=pair.story.merges_base,
        squash_body=_keyword_lines(package, pair.story),
    )
    key = history.merge(branch)
    history.release(package.tag_prefix + pair.merged, files[pair.merged], at=times.at(1))
    return _issue(package, pair, times), _pull(package, pair, times), key


def _steps(
    pair: Pair,
    files: Mapping[str, Mapping[str, SourceFile]],
    times: Timeline,
) -> Iterator[Step]:
    after = files[pair.merged]
    source: Changes = {path: after.get(path) for path in pair.gold_files}
    tests: Changes = {path: after.get(path) for path in pair.test_files}
    last_line = f"\nFixes #{pair.story.issue}\n" if pair.story.link == "commit" else ""
    if not tests:
        yield Step(message=pair.story.title + "\n", authored_at=times.at(0.4), changes=source)
        return
    yield Step(message=f"{pair.story.title}\n", authored_at=times.at(0.4), changes=source)
    message = f"Test {pair.story.branch}\n{last_line}"
    yield Step(message=message, authored_at=times.at(0.45), changes=tests)


def _keyword_lines(package: Package, story: Story) -> str:
    """The closing words in the pull's body; none when the link is made elsewhere."""
    match story.link:
        case "body":
            return f"Fixes #{story.issue}"
        case "colon":
            return f"Closes: #{story.issue}"
        case "url":
            return f"Resolves {WEB_URL}/{package.repository}/issues/{story.issue}"
        case _:
            return ""


def _issue(package: Package, pair: Pair, times: Timeline) -> IssueRecord:
    story, body = pair.story, pair.issue_body
    edits: tuple[Edit, ...] = ()
    if story.edited:
        body += story.edited
        edits = (
            Edit(edited_at=times.at(0.15), body=pair.issue_body, editor=Person(login=_REPORTER)),
            Edit(edited_at=times.later(_EDIT_H), body=body, editor=Person(login=_MAINTAINER)),
        )
    title = pair.issue_title
    renames: tuple[Rename, ...] = ()
    if story.retitled:
        title = story.retitled
        renames = (
            Rename(
                renamed_at=times.later(_RENAME_H),
                previous_title=pair.issue_title,
                current_title=title,
            ),
        )
    by_commit = story.link in ("commit", "title")
    return IssueRecord(
        repo=package.repository,
        number=story.issue,
        title=title,
        body=body,
        author=Person(login=_REPORTER),
        created_at=times.at(0.15),
        closed_at=times.at(1),
        closed_by=f"merge of #{story.pull}" if by_commit else f"#{story.pull}",
        labels=("bug",),
        comments=tuple(_comment(note, times, place) for place, note in enumerate(story.comments)),
        edits=edits,
        renames=renames,
    )


def _comment(note: Note, times: Timeline, place: int) -> CommentRecord:
    if note.when == "after":
        created_at = times.later(_AFTER_H + place)
    else:
        created_at = times.at(_WHEN[note.when] + 0.02 * place)
    return CommentRecord(
        author=Person(login=note.author, kind=note.kind), body=note.body, created_at=created_at
    )


def _pull(package: Package, pair: Pair, times: Timeline) -> PullRecord:
    story = pair.story
    listed = story.link in ("body", "colon", "url", "connected")
    connected = Connection(issue=story.issue, connected_at=times.at(0.55))
    what = "with tests" if pair.test_files else "no new tests"
    return PullRecord(
        repo=package.repository,
        number=story.pull,
        title=story.title,
        body=f"{story.title}, {what}.\n\n{_keyword_lines(package, story)}".rstrip(),
        author=Person(login=_CONTRIBUTOR),
        merged_by=Person(login=_MAINTAINER),
        created_at=times.at(0.5),
        merged_at=times.at(1),
        closed_at=times.at(1),
        head_branch=story.branch,
        head_repository=f"{_CONTRIBUTOR}/{package.repository.split('/')[1]}",
        closing_references=(story.issue,) if listed else (),
        connections=(connected,) if story.link == "connected" else (),
    )
