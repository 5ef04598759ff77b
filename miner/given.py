"""Files that people name: read whole, written whole, or refused in one sentence."""

import os
from pathlib import Path

from miner.errors import ConfigError

MOST_BYTES = 1 << 30
"""No file that people hand over is larger; a device may never end."""


def read_bytes(path: Path) -> bytes:
    """What is in a file, or comes out of a pipe.

    ConfigError when there is no such file or it cannot be read, and for what is too large. A pipe
    that nobody writes into is empty: it is not waited for.
    """
    try:
        with open(path, "rb", opener=without_waiting) as file:
            os.set_blocking(file.fileno(), True)
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # a path with a zero byte in it is a ValueError
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"{path} cannot be read: {reason}.") from error
    if len(content) > MOST_BYTES:
        raise ConfigError(f"{path} is larger than {MOST_BYTES >> 20} MB; give it in parts.")
    return content


def read_text(path: Path) -> str:
    """The same as text, without a byte order mark; ConfigError names the line that is none."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line_number = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path}:{line_number}: is not UTF-8 text.") from error


def write_text(path: Path, text: str) -> None:
    """Write a file, or into a pipe that somebody reads."""
    with open(path, "w", encoding="utf-8", opener=without_waiting) as file:
        os.set_blocking(file.fileno(), True)
        file.write(text)


def check_place(path: Path, *, option: str) -> None:
    """ConfigError when nothing could be written there: told before the work and not after it."""
    if path.is_dir():
        raise ConfigError(f"{option}: {path} is a folder; name a file.")
    if not path.parent.is_dir():
        raise ConfigError(f"{option}: there is no folder {path.parent}; make it first.")
    place = path if path.exists() else path.parent
    if not os.access(place, os.W_OK):
        raise ConfigError(f"{option}: {place} cannot be written to; name another file.")


def without_waiting(path: str, flags: int) -> int:
    """Open a pipe although nobody is at its other end: it is empty then, or refuses to be written.

    Reading and writing wait again once `os.set_blocking` says so.
    """
    return os.open(path, flags | os.O_NONBLOCK, 0o666)
