"""A forge of any size, made in seconds: tiny repositories, pulls in fixed shares of every kind.

For benchmarks and fault tests. Same arguments, same bytes.
"""

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from miner.demo.fast_import import write_repository
from miner.demo.forge import ForgeData, load_forge
from miner.demo.histories import Branch, Changes, History, Method, Step
from miner.demo.pulls import (
    CommentRecord,
    Edit,
    IssueRecord,
    Person,
    PullRecord,
    Record,
    Rename,
    RepositoryRecord,
    write_pulls,
)
from miner.demo.sdists import SourceFile

START = datetime(2024, 1, 1, tzinfo=UTC)
STEP = timedelta(hours=6)  # between one pull and the next
_METHODS = (
    *[Method.MERGE] * 4,
    *[Method.SQUASH] * 4,
    *[Method.REBASE] * 2,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """How often something occurs, from 0 to 1. Merges are 40 % merge, 40 % squash, 20 % rebase."""

    edited: float = 0.2  # the issue's text is edited after the merge
    retitled: float = 0.1
    base_moves: float = 0.3
    unlinked: float = 0.2  # the pull names no issue
    comments: int = 2  # of each issue


DEFAULT_SHARES = Shares()


def synthetic(
    folder: Path,
    *,
    repositories: int = 200,
    pulls: int = 50,
    seed: int = 0,
    shares: Shares = DEFAULT_SHARES,
) -> ForgeData:
    """A forge below `folder`; one that lies there whole already is used again.

    Repositories are `synth/r000`, `synth/r001` …; each has `pulls` merged pulls.
    """
    kind = hashlib.sha256(repr((repositories, pulls, seed, shares)).encode()).hexdigest()[:12]
    pulls_file = folder / f"synthetic-{kind}.jsonl"
    git_root = folder / pulls_file.stem
    if not pulls_file.is_file():
        records: list[Record] = []
        for place in range(repositories):
            # reproducible choices, no secrets
            chance = random.Random(f"{seed}-{place}")  # noqa: S311
            records += _repository(git_root, f"synth/r{place:03}", pulls, chance, shares)
        draft = pulls_file.with_suffix(".partial")
        write_pulls(draft, records)
        draft.replace(pulls_file)
    return load_forge(git_root, pulls_file)


def _repository(
    git_root: Path, name: str, pulls: int, chance: random.Random, shares: Shares
) -> Sequence[Record]:
    history = History()
    tree = {"README.md": SourceFile(f"# {name}\n".encode()), "LICENSE": SourceFile(_LICENSE)}
    tree |= {f"src/m{k}.py": SourceFile(_module(k, 0)) for k in range(5)}
    tree |= {f"tests/test_m{k}.py": SourceFile(_test(k, 0)) for k in range(5)}
    history.release("v1.0", tree, at=START)
    stories = [_Story(name, place, chance, shares) for place in range(pulls)]
    keys = {story.pull: history.merge(story.branch()) for story in stories}
    commits = write_repository(git_root / f"{name}.git", history)
    records: list[Record] = [
        RepositoryRecord(
            name=name,
            default_branch="main",
            license="MIT",
            languages={"Python": 4000},
            stars=chance.randrange(2000),
            created_at=START,
        )
    ]
    for story in stories:
        records += [story.issue_record(), story.pull_record(commits[keys[story.pull]])]
    return records


class _Story:
    """One pull and its issue."""

    def __init__(self, repo: str, place: int, chance: random.Random, shares: Shares) -> None:
        self.repo, self.place = repo, place
        self.issue, self.pull = 2 * place + 1, 2 * place + 2
        self.merged_at = START + (place + 1) * STEP
        self.method = _METHODS[chance.randrange(len(_METHODS))]
        self.edited = chance.random() < shares.edited
        self.retitled = chance.random() < shares.retitled
        self.base_moves = chance.random() < shares.base_moves
        self.linked = chance.random() >= shares.unlinked
        self.comments = shares.comments
        self.title = f"Return {place + 1} from module {place % 5}"

    def branch(self) -> Branch:
        """The pull for git: source first, then its test."""
        k, value = self.place % 5, self.place + 1
        source: Changes = {f"src/m{k}.py": SourceFile(_module(k, value))}
        tests: Changes = {f"tests/test_m{k}.py": SourceFile(_test(k, value))}
        start = self.merged_at - STEP
        return Branch(
            number=self.pull,
            name=f"change-{self.pull}",
            title=self.title,
            steps=(
                Step(
                    message=f"{self.title}\n",
                    authored_at=start + timedelta(hours=1),
                    changes=source,
                ),
                Step(
                    message=f"Test module {k}\n",
                    authored_at=start + timedelta(hours=2),
                    changes=tests,
                ),
            ),
            method=self.method,
            merged_at=self.merged_at,
            base_moved_at=start + timedelta(hours=3) if self.base_moves else None,
        )

    def issue_record(self) -> IssueRecord:
        """The issue, a quarter of an hour old when work begins."""
        created_at = self.merged_at - STEP + timedelta(minutes=45)
        first = f"Module {self.place % 5} should return {self.place + 1}, as the guide promises."
        body = f"{first}\n\nEdit: done." if self.edited else first
        edits = (
            Edit(edited_at=created_at, body=first),
            Edit(edited_at=self.merged_at + timedelta(days=1), body=body),
        )
        renamed = Rename(
            renamed_at=self.merged_at + timedelta(hours=1),
            previous_title=f"Wrong value {self.place}",
            current_title=f"Wrong value {self.place} (solved)",
        )
        return IssueRecord(
            repo=self.repo,
            number=self.issue,
            title=renamed.current_title if self.retitled else renamed.previous_title,
            body=body,
            author=Person(login="reporter"),
            created_at=created_at,
            closed_at=self.merged_at if self.linked else None,
            closed_by=f"#{self.pull}" if self.linked else None,
            comments=tuple(
                CommentRecord(
                    author=Person(login="maintainer"),
                    body=f"Comment {number}.",
                    created_at=created_at + timedelta(minutes=number + 1),
                )
                for number in range(self.comments)
            ),
            edits=edits if self.edited else (),
            renames=(renamed,) if self.retitled else (),
        )

    def pull_record(self, merge_commit: str) -> PullRecord:
        """The merged pull."""
        return PullRecord(
            repo=self.repo,
            number=self.pull,
            title=self.title,
            body=f"Fixes #{self.issue}" if self.linked else "A small thing.",
            author=Person(login="contributor"),
            merged_by=Person(login="maintainer"),
            created_at=self.merged_at - timedelta(hours=3),
            merged_at=self.merged_at,
            closed_at=self.merged_at,
            merge_commit=merge_commit,
            closing_references=(self.issue,) if self.linked else (),
        )


def _module(k: int, value: int) -> bytes:
    filler = "\n".join(f"CONSTANT_{line} = {line * k}" for line in range(20))
    return f'"""Module {k}."""\n\n{filler}\n\n\ndef value():\n    return {value}\n'.encode()


def _test(k: int, value: int) -> bytes:
    check = f"def test_value():\n    assert m{k}.value() == {value}\n"
    return f"from src import m{k}\n\n\n{check}".encode()


_LICENSE = b"MIT License\n\nPermission is hereby granted, free of charge, to any person\n"
