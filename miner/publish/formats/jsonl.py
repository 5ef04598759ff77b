"""JSONL: one row a line, canonical ASCII JSON."""

import codecs
import os
import tempfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from pydantic import ValidationError

from miner.errors import ConfigError
from miner.given import read_bytes, without_waiting
from miner.publish.row import ExportRow, canonical, complaint
from validators.errors import UnknownRecipeError
from validators.recognition import dangers, recognise


def write(rows: Sequence[ExportRow], path: Path) -> None:
    """Replace `path` by the rows in one step: a reader never sees half a file.

    What is no file of its own (/dev/stdout, a pipe) is written to, not replaced.
    """
    if path.exists() and not path.is_file():
        with open(path, "w", encoding="ascii", newline="\n", opener=without_waiting) as stream:
            os.set_blocking(stream.fileno(), True)
            stream.writelines(canonical(row) + "\n" for row in rows)
        return
    path = path.resolve() if path.is_symlink() else path
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:  # people know the file they named
        raise OSError(error.errno, error.strerror, str(path)) from error
    try:
        with os.fdopen(handle, "w", encoding="ascii", newline="\n") as file:
            for row in rows:
                file.write(canonical(row) + "\n")
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read(path: Path) -> tuple[ExportRow, ...]:
    """The rows of a file, sorted by id. ConfigError names file, line and reason.

    UnknownRecipeError names them where a row's recipe is of no use to this version.
    """
    return parse(read_bytes(path), path=path)


def parse(content: bytes, *, path: Path) -> tuple[ExportRow, ...]:
    """The rows of what `path` holds; see `read`."""
    lines = content.removeprefix(codecs.BOM_UTF8).split(b"\n")
    rows: dict[str, ExportRow] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        row = _row(line, where=f"{path}:{number}")
        if row.instance_id in rows:
            raise ConfigError(f"{path}:{number}: {row.instance_id} is in the file twice.")
        rows[row.instance_id] = row
    if not rows:
        raise ConfigError(f"{path} holds no instance; `miner export` writes such files.")
    return tuple(rows[key] for key in sorted(rows))


def _row(line: bytes, *, where: str) -> ExportRow:
    try:
        row = ExportRow.model_validate_json(line)
        recognise(row.install_config)
    except ValidationError as error:
        raise ConfigError(f"{where}: {complaint(error)}.") from error
    except UnknownRecipeError as error:
        raise UnknownRecipeError(f"{where}: install_config: {error}") from error
    for danger in dangers(row.install_config):
        raise ConfigError(f"{where}: install_config.{danger}")
    return row


def narrowed(
    rows: Sequence[ExportRow],
    *,
    cutoff: date | None = None,
    merged_from: date | None = None,
    merged_to: date | None = None,
) -> tuple[ExportRow, ...]:
    """Rows a model with that knowledge cutoff cannot have seen, merged in the window (inclusive).

    Issue, pull and merge must all be later than the cutoff day: an old issue of a young fix may
    have been discussed, with its fix, in text the model was trained on.
    """
    return tuple(
        row
        for row in rows
        if (cutoff is None or first_seen(row) > cutoff)
        and (merged_from is None or row.merged_at.date() >= merged_from)
        and (merged_to is None or row.merged_at.date() <= merged_to)
    )


def first_seen(row: ExportRow) -> date:
    """The day the first of issue, pull and merge became public."""
    return min(row.issue_created_at, row.created_at, row.merged_at).date()
