"""What `evaluate` and `leaderboard` are pointed at: a snapshot in the database, or a file."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from miner.cli.options import NO_LIMIT
from miner.cli.repos import closest
from miner.cli.snapshots import newest
from miner.errors import ConfigError
from miner.evaluate.dataset import Dataset, DatasetRow
from miner.given import read_bytes
from miner.publish.formats import jsonl
from miner.publish.row import ExportRow, row_hash
from miner.publish.stage import read_rows
from miner.store import Database
from validators.errors import UnknownRecipeError
from validators.recognition import recognise

FILE_HASH_CHARS = 16


def find_dataset(
    store: Database, name: str | None, *, repo: str | None = None, limit: int = NO_LIMIT
) -> Dataset:
    """The named snapshot, else the named file, else (no name) the newest snapshot.

    A file that holds a snapshot of this database, whole and unchanged, is that snapshot.
    """
    path = Path(name) if name else None
    frozen = {each.content_hash: each.name for each in store.publish.snapshots()}
    if path is not None and (path.suffix or (path.exists() and not path.is_dir())):
        given = read_bytes(path)
        rows: Sequence[ExportRow] = jsonl.parse(given, path=path)
        content = hashlib.sha256(given).hexdigest()
        called = frozen.get(content, _file_name(content))
        also: tuple[str, ...] = (_file_name(content),)
    else:
        called = name or newest(store.publish)
        rows = read_rows(store.publish, called)
        also = tuple(_file_name(content) for content, its in frozen.items() if its == called)
    kept = [row for row in rows if repo is None or row.repo.lower() == repo.lower()][:limit]
    if not kept:
        hint = closest(repo or "", {row.repo for row in rows})
        raise ConfigError(f"{name or called} has no instance of {repo or 'anything'}{hint}.")
    chosen = {row.instance_id for row in kept}
    return Dataset(
        name=called,
        rows=tuple(_row(row) for row in kept),
        also=also,
        others=tuple(row.instance_id for row in rows if row.instance_id not in chosen),
    )


def _file_name(content_hash: str) -> str:
    return f"file:{content_hash[:FILE_HASH_CHARS]}"


def _row(row: ExportRow) -> DatasetRow:
    try:
        recognise(row.install_config)
    except UnknownRecipeError as error:
        raise UnknownRecipeError(f"{row.instance_id}: {error}") from error
    return DatasetRow(
        instance_id=row.instance_id,
        repo=row.repo,
        base_commit=row.base_commit,
        patch=row.patch_bytes,
        test_patch=row.test_patch_bytes,
        fail_to_pass=row.FAIL_TO_PASS,
        pass_to_pass=row.PASS_TO_PASS,
        recipe=row.install_config,
        merged_at=row.merged_at,
        row_hash=row_hash(row),
        whole_suite=row.whole_suite,
    )
