"""The forge's JSONL file: what is written is read back, and mistakes are named by line."""

import json
import re
from pathlib import Path

import pytest

from miner.demo import ForgeData
from miner.demo.pulls import (
    IssueRecord,
    Person,
    PullRecord,
    RepositoryRecord,
    read_pulls,
    write_pulls,
)
from miner.errors import ConfigError

FLAT = {
    "repo": "one/two",
    "pr_number": 9,
    "issue_numbers": [4, 7],
    "base_sha": "a" * 40,
    "merge_sha": "b" * 40,
    "merged_at": "2024-05-28T11:01:04-07:00",
    "kind": "squash",
    "pr_title": "Mend it",
    "issue_title": "Broken",
    "issue_body": "It is broken.",
    "something_else": [1],
}


def written(tmp_path: Path, *lines: object) -> Path:
    path = tmp_path / "pulls.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def test_records_survive_the_file(made: ForgeData, tmp_path: Path) -> None:
    path = tmp_path / "again.jsonl"
    write_pulls(path, made.records)
    first = path.read_bytes()
    assert read_pulls(path) == made.records
    write_pulls(path, read_pulls(path))
    assert path.read_bytes() == first


def test_people_may_be_named_by_their_login_alone(tmp_path: Path) -> None:
    line = {
        "type": "issue",
        "repo": "a/b",
        "number": 1,
        "title": "t",
        "author": "ann",
        "created_at": "2024-01-01T00:00:00Z",
    }
    issue = read_pulls(written(tmp_path, line))[0]
    assert isinstance(issue, IssueRecord)
    assert issue.author == Person(login="ann", kind="User")


def test_a_repository_that_is_only_named_gets_a_record(tmp_path: Path) -> None:
    records = read_pulls(written(tmp_path, FLAT))
    assert records[-1] == RepositoryRecord(name="one/two")


def test_flat_rows_become_issues_and_pull(tmp_path: Path) -> None:
    four, seven, pull, _ = read_pulls(written(tmp_path, FLAT))
    assert isinstance(four, IssueRecord)
    assert isinstance(seven, IssueRecord)
    assert isinstance(pull, PullRecord)
    assert (four.number, four.title, four.body) == (4, "Broken", "It is broken.")
    assert (seven.number, seven.body) == (7, "")
    assert pull.closing_references == (4, 7)
    assert pull.body == "Fixes #4\nFixes #7"
    assert pull.merge_commit == "b" * 40
    assert pull.base_commit is None  # the fork point is git's to tell: base_sha may have moved on
    assert pull.merged_at is not None
    assert four.created_at < pull.created_at < pull.merged_at


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "Expecting property name"),
        ('{"type": "pull"}', "pull.repo: Field required"),
        ('{"type": "thing"}', "does not match any of the expected tags"),
        ('{"repo": "a/b"}', "Unable to extract tag"),
        ('{"type": "repository", "name": "nameless"}', "should match pattern"),
        ('{"type": "repository", "name": "a/b", "colour": 1}', "Extra inputs are not permitted"),
        ({**FLAT, "merged_at": "yesterday"}, "Invalid isoformat string"),
        ({"pr_number": 1}, "the field 'repo' is missing"),
        ({**FLAT, "issue_numbers": 3}, "must be a list"),
    ],
)
def test_a_bad_line_is_named_with_its_reason(tmp_path: Path, line: object, reason: str) -> None:
    path = written(tmp_path, '{"type": "repository", "name": "a/b"}', "", line)
    with pytest.raises(ConfigError, match=rf"pulls\.jsonl, line 3: .*{re.escape(reason)}"):
        read_pulls(path)


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_pulls(tmp_path / "none.jsonl")


def test_times_without_a_zone_are_refused(tmp_path: Path) -> None:
    line = '{"type":"issue","repo":"a/b","number":1,"title":"t","created_at":"2024-01-01T00:00:00"}'
    with pytest.raises(ConfigError, match="created_at"):
        read_pulls(written(tmp_path, line))


@pytest.mark.parametrize("name", ["", "a", "a/b/c", "../..", "x\0y", "\ud800", "a b/c"])
@pytest.mark.parametrize("kind", ["issue", "pull", "flat"])
def test_a_name_that_is_none_is_told_with_its_line(tmp_path: Path, kind: str, name: str) -> None:
    moment = "2025-01-01T00:00:00Z"
    row: dict[str, object] = {"type": kind, "number": 1, "title": "t", "created_at": moment}
    if kind == "flat":
        row = {"pr_number": 1, "pr_title": "t", "merge_sha": "a" * 40, "merged_at": moment}
        row |= {"issue_numbers": [2], "issue_title": "t", "issue_body": "b"}
    path = tmp_path / "pulls.jsonl"
    path.write_text(json.dumps(row | {"repo": name}) + "\n")
    with pytest.raises(ConfigError, match=r"pulls\.jsonl, line 1: (\w+\.)?repo: "):
        read_pulls(path)


def test_a_file_without_records_is_told(tmp_path: Path) -> None:
    (tmp_path / "pulls.jsonl").write_text("\n\n")
    with pytest.raises(ConfigError, match="holds no repository, issue or pull"):
        read_pulls(tmp_path / "pulls.jsonl")
