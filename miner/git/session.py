"""git processes that stay open and answer many questions about one mirror.

Starting git costs more than most of its answers. What a session answers is byte for byte what a git
of its own would say. A session belongs to one thread; it is left by `close`, which ends its
processes.
"""

import contextlib
import os
import secrets
import selectors
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, cast

from miner.errors import BadItemError
from miner.git import command

NAMES_AT_ONCE = 200
"""Object names asked for in one go; for more, starting a git costs nothing that counts."""

_CHUNK = 1 << 16


class LostError(BadItemError):
    """A process of the session ended; ask a git of its own, which can say why."""


class Session:
    """Open git processes, each started when first asked."""

    def __init__(self, git_dir: Path) -> None:
        self._git_dir = git_dir
        self.has_tags: bool | None = None  # not asked yet
        self.nearest_tags: dict[str, str | None] = {}
        self.expected: tuple[str, ...] = ()  # commits whose nearest tags will be asked for
        self._talks: dict[tuple[str, ...], _Talk] = {}
        self._mark = f"end-{secrets.token_hex(16)}\n".encode()

    def objects(self, names: Sequence[str]) -> bytes:
        """What `cat-file --batch` answers for at most NAMES_AT_ONCE names."""
        talk = self._talk("cat-file", "--batch")
        talk.say("".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape"))
        answer = bytearray()
        for _ in names:
            line = talk.line()
            answer += line
            header = line.rsplit(b" ", 2)
            if len(header) == 3 and header[2].rstrip().isdigit():
                answer += talk.exactly(int(header[2]) + 1)
        return bytes(answer)

    def compare(self, a: str, b: str, options: Sequence[str]) -> bytes:
        """What `diff-tree` with `options` says of two commits that are in the mirror.

        (For one that is not, git stays silent here, which would look like "no changes".)
        """
        talk = self._talk("diff-tree", "--stdin", "--no-commit-id", *options)
        # the second commit stands for the first one's parent; what is no commit is echoed
        talk.say(f"{b} {a}\n".encode() + self._mark)
        return talk.until(self._mark)

    def close(self) -> None:
        """End the processes. A later question starts them again."""
        for talk in self._talks.values():
            talk.end()
        self._talks.clear()

    def _talk(self, *arguments: str) -> "_Talk":
        talk = self._talks.get(arguments)
        if talk is None or talk.is_over:
            talk = self._talks[arguments] = _Talk(self._git_dir, arguments)
        return talk


class _Talk:
    """One process with a pipe both ways."""

    def __init__(self, git_dir: Path, arguments: Sequence[str]) -> None:
        self._name = arguments[0]
        self._process = subprocess.Popen(
            command.command(git_dir, arguments, {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=command.environment(),
            start_new_session=True,
            bufsize=0,
        )
        self._stdin = cast(IO[bytes], self._process.stdin).fileno()
        self._stdout = cast(IO[bytes], self._process.stdout).fileno()
        os.set_blocking(self._stdin, False)
        self._heard = bytearray()
        self._deadline = 0.0
        self.is_over = False

    def say(self, question: bytes) -> None:
        """Write a question; with its answer it has READ_TIMEOUT_S from now.

        git answers while it still reads, and stops reading when nobody takes its answer: so what it
        says is heard meanwhile.
        """
        self._deadline = time.monotonic() + command.READ_TIMEOUT_S
        both = {self._stdin: selectors.EVENT_WRITE, self._stdout: selectors.EVENT_READ}
        rest = memoryview(question)
        while rest:
            found = command.ready(both, self._deadline)
            if self._stdout in found or not found:
                self._hear()
            if self._stdin in found:
                rest = rest[self._write(rest) :]

    def line(self) -> bytes:
        """Up to and with the next line end."""
        while b"\n" not in self._heard:
            self._hear()
        return self._take(self._heard.index(b"\n") + 1)

    def exactly(self, size: int) -> bytes:
        """The next `size` bytes."""
        while len(self._heard) < size:
            self._hear()
        return self._take(size)

    def until(self, mark: bytes) -> bytes:
        """All up to `mark`, which is the last thing said."""
        while not self._heard.endswith(mark):
            self._hear()
        return self._take(len(self._heard))[: -len(mark)]

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self.is_over = True
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(BrokenPipeError):
                cast(IO[bytes], stream).close()
        self._process.wait()

    def _write(self, part: memoryview) -> int:
        """How much of it the pipe took."""
        try:
            return os.write(self._stdin, part[:_CHUNK])
        except BlockingIOError:
            return 0
        except BrokenPipeError as error:
            raise self._lost() from error

    def _hear(self) -> None:
        """Wait for more. LostError when git ended, is too slow or says too much."""
        found = command.ready({self._stdout: selectors.EVENT_READ}, self._deadline)
        heard = os.read(self._stdout, _CHUNK) if found else b""
        self._heard += heard
        if not heard or len(self._heard) > command.OUTPUT_LIMIT_MB * 1024 * 1024:
            raise self._lost()

    def _take(self, size: int) -> bytes:
        taken = bytes(self._heard[:size])
        del self._heard[:size]
        return taken

    def _lost(self) -> LostError:
        self.end()
        return LostError(f"git {self._name} ended, took too long or answered too much.")
