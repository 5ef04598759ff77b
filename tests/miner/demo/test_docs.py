"""docs/forge.md names every field of the pulls file, and its example can be read."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from miner.demo.pulls import (
    CommentRecord,
    Connection,
    Edit,
    IssueRecord,
    PullRecord,
    Rename,
    RepositoryRecord,
    read_pulls,
)

GUIDE = (Path(__file__).parents[3] / "docs" / "forge.md").read_text("utf-8")


@pytest.mark.parametrize(
    "record",
    [RepositoryRecord, IssueRecord, PullRecord, CommentRecord, Connection, Edit, Rename],
)
def test_every_field_is_in_the_guide(record: type[BaseModel]) -> None:
    named = set(re.findall(r"`(\w+)`", GUIDE))
    assert record.model_fields.keys() <= named


def test_the_example_is_valid(tmp_path: Path) -> None:
    example = re.search(r"```json\n(.*?)```", GUIDE, re.DOTALL)
    assert example is not None
    path = tmp_path / "pulls.jsonl"
    path.write_text(example[1], encoding="utf-8")
    assert [record.type for record in read_pulls(path)] == ["repository", "issue", "pull"]
