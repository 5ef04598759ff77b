"""Rows: reversible, ASCII, the same for the same instance."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from pydantic import ValidationError

from miner.model import Instance, Split
from miner.publish.row import ExportRow, canonical, export_row, row_hash
from tests.samples import GOLD, NOON, candidate, instance, verdict
from validators.model import Image

SWE_BENCH = {
    "instance_id", "repo", "base_commit", "patch", "test_patch", "problem_statement", "hints_text",
    "created_at", "version", "environment_setup_commit", "FAIL_TO_PASS", "PASS_TO_PASS",
}  # fmt: skip


def row(of: Instance, **changes: str) -> ExportRow:
    return export_row(
        of, snapshot=changes.get("snapshot", "2024-06-01"), split=Split.TEST, signals={},
        dockerfile="FROM x\n",
    )  # fmt: skip


def test_a_row_has_every_column_of_swe_bench() -> None:
    assert set(json.loads(canonical(row(instance())))) >= SWE_BENCH


def test_a_row_comes_back_as_it_was() -> None:
    written = row(instance())
    assert ExportRow.model_validate_json(canonical(written)) == written


def test_bytes_that_are_not_utf8_come_back_and_are_marked() -> None:
    patch = GOLD.replace(b"# twice", b"# caf\xe9")
    written = ExportRow.model_validate_json(canonical(row(instance(of=candidate(patch=patch)))))
    assert written.patch_bytes == patch
    assert written.meta["encodings"] == {"patch": "latin-1", "test_patch": "utf-8"}


def test_a_line_is_ascii_even_with_line_separators_in_the_text() -> None:
    text = "first\u2028second\x85third " + "word " * 30
    line = canonical(row(instance(of=candidate(problem_statement=text))))
    assert line.isascii()
    assert line.splitlines() == [line]
    assert json.loads(line)["problem_statement"] == text


def test_when_and_where_it_was_verified_does_not_change_a_row() -> None:
    one = instance()
    elsewhere = replace(
        one.environment,
        key="another",
        image=Image(digest="sha256:other", tag="miner-environment:other"),
        base_image=Image(digest="sha256:base", tag=one.environment.base_image.tag),
        base_origin="pulled",
    )
    later = replace(one, verified_at=NOON + timedelta(days=9), environment=elsewhere)
    assert canonical(row(later)) == canonical(row(one))


def test_the_grading_hash_ignores_the_snapshot_and_sees_the_tests() -> None:
    one = row(instance())
    assert row_hash(row(instance(), snapshot="2024-07-01")) == row_hash(one)
    other = row(instance(verdict=verdict(pass_to_pass=())))
    assert row_hash(other) != row_hash(one)


def test_the_grading_hash_tells_bytes_apart_that_read_alike() -> None:
    latin = row(instance(of=candidate(patch=GOLD.replace(b"# twice", b"# caf\xe9"))))
    utf8 = row(instance(of=candidate(patch=GOLD.replace(b"# twice", "# caf\xe9".encode()))))
    assert latin.patch == utf8.patch
    assert row_hash(latin) != row_hash(utf8)


def test_lists_may_be_json_text_as_in_swe_bench_files() -> None:
    raw = json.loads(canonical(row(instance())))
    raw["FAIL_TO_PASS"] = json.dumps(raw["FAIL_TO_PASS"])
    assert ExportRow.model_validate(raw).FAIL_TO_PASS == ("tests/test_core.py::test_double",)


@pytest.mark.parametrize(
    ("column", "value"),
    [("base_commit", "main"), ("FAIL_TO_PASS", []), ("patch", ""), ("instance_id", "r-7"),
     ("repo", "../r")],
)  # fmt: skip
def test_unfit_columns_are_refused(column: str, value: object) -> None:
    raw = json.loads(canonical(row(instance()))) | {column: value}
    with pytest.raises(ValidationError, match=column):
        ExportRow.model_validate(raw)


@pytest.mark.parametrize(
    ("instance_id", "repo", "fits"),
    [
        ("o__r-7", "o/r", True),
        ("unidata__netcdf-c-1925", "Unidata/netcdf-c", True),  # as some datasets write them
        ("a__b__c-1", "a/b__c", True),
        ("o__r-7-1", "o/r-7", True),
        ("o__r-7", "stranger/r", False),
        ("stranger__r-7", "o/r", False),
        ("o__r-7", "o/r-7", False),
        ("o__r-7-1", "o/r", False),
    ],
)
def test_an_instance_is_of_its_own_repository(instance_id: str, repo: str, fits: bool) -> None:
    raw = json.loads(canonical(row(instance()))) | {"instance_id": instance_id, "repo": repo}
    if fits:
        assert ExportRow.model_validate(raw).repo == repo
    else:
        with pytest.raises(ValidationError, match="instance_id names another one"):
            ExportRow.model_validate(raw)


def test_marks_become_flags() -> None:
    marked = instance(
        of=candidate(statement_marks=("edited_later",)),
        verdict=verdict(marks=("all_fail_to_pass_missing_before",)),
    )
    written = export_row(
        marked, snapshot="2024-06-01", split=Split.TEST, dockerfile="",
        signals={"leak": '{"flag": true}', "size": '{"files": 1}'},
    )  # fmt: skip
    assert written.meta["flags"] == ["all_fail_to_pass_missing_before", "edited_later", "leak"]


def test_lists_made_of_the_whole_suite_say_so_and_are_graded_otherwise() -> None:
    files = row(instance())
    suite = row(replace(instance(), verdict=replace(instance().verdict, policy="full-suite")))
    assert not files.whole_suite
    assert suite.whole_suite
    assert ExportRow.model_validate_json(canonical(suite)).whole_suite
    assert row_hash(files) != row_hash(suite)
