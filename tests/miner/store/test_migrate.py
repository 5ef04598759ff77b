"""Migrations: they make what the tables say, up and down, and refuse what does not fit."""

import json
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Inspector, MetaData, inspect, text

from miner.errors import SchemaOutOfDateError
from miner.store import check, documents, downgrade, open_store, upgrade
from miner.store.connection import Sql
from miner.store.tables import METADATA
from tests.miner.store.samples import repo

VERSIONS = Path(__file__).parents[3] / "migrations" / "versions"

OPTIONS = {"compare_type": True, "compare_server_default": True, "target_metadata": METADATA}


def schema(url: str) -> Mapping[str, object]:
    """All that a database knows of its tables: columns, keys, checks, indexes, comments."""
    sql = Sql(url)
    try:
        inspector = inspect(sql.engine)
        return {
            name: _table(inspector, name)
            for name in sorted(inspector.get_table_names())
            if name != "alembic_version"
        }
    finally:
        sql.close()


def _table(inspector: Inspector, name: str) -> object:
    comment = inspector.get_table_comment(name) if inspector.dialect.supports_comments else None
    facts = (
        inspector.get_pk_constraint(name),
        *(
            sorted(constraints, key=str)
            for constraints in (
                inspector.get_columns(name),  # sorted too: a later migration's come last
                inspector.get_foreign_keys(name),
                inspector.get_unique_constraints(name),
                inspector.get_check_constraints(name),
                inspector.get_indexes(name),
            )
        ),
        comment,
    )
    return re.sub(r"test_[0-9a-f]{12}", "schema", json.dumps(facts, default=str))


def test_the_migrations_make_what_the_tables_say(url: str) -> None:
    sql = Sql(url)
    try:
        with sql.read() as connection:
            context = MigrationContext.configure(connection, opts=OPTIONS)
            assert compare_metadata(context, METADATA) == []
    finally:
        sql.close()


def test_the_migrations_make_the_very_checks_and_comments_of_the_tables(
    url: str,
) -> None:
    migrated = schema(url)
    downgrade(url, revision="base")
    sql = Sql(url)
    try:
        with sql.write() as connection:
            METADATA.create_all(connection)
    finally:
        sql.close()
    assert schema(url) == migrated


def test_a_column_that_is_missing_is_drift(url: str) -> None:
    sql = Sql(url)
    try:
        with sql.write() as connection:
            connection.execute(text("ALTER TABLE signals ADD COLUMN extra INTEGER"))
        with sql.read() as connection:
            context = MigrationContext.configure(connection, opts=OPTIONS)
            assert compare_metadata(context, METADATA) != []
    finally:
        sql.close()


def test_down_and_up_again_leaves_nothing_behind(url: str) -> None:
    before = schema(url)
    assert downgrade(url, revision="base") == ""
    assert schema(url) == {}
    upgrade(url)
    assert schema(url) == before
    assert upgrade(url) == check(url)


def test_every_step_goes_up_and_down(empty_url: str) -> None:
    revisions = [f"{number:04}" for number in range(1, 1 + len(list(VERSIONS.glob("*.py"))))]
    for revision in revisions:
        assert upgrade(empty_url, revision=revision) == revision
    assert check(empty_url) == revisions[-1]
    for revision in reversed(revisions[:-1]):
        assert downgrade(empty_url, revision=revision) == revision


def test_rows_of_an_older_database_are_kept_and_can_be_found(empty_url: str) -> None:
    upgrade(empty_url, revision="0009")
    sql = Sql(empty_url)
    at = "2026-11-29 00:00:00"
    old_repo = "INSERT INTO repos VALUES (1, 'github', 11, :at, '0.1.0')"
    old_facts = (
        "INSERT INTO repo_facts VALUES "
        "(1, 1, 'O/R', 'main', NULL, NULL, :archived, :document, :at, :at, '0.1.0')"
    )
    values = {"at": at, "archived": False, "document": documents.REPO.dump(repo(name="O/R"))}
    try:
        with sql.write() as connection:
            connection.execute(text(old_repo), {"at": at})
            connection.execute(text(old_facts), values)
    finally:
        sql.close()
    upgrade(empty_url)
    with open_store(empty_url) as database:
        assert database.crawl.known("o/r") == repo(name="O/R")
    downgrade(empty_url, revision="0009")
    upgrade(empty_url)
    with open_store(empty_url) as database:
        assert database.crawl.known("o/r") == repo(name="O/R")


def test_every_column_and_table_has_a_comment() -> None:
    silent = [
        f"{table.name}.{column.name}"
        for table in METADATA.tables.values()
        for column in table.columns
        if not column.comment
    ]
    assert silent == []
    assert all(table.comment for table in METADATA.tables.values())


def test_every_row_says_when_and_by_whom_it_was_made() -> None:
    for table in METADATA.tables.values():
        assert {"made_at", "miner_version"} <= set(table.columns.keys()), table.name


def test_an_empty_database_asks_for_the_upgrade(empty_url: str) -> None:
    with pytest.raises(SchemaOutOfDateError, match="run `miner db upgrade`"):
        open_store(empty_url)


def test_an_older_database_asks_for_the_upgrade(empty_url: str) -> None:
    upgrade(empty_url, revision="0003")
    with pytest.raises(SchemaOutOfDateError, match="older version; run `miner db upgrade`"):
        check(empty_url)


def test_a_newer_database_is_refused_and_left_alone(url: str) -> None:
    sql = Sql(url)
    try:
        with sql.write() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = 'from_2030'"))
        for use in (check, upgrade, open_store):
            with pytest.raises(SchemaOutOfDateError, match="made by a newer version"):
                use(url)
    finally:
        sql.close()


def test_two_upgrades_at_once_make_one_database(empty_url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        revisions = set(pool.map(upgrade, [empty_url] * 4))
    assert revisions == {check(empty_url)}


def test_names_of_constraints_are_our_own() -> None:
    assert isinstance(METADATA, MetaData)
    unnamed = [
        constraint
        for table in METADATA.tables.values()
        for constraint in table.constraints
        if constraint.name is None
    ]
    assert unnamed == []
