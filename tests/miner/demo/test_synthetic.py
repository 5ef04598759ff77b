"""A made-up forge: as many as asked for, all kinds in it, the same every time."""

from pathlib import Path

from miner.demo import ForgeData, Shares, synthetic
from miner.demo.pulls import IssueRecord, PullRecord
from miner.demo.world import World

PULLS = 30


def made(folder: Path, *, seed: int = 0) -> ForgeData:
    return synthetic(folder, repositories=2, pulls=PULLS, seed=seed)


def test_it_is_as_large_as_asked_and_holds_every_kind(tmp_path: Path) -> None:
    data = made(tmp_path)
    issues = [record for record in data.records if isinstance(record, IssueRecord)]
    pulls = [record for record in data.records if isinstance(record, PullRecord)]
    assert len(pulls) == len(issues) == 2 * PULLS
    assert 0 < sum(bool(issue.edits) for issue in issues) < len(issues) // 2
    assert 0 < sum(not pull.closing_references for pull in pulls) < len(pulls) // 2
    shapes = set()
    for name, repository in World(data).repositories.items():
        assert name.startswith("synth/r00")
        for pull in repository.pulls.values():
            facts = repository.pull_facts(pull)
            assert facts.merge_commit is not None
            merge = repository.facts.commit(facts.merge_commit)
            squashed = merge.message.startswith(pull.title)
            shapes.add((len(merge.parents), squashed))
            assert len(facts.commits) == 2
            assert len(facts.files) == 2
    assert shapes == {(2, False), (1, True), (1, False)}  # merge, squash, rebase


def test_same_arguments_same_bytes_and_made_once(tmp_path: Path) -> None:
    one = made(tmp_path / "one")
    files = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "one").iterdir()}
    assert made(tmp_path / "one") == one
    assert {p.name: p.stat().st_mtime_ns for p in (tmp_path / "one").iterdir()} == files
    assert made(tmp_path / "two").records == one.records
    assert made(tmp_path / "two", seed=1).records != one.records


def test_shares_are_heeded(tmp_path: Path) -> None:
    plain = Shares(edited=0, retitled=0, base_moves=0, unlinked=0, comments=0)
    data = synthetic(tmp_path, repositories=1, pulls=5, shares=plain)
    issues = [record for record in data.records if isinstance(record, IssueRecord)]
    assert not any(issue.edits or issue.renames or issue.comments for issue in issues)
    assert all(issue.closed_by for issue in issues)
