"""Refs a forge must have and a plain clone lacks, laid over a repository without touching it.

A clone has no refs/pull/N/head and keeps other branches under refs/remotes/origin. The overlay is a
bare repository that borrows the clone's objects (git's alternates) and has those refs of its own.
"""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from miner.demo.fast_import import git, init_bare
from miner.demo.forge import ForgeData
from miner.demo.pulls import Record, RepositoryRecord
from miner.demo.world import RepositoryWorld, World

_REMOTE = "refs/remotes/origin/"


@contextmanager
def with_all_refs(data: ForgeData) -> Iterator[ForgeData]:
    """The same forge with every pull's head and every branch of origin served.

    Repositories that have them already are served as they are. ConfigError when a pull names a
    commit that its repository does not have.
    """
    missing = {
        name: refs
        for name, repository in World(data).repositories.items()
        if (refs := _missing_refs(repository))
    }
    if not missing:
        yield data
        return
    with tempfile.TemporaryDirectory(prefix="forge-refs-") as scratch:
        world = World(data)
        folders = {
            name: _overlay(Path(scratch) / f"{name}.git", world.repositories[name], refs)
            for name, refs in missing.items()
        }
        records: tuple[Record, ...] = tuple(
            record.model_copy(update={"git": str(folders[record.name])})
            if isinstance(record, RepositoryRecord) and record.name in folders
            else record
            for record in data.records
        )
        yield ForgeData(git_root=data.git_root, records=records)


def _missing_refs(repository: RepositoryWorld) -> Mapping[str, str]:
    if not repository.pulls:
        return {}  # of issues alone: there may be no git at all
    refs = repository.facts.refs
    heads = {
        f"refs/pull/{number}/head": repository.pull_facts(pull).head
        for number, pull in repository.pulls.items()
    }
    # a ref of that number may be of another pull: of the repository whose history this one took on
    wanted = {name: head for name, head in heads.items() if refs.get(name) != head}
    for name, oid in refs.items():
        branch = f"refs/heads/{name.removeprefix(_REMOTE)}"
        if name.startswith(_REMOTE) and not name.endswith("/HEAD") and branch not in refs:
            wanted[branch] = oid
    return wanted


def _overlay(folder: Path, repository: RepositoryWorld, refs: Mapping[str, str]) -> Path:
    original = repository.facts.git_dir
    objects = git(["-C", str(original), "rev-parse", "--git-path", "objects"]).decode().strip()
    init_bare(folder, default_branch=repository.default_branch)
    alternates = folder / "objects" / "info" / "alternates"
    alternates.parent.mkdir(parents=True, exist_ok=True)
    alternates.write_text(f"{(original / objects).resolve()}\n", encoding="utf-8")
    served = {
        name: oid
        for name, oid in repository.facts.refs.items()
        if name.startswith(("refs/heads/", "refs/pull/"))
    }
    lines = [f"create {name} {oid}\n" for name, oid in sorted({**served, **refs}.items())]
    lines += _tags(original)
    git(["-C", str(folder), "update-ref", "--stdin"], stdin="".join(lines).encode())
    return folder


def _tags(original: Path) -> list[str]:
    """Tags with the objects they name themselves, annotated ones unpeeled."""
    listed = git(
        ["-C", str(original), "for-each-ref", "--format=%(refname) %(objectname)", "refs/tags"]
    )
    return [f"create {line}\n" for line in listed.decode().split("\n") if line]
