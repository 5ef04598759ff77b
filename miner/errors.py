"""What can go wrong, grouped by what the caller must do.

MinerError                         exit 1
├── ConfigError                    exit 2   a person has to change something
├── RetryableError                 exit 75  the row stays due
│   ├── RateLimitedError(until)
│   ├── IncompleteError(report)             of a stage; in miner.model
│   └── SourceUnavailableError
├── BadItemError                   exit 1   this item only; the stage loop stores a Rejection
│   ├── MalformedPayloadError
│   ├── NotFoundError                       the source has no such thing (any more), or hides it
│   ├── NoPermissionError          exit 2   the source has it, and the token may not read it
│   └── BlockedError(reason)                taken down: DMCA or the source's terms
└── FatalError                     exit 70  stop
    ├── SchemaOutOfDateError                run `miner db upgrade`
    ├── SnapshotFrozenError
    └── FaultError                          a fault of this program; made by `cli.main` alone

Caught in two kinds of place: a stage's loop (BadItemError, RetryableError) and `cli.main`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from validators.errors import ValidatorError

ERROR_CHARS = 2000
"""So much of an error's words is stored."""


class MinerError(Exception):
    """One sentence for a person: the fact, then the next step. Never holds a secret."""

    exit_code = 1


class ConfigError(MinerError):
    """A person's input or setting is wrong."""

    exit_code = 2


class RetryableError(MinerError):
    """Nothing was lost; the row stays due."""

    exit_code = 75


class RateLimitedError(RetryableError):
    """The source asks us to wait."""

    def __init__(self, message: str, *, until: datetime) -> None:
        super().__init__(message)
        self.until = until


class SourceUnavailableError(RetryableError):
    """The source cannot be reached or answers with a server error."""


class BadItemError(MinerError):
    """One item is unusable; the rest goes on."""


class MalformedPayloadError(BadItemError):
    """The source sent something that is not what its schema says."""


class NotFoundError(BadItemError):
    """The source has no such thing, has it no more, or does not show it to this token."""


class NoPermissionError(BadItemError):
    """The source does not let this token read the thing; the rest goes on."""

    exit_code = 2


class BlockedError(BadItemError):
    """The source has taken the thing down; what was stored of it is not to be exported."""

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason  # "dmca", "tos" …


class FatalError(MinerError):
    """Going on would harm what is stored."""

    exit_code = 70


class SchemaOutOfDateError(FatalError):
    """Database and code do not fit each other."""


class SnapshotFrozenError(FatalError):
    """A snapshot is never changed."""


class FaultError(FatalError):
    """This program is wrong: an error that nobody foresaw."""


def was_stopped(error: BaseException) -> bool:
    """It came up while Ctrl-C or SIGTERM was being obeyed, in whose place it must not be taken."""
    context = error.__context__
    while context is not None:
        if isinstance(context, KeyboardInterrupt):
            return True
        context = context.__context__
    return False


@contextmanager
def stops_first() -> Iterator[None]:
    """Ctrl-C inside is KeyboardInterrupt outside, whatever came up while it was being obeyed."""
    try:
        yield
    except Exception as error:
        if was_stopped(error):
            raise KeyboardInterrupt from error
        raise


def told(error: BaseException) -> str:
    """An error as it is stored. Ours are sentences; of others one wants to know the kind."""
    ours = isinstance(error, MinerError | ValidatorError)
    return (str(error) if ours else f"{type(error).__name__}: {error}")[:ERROR_CHARS]
