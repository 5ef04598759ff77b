"""How git is run: clean settings, no prompts, limits on time and output, no secret in sight."""

import contextlib
import functools
import os
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from miner.errors import BadItemError, ConfigError, RetryableError

OLDEST = (2, 34)
"""The first version that takes every option and setting used here."""

READ_TIMEOUT_S = 300
OUTPUT_LIMIT_MB = 512

_INSTALL = f"install git {OLDEST[0]}.{OLDEST[1]} or newer"
_CHUNK = 1 << 16
_TROUBLE = re.compile(
    r"no space left on device|disk quota exceeded|unable to write [^\n]*|unable to create [^\n]*"
    r"|failed to write [^\n]*|out of memory|cannot allocate memory|read-only file system"
    r"|input/output error"
    r"|object file \S+ is empty|(?:loose|packed) object [^\n]* is corrupt|inflate: [^\n]*"
    r"|detected dubious ownership",
    re.IGNORECASE,
)
"""What git says when the machine, not the repository, is at fault."""

_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_SETTINGS = {
    "core.hooksPath": "/dev/null",
    "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null",
    "core.quotePath": "false",
    "core.autocrlf": "false",
    "core.fsmonitor": "false",
    "core.pager": "cat",
    "credential.helper": "",
    "diff.noprefix": "false",
    "diff.mnemonicPrefix": "false",
    "diff.algorithm": "myers",
    "diff.renameLimit": "1000",
    # newer gits read HEAD's .gitattributes in a bare repository: the bytes would depend on the git
    "attr.tree": _EMPTY_TREE,
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",  # what is reachable from no branch any more may still be some pull's base
    "maintenance.auto": "false",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "60",
    "safe.directory": "*",
}


class TooLongError(BadItemError):
    """A git process took longer than it was given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one git process said. `error` is what it wrote for people."""

    exit_code: int
    output: bytes = field(repr=False)
    error: str

    @property
    def ok(self) -> bool:
        """git ended with status 0."""
        return self.exit_code == 0


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment of a git process: nothing of ours but the proxy settings."""
    return {
        "PATH": f"{_git().parent}:{os.defpath}",
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_PROTOCOL_FROM_USER": "0",
        "GIT_ALLOW_PROTOCOL": "none",
        **(extra or {}),
    }


def proxies() -> dict[str, str]:
    """The machine's proxy settings, as variables for a git that talks to a server."""
    return {f"{scheme}_proxy": url for scheme, url in urllib.request.getproxies().items()}


def command(git_dir: Path, arguments: Sequence[str], settings: Mapping[str, str]) -> list[str]:
    """The argument vector of a git process on a bare repository."""
    options = [
        part
        for name, value in {**_SETTINGS, **settings}.items()
        for part in ("-c", f"{name}={value}")
    ]
    return [str(_git()), f"--git-dir={git_dir}", *options, *arguments]


def run(  # noqa: PLR0913  # all but two have a default
    git_dir: Path,
    arguments: Sequence[str],
    *,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    settings: Mapping[str, str] | None = None,
    timeout_s: float = READ_TIMEOUT_S,
    output_limit_mb: float = OUTPUT_LIMIT_MB,
    held: Sequence[int] = (),
) -> Answer:
    """Run git to its end. It holds the open files `held` as long as it lives, whoever dies first.

    TooLongError after `timeout_s`, BadItemError past `output_limit_mb`, RetryableError where this
    machine is to blame (a full disk, no memory, a damaged mirror); else the caller judges the exit
    code. Every process git started is gone afterwards.
    """
    try:
        answer = _run(
            command(git_dir, arguments, settings or {}),
            environment(env),
            stdin=stdin,
            timeout_s=timeout_s,
            output_limit_mb=output_limit_mb,
            held=held,
        )
    except TimeoutError as error:
        raise TooLongError(
            f"git {arguments[0]} took longer than {timeout_s:.0f} s and was ended."
        ) from error
    except OSError as error:
        raise RetryableError(f"git could not be run here: {error.strerror}.") from error
    trouble = _TROUBLE.search(answer.error)
    if trouble is not None or answer.exit_code < 0:
        what = trouble[0] if trouble else f"ended by signal {-answer.exit_code}"
        raise RetryableError(f"git {arguments[0]} failed on this machine: {what}.")
    return answer


def _run(  # `run` in other terms
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    stdin: bytes,
    timeout_s: float,
    output_limit_mb: float,
    held: Sequence[int],
) -> Answer:
    """`run` in the machine's terms: OSError, TimeoutError."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as complaints:
        given.write(stdin)
        given.seek(0)
        process = subprocess.Popen(
            argv,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=complaints,
            env=env,
            start_new_session=True,
            bufsize=0,
            pass_fds=held,
        )
        try:
            deadline = time.monotonic() + timeout_s
            output = _read(cast(IO[bytes], process.stdout), deadline, output_limit_mb)
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired as error:
            raise TimeoutError from error
        finally:
            if process.returncode is None:
                _kill(process)
                process.wait()
        complaints.seek(0)
        said = complaints.read(100_000).decode("utf-8", "replace")
    return Answer(exit_code=process.returncode, output=output, error=said)


def _read(stream: IO[bytes], deadline: float, limit_mb: float) -> bytes:
    """All of a stream up to the limit. TimeoutError at the deadline (of the monotonic clock)."""
    parts: list[bytes] = []
    size = 0
    with stream:
        while True:
            if not ready({stream.fileno(): selectors.EVENT_READ}, deadline):
                raise TimeoutError
            part = os.read(stream.fileno(), _CHUNK)
            if not part:
                return b"".join(parts)
            parts.append(part)
            size += len(part)
            if size > limit_mb * 1024 * 1024:
                raise BadItemError(
                    f"git answered with more than {limit_mb:g} MB; this is too large."
                )


def ready(wanted: Mapping[int, int], deadline: float) -> frozenset[int]:
    """Of open files with the events wanted (of `selectors`), those that are ready; none at the
    deadline (of the monotonic clock). Not `select.select`: it knows no file number above 1023."""
    with selectors.PollSelector() as selector:
        for file, events in wanted.items():
            selector.register(file, events)
        found = selector.select(max(0.0, deadline - time.monotonic()))
    return frozenset(key.fd for key, _ in found)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@functools.cache
def _git() -> Path:
    found = shutil.which("git")
    if found is None:
        raise ConfigError(f"The command `git` was not found; {_INSTALL}.")
    return Path(found)


def version() -> str:
    """The version of the git that is run here. ConfigError when there is none, or it is too old."""
    return new_enough(run(Path("/"), ("version",)).output.decode("utf-8", "replace"))


def new_enough(said: str) -> str:
    """The version in what `git version` said. ConfigError when it is older than `OLDEST`."""
    found = re.search(r"(\d+)\.(\d+)\S*", said)
    if found is None or (int(found[1]), int(found[2])) < OLDEST:
        raise ConfigError(f"{said.strip() or 'This git'} is too old; {_INSTALL}.")
    return found[0]
