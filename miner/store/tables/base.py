"""What every table shares: naming, column types, the envelope of each row."""

from datetime import UTC, datetime

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Dialect,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
)
from sqlalchemy.schema import SchemaItem

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class Utc(TypeDecorator[datetime]):
    """An aware UTC datetime. SQLite keeps no time zone, so it is put back when read."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse naive times; SQLite gets the UTC wall time."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("A time without a zone cannot be stored; pass an aware datetime.")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002  (given by SQLAlchemy)
        """Aware again, in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Words(TypeDecorator[str]):
    """Text. What PostgreSQL cannot hold (NUL, lone surrogates) is written as escapes."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002  (given by SQLAlchemy)
        """Escape on both databases alike, so that equal input gives equal rows."""
        if value is None:
            return None
        return value.encode("utf-8", "backslashreplace").decode("utf-8").replace("\x00", "\\x00")


KEY = BigInteger().with_variant(Integer(), "sqlite")
"""Row ids: SQLite counts up by itself only in a column that is exactly INTEGER."""


def table(name: str, *items: SchemaItem, comment: str) -> Table:
    """A table with row id and envelope: every row says when, and by which version, it was made."""
    return Table(
        name,
        METADATA,
        Column("id", KEY, primary_key=True, comment="Row id, in order of writing"),
        *items,
        Column("made_at", Utc(), nullable=False, comment="When this row was written, UTC"),
        Column("miner_version", String(40), nullable=False, comment="Version that wrote the row"),
        comment=comment,
    )


def text(name: str, comment: str, *, index: bool = False) -> Column[str]:
    """A required text. No length: databases differ in what they do at its end."""
    return Column(name, Words(), nullable=False, index=index, comment=comment)


def maybe_text(name: str, comment: str) -> Column[str]:
    """A text that may be absent."""
    return Column(name, Words(), nullable=True, comment=comment)


def document(name: str, comment: str) -> Column[str]:
    """A frozen value as ASCII JSON, as `documents.py` writes it."""
    return Column(name, Text(), nullable=False, comment=comment)


def maybe_document(name: str, comment: str) -> Column[str]:
    """A frozen value as ASCII JSON, or none."""
    return Column(name, Text(), nullable=True, comment=comment)


def number(name: str, comment: str) -> Column[int]:
    """A required whole number."""
    return Column(name, BigInteger(), nullable=False, comment=comment)


def flag(name: str, comment: str) -> Column[bool]:
    """A required yes or no."""
    return Column(name, Boolean(create_constraint=True, name=name), nullable=False, comment=comment)


def time(name: str, comment: str) -> Column[datetime]:
    """A required aware UTC time."""
    return Column(name, Utc(), nullable=False, comment=comment)


def maybe_time(name: str, comment: str) -> Column[datetime]:
    """An aware UTC time that may be absent."""
    return Column(name, Utc(), nullable=True, comment=comment)


def refers(name: str, target: str, comment: str, *, index: bool = True) -> Column[int]:
    """A required row of another table."""
    return Column(name, KEY, ForeignKey(target), nullable=False, index=index, comment=comment)


def may_refer(name: str, target: str, comment: str) -> Column[int]:
    """A row of another table, or none."""
    return Column(name, KEY, ForeignKey(target), nullable=True, index=True, comment=comment)


def blob(name: str, comment: str) -> Column[str]:
    """A required blob."""
    return Column(name, String(64), ForeignKey("blobs.sha256"), nullable=False, comment=comment)


def maybe_blob(name: str, comment: str) -> Column[str]:
    """A blob, or none."""
    return Column(name, String(64), ForeignKey("blobs.sha256"), nullable=True, comment=comment)


def one_of(column: str, values: tuple[str, ...]) -> CheckConstraint:
    """A closed set as text and CHECK: named types are a burden in migrations."""
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=column)
