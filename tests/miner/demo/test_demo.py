"""The demo itself, made from the package index: real trees, the right files, the same bytes."""

import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from miner.demo import ForgeData, build_forge
from miner.demo.expected import expected
from miner.demo.fast_import import git
from miner.demo.pairs import Package, Pair, packages
from miner.demo.pulls import IssueRecord, PullRecord
from miner.demo.sdists import SdistCache, SourceFile, source_tree
from miner.demo.world import World
from tests.fakes.progress import SilentProgress

PAIRS = [(package, pair) for package in packages() for pair in package.pairs]
IDS = [pair.id for _, pair in PAIRS]


def test_every_pair_has_an_expectation_and_none_is_left_over() -> None:
    pulls = {(package.repository, pair.story.pull): pair.id for package, pair in PAIRS}
    known = expected()
    told = {(e.repo, e.pull_number): e.pair for e in known.instances}
    told |= {(e.repo, e.pull_number): e.pair for e in known.rejections if e.pair}
    assert told == pulls
    assert [instance.kind for instance in known.instances].count("positive") == 13
    assert [instance.kind for instance in known.instances].count("edge") == 1


def test_all_ways_to_merge_and_to_link_occur() -> None:
    stories = [pair.story for _, pair in PAIRS]
    assert {story.method for story in stories} == {"merge", "squash", "rebase"}
    assert {story.link for story in stories} == {
        "body", "colon", "url", "title", "commit", "connected",
    }  # fmt: skip
    assert {note.when for story in stories for note in story.comments} == {
        "before", "between", "after",
    }  # fmt: skip
    assert sum(story.base_moves for story in stories) >= 4
    assert any(story.merges_base for story in stories)
    assert any(story.edited for story in stories)
    assert any(story.retitled for story in stories)


@pytest.mark.network
def test_every_merged_pull_is_expected_to_become_something(demo: ForgeData) -> None:
    merged = {
        (record.repo, record.number)
        for record in demo.records
        if isinstance(record, PullRecord) and record.merged_at
    }
    known = expected()
    instances = {(e.repo, e.pull_number) for e in known.instances}
    rejections = {(e.repo, e.pull_number) for e in known.rejections}
    assert not instances & rejections
    assert merged == instances | rejections


@pytest.fixture(scope="session")
def trees(
    demo: ForgeData, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[tuple[str, str], Mapping[str, SourceFile]]:
    """(package, version) → what its archive holds, from the cache beside the demo."""
    cached = demo.git_root.parent.parent / "sdists"
    with SdistCache(cached, index_url="http://127.0.0.1:1/") as cache:
        return {
            (package.package, version): source_tree(
                cache.fetch(package.sdist(version)).read_bytes()
            )
            for package in packages()
            for version in package.releases
        }


@pytest.mark.network
@pytest.mark.parametrize(("package", "pair"), PAIRS, ids=IDS)
def test_a_pull_turns_one_release_into_the_next(
    demo: ForgeData,
    trees: Mapping[tuple[str, str], Mapping[str, SourceFile]],
    package: Package,
    pair: Pair,
) -> None:
    repository = World(demo).repositories[package.repository]
    pull = repository.pulls[pair.story.pull]
    facts = repository.pull_facts(pull)
    kinds = {"ADDED": "A", "MODIFIED": "M", "DELETED": "D"}
    changed = {file.path: kinds[file.change] for file in facts.files}
    assert changed == {**pair.test_files, **pair.gold_files}
    assert facts.merge_commit is not None
    own = {"SUPPORT.md"}  # what the made base branch adds
    assert tree_of(repository.facts.git_dir, facts.merge_commit, without=own) == {
        path: file.data for path, file in trees[(package.package, pair.merged)].items()
    }
    assert tree_of(repository.facts.git_dir, facts.base, without=own) == {
        path: file.data for path, file in trees[(package.package, pair.base)].items()
    }


def tree_of(git_dir: Path, commit: str, *, without: set[str]) -> dict[str, bytes]:
    listed = git(["-C", str(git_dir), "ls-tree", "-r", "-z", commit]).decode().split("\0")[:-1]
    oids = {line.split("\t", 1)[1]: line.split("\t", 1)[0].split()[2] for line in listed}
    batch = git(
        ["-C", str(git_dir), "cat-file", "--batch"],
        stdin="".join(f"{oid}\n" for oid in oids.values()).encode(),
    )
    files: dict[str, bytes] = {}
    for path in oids:
        header, _, batch = batch.partition(b"\n")
        size = int(header.split()[2])
        files[path], batch = batch[:size], batch[size + 1 :]
    return {path: data for path, data in files.items() if path not in without}


@pytest.mark.network
def test_everything_happens_between_the_two_uploads(demo: ForgeData) -> None:
    world = World(demo)
    for package, pair in PAIRS:
        repository = world.repositories[package.repository]
        issue = repository.issues[pair.story.issue]
        pull = repository.pulls[pair.story.pull]
        facts = repository.pull_facts(pull)
        first = min(repository.facts.commit(oid).authored_at for oid in facts.commits)
        start = package.releases[pair.base].uploaded_at
        end = package.releases[pair.merged].uploaded_at
        assert pull.merged_at is not None
        assert start <= issue.created_at < first < pull.created_at < pull.merged_at <= end
        early = [c for c in issue.comments if c.created_at < first]
        wanted = [note for note in pair.story.comments if note.when == "before"]
        assert [comment.body for comment in early] == [note.body for note in wanted]


@pytest.mark.network
def test_an_edited_issue_keeps_its_first_text(demo: ForgeData) -> None:
    records = {(r.repo, r.number): r for r in demo.records if isinstance(r, IssueRecord)}
    edited = records[("demo/voluptuous", 1)]
    assert edited.edits[0].body != edited.body
    assert edited.edits[-1].body == edited.body
    assert edited.closed_at is not None
    assert edited.edits[-1].edited_at > edited.closed_at


@pytest.mark.network
def test_made_twice_it_is_the_same_to_the_byte(demo: ForgeData, tmp_path: Path) -> None:
    (tmp_path / "sdists").symlink_to(demo.git_root.parent.parent / "sdists")
    again = build_forge(tmp_path, index_url="http://127.0.0.1:1/", progress=SilentProgress())
    assert again.records == demo.records
    for name in World(demo).repositories:
        refs = [
            git(["-C", str(data.git_root / f"{name}.git"), "for-each-ref"])
            for data in (demo, again)
        ]
        assert refs[0] == refs[1]


KILLED = """
import os, signal, sys
from pathlib import Path
from miner.demo import build_forge
from tests.fakes.progress import SilentProgress

class Killer(SilentProgress):
    left = int(sys.argv[2])
    def advance(self, what, note, *, by=1):
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)

build_forge(Path(sys.argv[1]), index_url="http://127.0.0.1:1/", progress=Killer())
"""


@pytest.mark.network
@pytest.mark.parametrize("after", [3, 33, 39, 44])
def test_killed_while_it_is_made_it_ends_the_same(
    demo: ForgeData, tmp_path: Path, after: int
) -> None:
    (tmp_path / "sdists").symlink_to(demo.git_root.parent.parent / "sdists")
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), str(after)], check=False, timeout=150
    )
    assert killed.returncode == -signal.SIGKILL
    assert not list(tmp_path.glob("forge-*"))
    again = build_forge(tmp_path, index_url="http://127.0.0.1:1/", progress=SilentProgress())
    assert again.records == demo.records
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"sdists", ".forge.lock", again.git_root.parent.name}


@pytest.mark.network
def test_a_made_forge_is_used_again(demo: ForgeData) -> None:
    cache = demo.git_root.parent.parent
    before = sorted(path.name for path in cache.iterdir())
    again = build_forge(cache, index_url="http://127.0.0.1:1/", progress=SilentProgress())
    assert again == demo
    assert sorted(path.name for path in cache.iterdir()) == before
