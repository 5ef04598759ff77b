"""Two tiny projects of our own whose pulls must be turned down, each for one reason. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from miner.demo.histories import (
    CONTRIBUTOR,
    Branch,
    Changes,
    History,
    Identity,
    Method,
    Step,
    changes_between,
)
from miner.demo.made_files import (
    BALANCE,
    BALANCE_TESTS,
    EXPENSES_TEST,
    HYPHEN_TEST,
    LICENSE,
    LONGEST,
    SHORTEST,
    WORDS,
    WORDS_TESTS,
)
from miner.demo.pulls import (
    CommentRecord,
    IssueRecord,
    Person,
    PullRecord,
    Record,
    RepositoryRecord,
)
from miner.demo.sdists import SourceFile

TALLY = "demo/tally"
LEDGER = "demo/ledger"
UNKNOWN_REQUIREMENT = "evergreen-demo-package-that-does-not-exist"
_BOT = Identity("dependabot", "dependabot[bot]")


@dataclass(slots=True)
class MadeRepository:
    """A repository under way. `merges`: number of a pull → key of its merge commit."""

    repository: RepositoryRecord
    history: History = field(default_factory=History)
    records: list[Record] = field(default_factory=list)
    merges: dict[int, int] = field(default_factory=dict)


def _project(name: str, summary: str, requirements: Sequence[str]) -> dict[str, SourceFile]:
    pyproject = f"""[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "demo-{name}"
version = "0.1.0"
description = "{summary}"
requires-python = ">=3.9"
license = {{text = "MIT"}}
dependencies = [{", ".join(f'"{requirement}"' for requirement in requirements)}]

[tool.setuptools]
packages = ["{name}"]
"""
    return {
        "pyproject.toml": SourceFile(pyproject.encode()),
        "LICENSE": SourceFile(LICENSE.encode()),
        "README.md": SourceFile(f"# {name}\n\n{summary}.\n".encode()),
    }


def tally() -> MadeRepository:
    """Pulls that split turns down: no link, a link to a pull, reverted and revert, a bot's."""
    day = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    made = MadeRepository(
        RepositoryRecord(
            name=TALLY, description="Counts words", license="MIT", stars=12, created_at=day
        )
    )
    files = _project("tally", "Counts words", ())
    files["tally/__init__.py"] = SourceFile(b'"""Counts words."""\n')
    files["requirements-dev.txt"] = SourceFile(b"pytest==8.3.4\n")
    files["tally/words.py"] = SourceFile(WORDS.encode())
    files["tests/test_words.py"] = SourceFile(WORDS_TESTS.encode())
    made.history.release("v0.1.0", files, at=day)
    made.records += [
        IssueRecord(
            repo=TALLY,
            number=1,
            title="Ignore case when counting",
            body="count('A a') gives two entries. A keyword to fold the case would help.",
            author=Person(login="reporter"),
            created_at=day + timedelta(days=1),
        ),
    ]
    _merge(
        made, 2, day + timedelta(days=2), "Add longest()", _Addition("longest", LONGEST), body=""
    )
    _merge(
        made,
        3,
        day + timedelta(days=4),
        "Add shortest()",
        _Addition("shortest", SHORTEST),
        body="Fixes #2, which forgot the other end.",
    )
    _reverted_pull(made, day + timedelta(days=10))
    bump: Changes = {"requirements-dev.txt": SourceFile(b"pytest==8.3.5\n")}
    _merge(
        made,
        7,
        day + timedelta(days=20),
        "Bump pytest from 8.3.4 to 8.3.5",
        bump,
        body="Bumps pytest from 8.3.4 to 8.3.5.",
        author=_BOT,
    )
    _unmerged_pulls(made, day + timedelta(days=25))
    return made


def ledger() -> MadeRepository:
    """A sound pull of a project whose requirement is on no index: no environment can be made."""
    day = datetime(2026, 4, 6, 9, 0, tzinfo=UTC)
    made = MadeRepository(
        RepositoryRecord(
            name=LEDGER, description="Adds amounts", license="MIT", stars=3, created_at=day
        )
    )
    files = _project("ledger", "Adds amounts", (UNKNOWN_REQUIREMENT,))
    files["ledger/__init__.py"] = SourceFile(BALANCE.encode())
    files["tests/test_ledger.py"] = SourceFile(BALANCE_TESTS.encode())
    made.history.release("0.1.0", files, at=day)
    made.records += [
        IssueRecord(
            repo=LEDGER,
            number=1,
            title="Negative amounts are left out of the balance",
            body="balance([5, -2]) gives 5. Expenses are negative amounts and have to be "
            "subtracted, so the result should be 3. An empty list should still give 0.",
            author=Person(login="reporter"),
            created_at=day + timedelta(days=1),
            closed_at=day + timedelta(days=3),
            closed_by="#2",
        ),
    ]
    changes: Changes = {
        "ledger/__init__.py": SourceFile(BALANCE.replace(" if amount > 0", "").encode()),
        "tests/test_ledger.py": SourceFile((BALANCE_TESTS + EXPENSES_TEST).encode()),
    }
    _merge(
        made, 2, day + timedelta(days=3), "Subtract expenses", changes, body="Fixes #1", closes=1
    )
    return made


def _reverted_pull(made: MadeRepository, at: datetime) -> None:
    made.records.append(
        IssueRecord(
            repo=TALLY,
            number=4,
            title="Count hyphenated words as two",
            body="count('well-known') should count 'well' and 'known' apart, as most readers "
            "expect of a word counter that splits at punctuation elsewhere.",
            author=Person(login="reporter"),
            created_at=at - timedelta(days=2),
            closed_at=at,
            closed_by="#5",
            comments=(
                CommentRecord(
                    author=Person(login="maintainer"),
                    body="Not sure, but let us try.",
                    created_at=at - timedelta(days=1, hours=20),
                ),
            ),
        )
    )
    before = dict(made.history.tree)
    changes: Changes = {
        "tally/words.py": SourceFile(
            before["tally/words.py"].data.replace(
                b"text.split()", b"text.replace('-', ' ').split()"
            )
        ),
        "tests/test_words.py": SourceFile(
            before["tests/test_words.py"].data + HYPHEN_TEST.encode()
        ),
    }
    title = "Split at hyphens"
    _merge(made, 5, at, title, changes, body="Fixes #4", closes=4, method=Method.MERGE)
    undo = changes_between(made.history.tree, before)
    body = f"Reverts {TALLY}#5\n\nIt breaks names such as Anne-Marie."
    _merge(made, 6, at + timedelta(days=3), f'Revert "{title}"', undo, body=body)


def _unmerged_pulls(made: MadeRepository, at: datetime) -> None:
    """One open and one closed pull: a miner of merged pulls never sees them."""
    for number, closed_at in ((8, None), (9, at + timedelta(days=2))):
        text = f"# tally\n\nCounts words. Draft {number}.\n"
        changes: Changes = {"README.md": SourceFile(text.encode())}
        title = f"Reword the README, draft {number}"
        steps = (Step(message=title + "\n", authored_at=at, changes=changes),)
        made.history.propose(
            Branch(
                number=number,
                name=f"draft-{number}",
                title=title,
                steps=steps,
                method=Method.SQUASH,
                merged_at=at,
            )
        )
        made.records.append(
            PullRecord(
                repo=TALLY,
                number=number,
                title=title,
                body="Fixes #1" if closed_at is None else "",
                author=Person(login=CONTRIBUTOR.login),
                created_at=at,
                closed_at=closed_at,
                head_branch=f"draft-{number}",
            )
        )


@dataclass(frozen=True, slots=True)
class _Addition:
    """A function appended to tally/words.py, with a test."""

    name: str
    source: str

    def changes(self, tree: dict[str, SourceFile]) -> Changes:
        test = f"\n\ndef test_{self.name}():\n    assert words.{self.name}('a bc def') in 'a def'\n"
        return {
            "tally/words.py": SourceFile(tree["tally/words.py"].data + self.source.encode()),
            "tests/test_words.py": SourceFile(tree["tests/test_words.py"].data + test.encode()),
        }


def _merge(  # noqa: PLR0913  a made pull has these parts
    made: MadeRepository,
    number: int,
    at: datetime,
    title: str,
    changes: "Changes | _Addition",
    *,
    body: str,
    closes: int | None = None,
    author: Identity = CONTRIBUTOR,
    method: Method = Method.SQUASH,
) -> None:
    if isinstance(changes, _Addition):
        changes = changes.changes(made.history.tree)
    step = Step(message=f"{title}\n", authored_at=at - timedelta(hours=6), changes=changes)
    branch = Branch(
        number=number,
        name=f"change-{number}",
        title=title,
        steps=(step,),
        method=method,
        merged_at=at,
        author=author,
        squash_body=body,
    )
    made.merges[number] = made.history.merge(branch)
    made.records.append(
        PullRecord(
            repo=made.repository.name,
            number=number,
            title=title,
            body=body,
            author=Person(login=author.login, kind="Bot" if author == _BOT else "User"),
            merged_by=Person(login="maintainer"),
            created_at=at - timedelta(hours=5),
            merged_at=at,
            closed_at=at,
            head_branch=branch.name,
            closing_references=() if closes is None else (closes,),
        )
    )
