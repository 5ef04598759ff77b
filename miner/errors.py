"""What can go wrong, grouped by what the caller must do.

MinerError                         exit 1
├── ConfigError                    exit 2   a person has to change something
├── RetryableError                 exit 75  the row stays due
│   ├── RateLimitedError(until)
│   └── SourceUnavailableError
├── BadItemError                   exit 1   this item only; the stage loop stores a Rejection
│   └── MalformedPayloadError
└── FatalError                     exit 70  stop
    ├── SchemaOutOfDateError                run `miner db upgrade`
    └── SnapshotFrozenError

Caught in two kinds of place: a stage's loop (BadItemError, RetryableError) and `cli.main`.
"""

from datetime import datetime


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


class FatalError(MinerError):
    """Going on would harm what is stored."""

    exit_code = 70


class SchemaOutOfDateError(FatalError):
    """Database and code do not fit each other."""


class SnapshotFrozenError(FatalError):
    """A snapshot is never changed."""
