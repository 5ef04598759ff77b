"""What a database driver's error means: one sentence of ours, told by its state or its words."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from sqlalchemy import Dialect
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from miner.errors import ConfigError, FatalError, MinerError, RetryableError


class ContendedError(RetryableError):
    """The database ended one of two transactions that waited for each other. Nothing was done."""


class LostError(RetryableError):
    """The connection was lost, or none could be made. Nothing of its transaction was done."""


class BusyError(RetryableError):
    """Another program holds what is wanted for longer than one waits. Nothing was done."""


Sentence = tuple[type[MinerError], str]
WORDS_TOLD = 200
"""So many of the driver's words are told when it says something that nobody foresaw."""

SCANT = 64 << 10
"""With fewer free bytes SQLite cannot make the files that it needs beside a database."""

_FULL, _IO_ERROR = "disk is full", "disk I/O error"

_SQLITE_SENTENCES: Mapping[str, Sentence] = MappingProxyType(
    {
        "unable to open database file": (
            ConfigError,
            "The database {where} cannot be opened; check that its folder exists, and that both "
            "may be read and written.",
        ),
        "readonly database": (
            ConfigError,
            "The database {where} may only be read; make it, the files beside it (-wal, -shm) and "
            "the folder writable.",
        ),
        "file is not a database": (
            ConfigError,
            "{where} is not a database; give another path in the database URL.",
        ),
        _FULL: (
            RetryableError,
            "The disk with the database {where} is full; free some space and run this again.",
        ),
        _IO_ERROR: (
            RetryableError,
            "The disk failed under the database {where}; check it and run this again.",
        ),
        "database is locked": (
            BusyError,
            "The database {where} is held by another process; run this again when it is done.",
        ),
        "malformed": (
            ConfigError,
            "The database {where} is damaged; restore it from a copy.",
        ),
    }
)

_POSTGRES_SENTENCES: Mapping[str, Sentence] = MappingProxyType(
    {
        "28": (ConfigError, "The database {where} refuses this user or password."),
        "3D000": (ConfigError, "The database {where} does not exist; create it first."),
        "42501": (ConfigError, "The user may not do this in the database {where}."),
        "25006": (ConfigError, "The database {where} may only be read now."),
        "08": (
            LostError,
            "The database {where} cannot be reached; check address and server, then try again.",
        ),
        "25P03": (LostError, "The database {where} ended a connection; run this again."),
        "25P04": (LostError, "The database {where} ended a connection; run this again."),
        "53100": (RetryableError, "The disk of the database {where} is full; free some space."),
        "53": (RetryableError, "The database {where} is short of resources; run this again later."),
        "58": (RetryableError, "The machine of the database {where} failed; run this again later."),
        "57P03": (LostError, "The database {where} is starting or ending; run this again later."),
        "57014": (RetryableError, "The database {where} broke off a statement; run this again."),
        "57": (LostError, "The database {where} ended a connection; run this again later."),
        "40": (ContendedError, "Another process was faster in {where}; run this again."),
        "55P03": (BusyError, "A row in {where} is held by another process; run this again."),
    }
)

_POSTGRES_REFUSALS = MappingProxyType(
    # a refused connection comes without a state, only with the server's words
    {
        "authentication failed": "28",
        "no password supplied": "28",
        "no pg_hba.conf entry": "28",
        "role": "28",
        "does not exist": "3D000",
    }
)


def sentence(error: DBAPIError, dialect: Dialect, where: str) -> MinerError:
    """The error to raise instead; never with a password. `where` names the database for people."""
    known = _of_sqlite(error, where) if dialect.name == "sqlite" else _of_postgres(error)
    if known is None:
        return _unforeseen(error, where)
    kind, text = known
    return kind(text.format(where=where))


def _of_sqlite(error: DBAPIError, where: str) -> Sentence | None:
    told = str(error.orig)
    if _IO_ERROR in told and _is_full(where):  # its shared memory says it so
        told = _FULL
    return next((known for words, known in _SQLITE_SENTENCES.items() if words in told), None)


def _is_full(where: str) -> bool:
    """Where SQLite needs room, there is none."""
    try:
        return shutil.disk_usage(Path(where).parent).free < SCANT
    except OSError:
        return False


def _of_postgres(error: DBAPIError) -> Sentence | None:
    state = getattr(error.orig, "sqlstate", None)
    if state is None and isinstance(error, OperationalError | InterfaceError):
        told = str(error.orig)
        state = next(
            (_POSTGRES_REFUSALS[words] for words in _POSTGRES_REFUSALS if words in told), "08"
        )
    if state is None:
        return None
    return _POSTGRES_SENTENCES.get(state) or _POSTGRES_SENTENCES.get(state[:2])


def _unforeseen(error: DBAPIError, where: str) -> FatalError:
    first = next(iter(str(error.orig).splitlines()), type(error.orig).__name__)
    return FatalError(
        f"The database {where} refused what this version asked of it ({first[:WORDS_TOLD]}); "
        "`miner db check` says whether they fit each other."
    )
