"""Any git repository can be served: plain clones get the refs of pulls without being touched."""

import json
import subprocess
from pathlib import Path

import pytest

from miner.demo import ForgeData, load_forge, serve
from miner.demo.fast_import import git
from miner.demo.pulls import PullRecord
from miner.demo.world import World
from miner.errors import ConfigError
from tests.miner.demo.conftest import ask, dig

TALLY = "demo/tally"


def clone(made: ForgeData, to: Path, *options: str) -> Path:
    source = made.git_root / f"{TALLY}.git"
    subprocess.run(
        ["git", "-c", "protocol.file.allow=always", "clone", "-q", *options, str(source), str(to)],
        check=True,
    )
    return to


def rows(made: ForgeData, *numbers: int) -> list[dict[str, object]]:
    """Flat rows of some pulls: only what such a list would hold."""
    return [
        {
            "repo": TALLY,
            "pr_number": record.number,
            "issue_numbers": [4],
            "merge_sha": record.merge_commit,
            "base_sha": git(
                ["-C", str(made.git_root / f"{TALLY}.git"), "rev-parse", f"{record.merge_commit}^1"]
            )
            .decode()
            .strip(),
            "merged_at": str(record.merged_at),
            "kind": "merge" if record.number == 5 else "squash",
            "pr_title": record.title,
            "issue_title": "T",
            "issue_body": "B",
        }
        for record in made.records
        if isinstance(record, PullRecord) and record.repo == TALLY and record.number in numbers
    ]


def written(path: Path, lines: list[dict[str, object]]) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


QUERY = """{ repository(owner: "demo", name: "tally") {
  defaultBranchRef { name } licenseInfo { spdxId } primaryLanguage { name }
  pullRequests(first: 9, orderBy: {field: UPDATED_AT, direction: DESC}) { nodes {
    number headRefOid mergeCommit { oid } files(first: 9) { nodes { path } }
    closingIssuesReferences(first: 2) { nodes { number body } } } } } }"""


@pytest.mark.parametrize("folder", ["demo/tally", "demo__tally", "tally", "tally.git"])
@pytest.mark.parametrize("options", [(), ("--bare",)])
def test_a_plain_clone_and_flat_rows_are_enough(
    made: ForgeData, tmp_path: Path, folder: str, options: tuple[str, ...]
) -> None:
    repository = clone(made, tmp_path / folder, *options)
    before = git(["-C", str(repository), "for-each-ref"])
    data = load_forge(tmp_path, written(tmp_path / "pulls.jsonl", rows(made, 3, 5)))
    with serve(data) as forge:
        answer = ask(forge, "/graphql", body={"query": QUERY})
        listed = git(["ls-remote", f"{forge.base_url}/{TALLY}.git"]).decode()
    told = dig(answer.json, "data", "repository")
    assert dig(told, "defaultBranchRef", "name") == "main"
    assert dig(told, "licenseInfo", "spdxId") == "MIT"
    assert dig(told, "primaryLanguage", "name") == "Python"
    five, three = dig(told, "pullRequests", "nodes", 0), dig(told, "pullRequests", "nodes", 1)
    assert (dig(five, "number"), dig(three, "number")) == (5, 3)
    assert dig(three, "headRefOid") == dig(three, "mergeCommit", "oid")
    for pull in (five, three):
        assert dig(pull, "files", "nodes") == [
            {"path": "tally/words.py"},
            {"path": "tests/test_words.py"},
        ]
        assert f"{dig(pull, 'headRefOid')}\trefs/pull/{dig(pull, 'number')}/head" in listed
    assert dig(five, "closingIssuesReferences", "nodes") == [{"number": 4, "body": "B"}]
    assert "refs/tags/v0.1.0^{}" in listed
    assert git(["-C", str(repository), "for-each-ref"]) == before


def test_branches_of_origin_are_served(made: ForgeData, tmp_path: Path) -> None:
    first = clone(made, tmp_path / "first", "--bare")
    git(["-C", str(first), "branch", "stable", "main~1"])
    subprocess.run(
        [
            "git",
            "-c",
            "protocol.file.allow=always",
            "clone",
            "-q",
            str(first),
            str(tmp_path / "tally"),
        ],
        check=True,
    )
    data = load_forge(tmp_path, written(tmp_path / "pulls.jsonl", rows(made, 3)))
    with serve(data) as forge:
        listed = git(["ls-remote", f"{forge.base_url}/{TALLY}.git"]).decode()
    assert "\trefs/heads/stable\n" in listed


def test_a_merge_s_own_parent_counts_more_than_a_ref_of_the_same_number(
    made: ForgeData, tmp_path: Path
) -> None:
    repository = clone(made, tmp_path / "tally", "--bare")
    git(["-C", str(repository), "update-ref", "refs/pull/5/head", "v0.1.0^{commit}"])
    data = load_forge(tmp_path, written(tmp_path / "pulls.jsonl", rows(made, 5)))
    told = World(data).repositories[TALLY]
    facts = told.pull_facts(told.pulls[5])
    with serve(data) as forge:
        served = git(["ls-remote", f"{forge.base_url}/{TALLY}.git"]).decode()
    assert f"{facts.head}\trefs/pull/5/head" in served
    assert [file.path for file in facts.files] == ["tally/words.py", "tests/test_words.py"]


def test_issues_of_a_repository_without_git_are_told(made: ForgeData, tmp_path: Path) -> None:
    clone(made, tmp_path / "tally")
    (row,) = rows(made, 3)
    elsewhere = {**row, "issue_repo": "old/home"}
    data = load_forge(tmp_path, written(tmp_path / "pulls.jsonl", [elsewhere]))
    text = """{ repository(owner: "old", name: "home") {
      nameWithOwner issueOrPullRequest(number: 4) { ... on Issue { body } } } }"""
    with serve(data) as forge:
        answer = ask(forge, "/graphql", body={"query": text})
        pull = ask(forge, "/graphql", body={"query": QUERY})
        assert ask(forge, "/repos/old/home").status == 404
    assert dig(answer.json, "data", "repository", "issueOrPullRequest") == {"body": "B"}
    (told,) = listed(dig(pull.json, "data", "repository", "pullRequests", "nodes"))
    assert dig(told, "closingIssuesReferences", "nodes") == []


def listed(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


def test_a_commit_that_is_not_there_is_one_sentence(made: ForgeData, tmp_path: Path) -> None:
    clone(made, tmp_path / "tally")
    (row,) = rows(made, 3)
    path = written(tmp_path / "pulls.jsonl", [{**row, "merge_sha": "1" * 40}])
    with pytest.raises(ConfigError, match="has no commit '1111"), serve(load_forge(tmp_path, path)):
        pass


def test_a_repository_that_is_not_there_is_one_sentence(made: ForgeData, tmp_path: Path) -> None:
    path = written(tmp_path / "pulls.jsonl", rows(made, 3))
    with (
        pytest.raises(ConfigError, match="holds no git repository for demo/tally"),
        serve(load_forge(tmp_path, path)),
    ):
        pass
