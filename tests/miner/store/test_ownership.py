"""Files that are no database of ours: each is told for what it is, and left as it was."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from miner.errors import ConfigError, MinerError, SchemaOutOfDateError
from miner.store import check, open_store, upgrade


def made(path: Path, *statements: str) -> Path:
    """A SQLite file of somebody else's."""
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


FOREIGN = "CREATE TABLE notes (text TEXT)"
REVISION = "CREATE TABLE alembic_version (version_num TEXT)"


@pytest.mark.parametrize(
    "statements",
    [
        (FOREIGN,),
        (FOREIGN, REVISION),
        (FOREIGN, REVISION, "INSERT INTO alembic_version VALUES (7)"),
    ],
)
def test_another_programs_database_is_refused_and_not_touched(
    tmp_path: Path, statements: tuple[str, ...]
) -> None:
    path = made(tmp_path / "notes.db", *statements)
    before = path.read_bytes()
    for command in (check, upgrade, open_store):
        with pytest.raises(ConfigError, match=r"notes\.db is another program's"):
            command(f"sqlite:///{path}")
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["notes.db"]


def test_another_programs_revision_is_no_newer_version(empty_url: str) -> None:
    engine = create_engine(empty_url)
    with engine.begin() as connection:
        connection.execute(text(REVISION))
        connection.execute(text("INSERT INTO alembic_version VALUES ('beef')"))
    engine.dispose()
    for command in (check, upgrade):
        with pytest.raises(ConfigError, match="is another program's"):
            command(empty_url)


@pytest.mark.parametrize("content", [b"", None], ids=["no bytes", "no tables"])
def test_an_empty_file_is_told_and_can_be_upgraded(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "miner.db"
    if content is None:
        made(path, FOREIGN, "DROP TABLE notes")
    else:
        path.write_bytes(content)
    with pytest.raises(SchemaOutOfDateError, match="is empty; run `miner db upgrade`"):
        check(f"sqlite:///{path}")
    upgrade(f"sqlite:///{path}")
    check(f"sqlite:///{path}")


def prose(path: Path) -> None:
    path.write_text("dear diary, " * 500)


def torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:30_000])


def scratched(path: Path) -> None:
    pages = bytearray(path.read_bytes())
    pages[100:60_000] = b"\xff" * (60_000 - 100)
    path.write_bytes(bytes(pages))


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (prose, "is not a database; give another path"),
        (torn, "is damaged; restore it from a copy"),
        (scratched, "is damaged; restore it from a copy"),
    ],
)
@pytest.mark.parametrize("command", [check, upgrade, open_store])
def test_a_damaged_file_is_told(
    tmp_path: Path, migrated_file: Path, harm: object, sentence: str, command: object
) -> None:
    path = tmp_path / "miner.db"
    path.write_bytes(migrated_file.read_bytes())
    assert callable(harm)
    assert callable(command)
    harm(path)
    with pytest.raises(MinerError, match=sentence):
        command(f"sqlite:///{path}")
