"""The forge's own file: repositories, issues and pulls as JSONL. docs/forge.md shows every field.

One object a line, told apart by `type`. Facts that git knows (files, commits, parents, sizes) are
not in the file; the forge reads them from the repository itself.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter
from pydantic import ValidationError as PydanticValidationError

from miner.errors import ConfigError
from miner.given import read_text
from miner.jsontext import parsed

_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9._-]+$"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Person(_Record):
    """An account. `kind` is GitHub's `__typename`: User, Bot, Organization, Mannequin."""

    login: str
    kind: str = "User"


def _person(value: object) -> object:
    return {"login": value} if isinstance(value, str) else value


Account = Annotated[Person | None, BeforeValidator(_person)]


class Edit(_Record):
    """One version of a text: `body` is the whole text from `edited_at` on."""

    edited_at: AwareDatetime
    body: str
    editor: Account = None


class Rename(_Record):
    """A change of an issue's title."""

    renamed_at: AwareDatetime
    previous_title: str
    current_title: str


class CommentRecord(_Record):
    """A comment of an issue. `edits`: oldest first, the first is the text as created."""

    author: Account = None
    body: str
    created_at: AwareDatetime
    edits: tuple[Edit, ...] = ()
    minimized: bool = False


class RepositoryRecord(_Record):
    """A repository. What is left out is asked of git: default branch, languages, licence.

    `git` is its folder below the git root; left out, the usual names are tried (docs/forge.md).
    A repository without pulls need not be there: it can still be named and searched for.
    """

    type: Literal["repository"] = "repository"
    name: str = Field(pattern=_NAME)
    database_id: int | None = None
    git: str | None = None
    former_names: tuple[str, ...] = ()
    description: str = ""
    default_branch: str | None = None
    license: str | None = None  # SPDX id
    languages: Mapping[str, int] = {}  # name → bytes
    stars: int = 0
    is_fork: bool = False
    is_archived: bool = False
    created_at: AwareDatetime | None = None
    pushed_at: AwareDatetime | None = None


class IssueRecord(_Record):
    """An issue with its comments, earlier texts and titles. `closed_by` is "#7" or a commit."""

    type: Literal["issue"] = "issue"
    repo: str = Field(pattern=_NAME)
    number: int = Field(gt=0)
    title: str
    body: str = ""
    author: Account = None
    created_at: AwareDatetime
    closed_at: AwareDatetime | None = None
    closed_by: str | None = None
    labels: tuple[str, ...] = ()
    comments: tuple[CommentRecord, ...] = ()
    edits: tuple[Edit, ...] = ()
    renames: tuple[Rename, ...] = ()


class Connection(_Record):
    """An issue linked by hand in the sidebar. `disconnected_at`: and unlinked again."""

    issue: int
    connected_at: AwareDatetime
    disconnected_at: AwareDatetime | None = None


class PullRecord(_Record):
    """A pull. Commits may be any name git knows; what is left out is derived from git.

    `head_commit` ← the second parent of `merge_commit`, else refs/pull/N/head, else the merge
    commit itself; `base_commit` (the fork point) ← the merge base of head and base branch.
    """

    type: Literal["pull"] = "pull"
    repo: str = Field(pattern=_NAME)
    number: int = Field(gt=0)
    title: str
    body: str = ""
    author: Account = None
    created_at: AwareDatetime
    updated_at: AwareDatetime | None = None
    merged_at: AwareDatetime | None = None
    closed_at: AwareDatetime | None = None
    merged_by: Account = None
    base_branch: str | None = None
    head_branch: str | None = None
    head_repository: str | None = None
    merge_commit: str | None = None
    head_commit: str | None = None
    base_commit: str | None = None
    labels: tuple[str, ...] = ()
    closing_references: tuple[int, ...] = ()
    connections: tuple[Connection, ...] = ()
    edits: tuple[Edit, ...] = ()


Record = RepositoryRecord | IssueRecord | PullRecord
_RECORD: TypeAdapter[Record] = TypeAdapter(Annotated[Record, Field(discriminator="type")])


def read_pulls(path: Path) -> tuple[Record, ...]:
    """All records of a JSONL file, in its order.

    Lines without `type` but with `pr_number` are rows of the flat shape (`flat_records`).
    Raises ConfigError with line number and reason.
    """
    records: list[Record] = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            records += _parse(line, where=f"{path}, line {number}")
    if not records:
        raise ConfigError(f"The pulls file {path} holds no repository, issue or pull.")
    return with_repositories(records)


def _parse(line: str, *, where: str) -> tuple[Record, ...]:
    try:
        row = parsed(line)
        if isinstance(row, dict) and "type" not in row and "pr_number" in row:
            return flat_records(row)
        return (_RECORD.validate_python(row),)
    except PydanticValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "the object"
        raise ConfigError(f"{where}: {field}: {first['msg']}.") from error
    except KeyError as error:
        raise ConfigError(f"{where}: the field {error} is missing.") from error
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{where}: {error}.") from error


def with_repositories(records: Iterable[Record]) -> tuple[Record, ...]:
    """The records, with a bare repository record for every name that has none; no repeats."""
    unique: dict[tuple[str, str, int], Record] = {}
    for record in records:
        if isinstance(record, RepositoryRecord):
            unique[(record.name, "repository", 0)] = record
        else:
            unique.setdefault((record.repo, record.type, record.number), record)
    for repo in dict.fromkeys(name for name, *_ in unique):
        unique.setdefault((repo, "repository", 0), RepositoryRecord(name=repo))
    return tuple(unique.values())


def write_pulls(path: Path, records: Iterable[Record]) -> None:
    """Write records as JSONL; same records, same bytes."""
    lines = [record.model_dump_json(exclude_defaults=False) for record in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def flat_records(row: Mapping[str, object]) -> tuple[Record, ...]:
    """One flat row → its repository's issue(s) and pull.

    Row: repo, pr_number, issue_numbers, merge_sha, merged_at, pr_title, issue_title,
    issue_body; other keys are left alone. Dates that the row does not have are placed before the
    merge: the issue two days, the pull one. The first issue carries the text.
    """
    repo, number = str(row["repo"]), int(str(row["pr_number"]))
    merged_at = datetime.fromisoformat(str(row["merged_at"]))
    issues = row.get("issue_numbers") or ()
    if not isinstance(issues, list | tuple):
        raise TypeError("issue_numbers must be a list")
    numbers = [int(str(issue)) for issue in issues]
    issue_repo = str(row.get("issue_repo") or repo)
    where = "" if issue_repo == repo else issue_repo
    keyword_lines = "\n".join(f"Fixes {where}#{issue}" for issue in numbers)
    pull = PullRecord(
        repo=repo,
        number=number,
        title=str(row.get("pr_title") or f"Pull {number}"),
        body=str(row.get("pr_body") or keyword_lines),
        author=Person(login="contributor"),
        merged_by=Person(login="maintainer"),
        created_at=merged_at - timedelta(days=1),
        merged_at=merged_at,
        merge_commit=str(row["merge_sha"]),
        closing_references=() if where else tuple(numbers),
    )
    texts = [str(row.get("issue_body") or ""), *[""] * len(numbers)]
    issues_told = (
        IssueRecord(
            repo=issue_repo,
            number=issue,
            title=str(row.get("issue_title") or f"Issue {issue}"),
            body=text,
            author=Person(login="reporter"),
            created_at=pull.created_at - timedelta(days=1),
            closed_at=merged_at,
            closed_by=None if where else f"#{number}",
        )
        for issue, text in zip(numbers, texts, strict=False)
    )
    return (*issues_told, pull)
