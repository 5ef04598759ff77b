"""Databases made by the migrations: SQLite always, PostgreSQL with --run-postgres."""

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from miner.store import upgrade

BACKENDS = ("sqlite", pytest.param("postgres", marks=pytest.mark.postgres))


@pytest.fixture(params=BACKENDS)
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URL of a database without tables."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/miner.db"
        return
    with postgres_schema(request.getfixturevalue("postgres_url")) as made:
        yield made


@contextmanager
def postgres_schema(server: str) -> Iterator[str]:
    """URL of an empty schema of its own; it is dropped when the block ends."""
    plain = server.replace("postgresql+psycopg://", "postgresql://")
    schema = f"test_{secrets.token_hex(6)}"
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        try:
            yield f"{server}?options=-csearch_path%3D{schema}"
        finally:
            connection.execute(f"DROP SCHEMA {schema} CASCADE")


@pytest.fixture
def url(empty_url: str, migrated_file: Path) -> str:
    """URL of a migrated database."""
    if empty_url.startswith("sqlite:///"):
        shutil.copyfile(migrated_file, empty_url.removeprefix("sqlite:///"))
    else:
        upgrade(empty_url)
    return empty_url
