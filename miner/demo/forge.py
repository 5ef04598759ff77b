"""The demo's data: archives → repositories, issues and pulls, made once and kept in a folder."""

import fcntl
import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib.resources import files as resources
from pathlib import Path

from miner.demo.fast_import import write_repository
from miner.demo.histories import Branch, Method, Step
from miner.demo.languages import languages_of
from miner.demo.made import MadeRepository, ledger, tally
from miner.demo.pairs import DocsPull, Package, packages, packages_json
from miner.demo.pulls import (
    IssueRecord,
    Person,
    PullRecord,
    Record,
    RepositoryRecord,
    read_pulls,
    write_pulls,
)
from miner.demo.sdists import SdistCache, SourceFile, source_tree
from miner.demo.stories import tell
from miner.progress import Progress

_DRAFT = ".draft-"
_MERGE_OF = "merge of #"  # closed by the merge commit of that pull, not by the pull
_MADE_FROM = (
    "histories",
    "fast_import",
    "stories",
    "made",
    "made_files",
    "forge",
    "sdists",
    "languages",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeData:
    """Bare repositories below `git_root` and what people wrote about them."""

    git_root: Path
    records: tuple[Record, ...]


def load_forge(git_root: Path, pulls_file: Path) -> ForgeData:
    """Any git repositories and a pulls file, e.g. for `miner demo serve --git DIR --pulls FILE`."""
    return ForgeData(git_root=git_root, records=read_pulls(pulls_file))


def build_forge(
    cache_dir: Path,
    *,
    index_url: str | None = None,
    ca_bundle: Path | None = None,
    progress: Progress,
) -> ForgeData:
    """The demo forge below `cache_dir`; what is there already is used again.

    Archives are fetched from the package index (see `SdistCache.fetch` for its errors). Killed at
    any moment and run again, it ends in the same bytes; of two at once the second one waits.
    """
    target = cache_dir / f"forge-{_digest()}"
    with _alone_in(cache_dir):
        if not (target / "pulls.jsonl").is_file():
            for leftover in cache_dir.glob(f"{_DRAFT}*"):  # of a build that was killed
                shutil.rmtree(leftover)
            trees = _fetch_all(cache_dir / "sdists", index_url, ca_bundle, progress)
            _build(target, trees, progress)
    return load_forge(target / "git", target / "pulls.jsonl")


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """One builder at a time; the lock ends with its process, however that ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".forge.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _digest() -> str:
    """Changes with the data and with the code that makes the repositories."""
    digest = hashlib.sha256(packages_json())
    for module in _MADE_FROM:
        digest.update(resources("miner.demo").joinpath(f"{module}.py").read_bytes())
    return digest.hexdigest()[:12]


Trees = Mapping[tuple[str, str], Mapping[str, SourceFile]]  # (package, version) → tree


def _fetch_all(
    folder: Path, index_url: str | None, ca_bundle: Path | None, progress: Progress
) -> Trees:
    what = "fetch releases"
    wanted = [(package, version) for package in packages() for version in package.releases]
    progress.start(what, total=len(wanted))
    trees: dict[tuple[str, str], Mapping[str, SourceFile]] = {}
    try:
        with SdistCache(folder, index_url=index_url, ca_bundle=ca_bundle) as cache:
            for package, version in wanted:
                path = cache.fetch(package.sdist(version))
                trees[(package.package, version)] = source_tree(path.read_bytes())
                progress.advance(what, path.name)
    finally:
        progress.end(what)
    return trees


def made_forge(folder: Path) -> ForgeData:
    """The two made projects alone, below an empty or new `folder`: needs no package index."""
    records: list[Record] = []
    for made in (tally(), ledger()):
        records += _write(folder, made)
    write_pulls(folder / "pulls.jsonl", records)
    return load_forge(folder / "git", folder / "pulls.jsonl")


def _build(target: Path, trees: Trees, progress: Progress) -> None:
    """Into a folder of its own, then renamed: the target is whole or not there."""
    what = "make repositories"
    draft = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=target.parent))
    progress.start(what, total=len(packages()) + 2)
    records: list[Record] = []
    try:
        real = (_package_repository(package, trees) for package in packages())
        for made in (*real, tally(), ledger()):
            records += _write(draft, made)
            progress.advance(what, made.repository.name)
        write_pulls(draft / "pulls.jsonl", records)
        if target.exists():  # half a forge, left by a kill
            shutil.rmtree(target)
        draft.replace(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        progress.end(what)


def _package_repository(package: Package, trees: Trees) -> MadeRepository:
    first = next(iter(package.releases.values()))
    made = MadeRepository(
        RepositoryRecord(
            name=package.repository,
            description=package.description,
            license=package.licence,
            stars=100 + 7 * len(package.repository),
            created_at=first.uploaded_at,
        )
    )
    files = {version: trees[(package.package, version)] for version in package.releases}
    for pair in package.pairs:
        issue, pull, key = tell(made.history, package, pair, files)
        made.records += [issue, pull]
        made.merges[pull.number] = key
    if package.docs_pull is not None:
        _docs_pull(made, package, package.docs_pull)
    return made


def _docs_pull(made: MadeRepository, package: Package, docs: DocsPull) -> None:
    at = made.history.commits[-1].committed_at + timedelta(days=9)
    before = made.history.tree[docs.path].data
    step = Step(
        message=docs.title + "\n",
        authored_at=at - timedelta(hours=3),
        changes={docs.path: SourceFile(before + docs.text.encode())},
    )
    body = f"Fixes #{docs.issue}"
    made.merges[docs.pull] = made.history.merge(
        Branch(
            number=docs.pull,
            name="readme",
            title=docs.title,
            steps=(step,),
            method=Method.SQUASH,
            merged_at=at,
            squash_body=body,
        )
    )
    made.records += [
        IssueRecord(
            repo=package.repository,
            number=docs.issue,
            title=docs.issue_title,
            body=docs.issue_body,
            author=Person(login="reporter"),
            created_at=at - timedelta(days=4),
            closed_at=at,
            closed_by=f"#{docs.pull}",
        ),
        PullRecord(
            repo=package.repository,
            number=docs.pull,
            title=docs.title,
            body=body,
            author=Person(login="contributor"),
            merged_by=Person(login="maintainer"),
            created_at=at - timedelta(hours=2),
            merged_at=at,
            closed_at=at,
            head_branch="readme",
            closing_references=(docs.issue,),
        ),
    ]


def _write(root: Path, made: MadeRepository) -> Sequence[Record]:
    """Write the repository; its records with merge commits and closing commits filled in."""
    commits = write_repository(root / "git" / f"{made.repository.name}.git", made.history)
    merges = {number: commits[key] for number, key in made.merges.items()}
    sizes = {path: len(file.data) for path, file in made.history.tree.items()}
    return [
        made.repository.model_copy(update={"languages": languages_of(sizes)}),
        *(_filled(record, merges) for record in made.records),
    ]


def _filled(record: Record, merges: Mapping[int, str]) -> Record:
    if isinstance(record, PullRecord) and record.number in merges:
        return record.model_copy(update={"merge_commit": merges[record.number]})
    if isinstance(record, IssueRecord) and (record.closed_by or "").startswith(_MERGE_OF):
        number = int((record.closed_by or "").removeprefix(_MERGE_OF))
        return record.model_copy(update={"closed_by": merges[number]})
    return record
