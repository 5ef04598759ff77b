"""Hijacked connections to the engine, and what is kept of a command's output."""

import selectors
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import Enum, auto
from io import BufferedReader, RawIOBase
from socket import SHUT_RDWR, SHUT_WR, socket
from typing import Protocol, cast

from validators.errors import EngineUnavailableError

_CHUNK = 1 << 16
_TICK_S = 1.0


class Ending(Enum):
    """Why pumping stopped."""

    CLOSED = auto()  # the other side has nothing more to say
    DEADLINE = auto()
    GONE = auto()  # the command ended, but something it left behind still holds its output
    ENOUGH = auto()  # what was waited for has come


class _Reply(Protocol):
    """The part of requests.Response that the client keeps on a hijacked connection."""

    raw: object

    def close(self) -> None: ...


class Frames:
    """Cuts Docker's multiplexed stream (8 bytes of header, then the payload) into payloads."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._left = 0

    def feed(self, received: bytes) -> Iterator[bytes]:
        """Payload parts in order; headers may be split anywhere."""
        self._buffer += received
        while self._buffer:
            if self._left:
                part = bytes(self._buffer[: self._left])
                del self._buffer[: self._left]
                self._left -= len(part)
                yield part
            elif len(self._buffer) >= 8:
                self._left = int.from_bytes(self._buffer[4:8], "big")
                del self._buffer[:8]
            else:
                return


class Stream:
    """One hijacked connection: bytes go in raw, frames come out.

    The client library hands out the bare socket and forgets bytes that came in one packet with the
    reply's headers; they are fetched from its buffer here.
    """

    def __init__(self, hijacked: object) -> None:
        self._hijacked = hijacked  # holds the reply, which would close the socket when collected
        self._reply = cast("_Reply", hijacked._response)  # type: ignore[attr-defined]  # noqa: SLF001 - docker sets it
        reader = cast("BufferedReader", self._reply.raw._fp.fp)  # type: ignore[attr-defined]  # noqa: SLF001
        self._socket = _socket_of(cast("RawIOBase", hijacked))
        self._socket.settimeout(0)
        self._early = reader.peek()
        self._frames = Frames()

    def fileno(self) -> int:
        """For selectors."""
        return self._socket.fileno()

    def early(self) -> Iterator[bytes]:
        """Payloads that arrived together with the headers; none from the second call on."""
        early, self._early = self._early, b""
        return self._frames.feed(early)

    def receive(self) -> Iterator[bytes] | None:
        """The payloads of one read, maybe none yet; None at the end."""
        try:
            received = self._socket.recv(_CHUNK)
        except BlockingIOError:
            received = b""
        except OSError:
            return None
        else:
            if not received:
                return None
        return self._frames.feed(received)

    def send(self, part: memoryview) -> int:
        """How much of `part` was taken; all of it when the other side no longer listens."""
        try:
            return self._socket.send(part[:_CHUNK])
        except BlockingIOError:
            return 0
        except OSError:
            return len(part)

    def send_all(self, message: bytes, *, timeout_s: float) -> None:
        """A message that must go out whole; EngineUnavailableError when it is not taken in time."""
        rest = memoryview(message)
        until = time.monotonic() + timeout_s
        with selectors.DefaultSelector() as selector:
            selector.register(self, selectors.EVENT_WRITE)
            while rest:
                if not selector.select(max(until - time.monotonic(), 0)):
                    raise EngineUnavailableError(
                        f"The container engine took no input for {timeout_s:.0f} s: check its load "
                        "and its log, then try again."
                    )
                rest = rest[self.send(rest) :]

    def end_input(self) -> None:
        """Tell the command that its stdin is over."""
        with suppress(OSError):
            self._socket.shutdown(SHUT_WR)

    def interrupt(self) -> None:
        """Make every reader of this connection see its end now."""
        with suppress(OSError):
            self._socket.shutdown(SHUT_RDWR)

    def close(self) -> None:
        """Give the connection back."""
        self.interrupt()
        self._reply.close()
        with suppress(OSError):
            cast("RawIOBase", self._hijacked).close()
        self._socket.close()


def _socket_of(hijacked: RawIOBase) -> socket:
    return cast("socket", hijacked._sock)  # type: ignore[attr-defined]  # noqa: SLF001 - SocketIO has no public way


class HeadAndTail:
    """Keeps the first and the last half of what is written; memory is bounded by `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._half = max(limit // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def write(self, part: bytes) -> None:
        """Add output."""
        room = self._half - len(self._head)
        if room > 0:
            self._head += part[:room]
            part = part[room:]
        self._tail += part
        if len(self._tail) > 2 * self._half:
            self._trim()

    def _trim(self) -> None:
        excess = len(self._tail) - self._half
        if excess > 0:
            self._dropped += excess
            del self._tail[:excess]

    @property
    def truncated(self) -> bool:
        """Something was dropped."""
        return self._dropped > 0 or len(self._tail) > self._half

    def value(self) -> bytes:
        """Head, a line that says how much is missing, tail."""
        self._trim()
        if not self._dropped:
            return bytes(self._head + self._tail)
        note = f"\n[... {self._dropped} bytes of output left out ...]\n".encode()
        return bytes(self._head) + note + bytes(self._tail)


class Until:
    """Passes output on to `write` until `mark` has come; what follows the mark is kept for later.

    The mark itself is not passed on.
    """

    def __init__(self, mark: bytes, write: Callable[[bytes], None]) -> None:
        self._mark = mark
        self._write = write
        self._held = b""  # may be the beginning of the mark
        self.seen = False

    def write(self, part: bytes) -> None:
        """One more part of the output."""
        self._held += part
        if self.seen:
            return
        before, found, after = self._held.partition(self._mark)
        if found:
            self.seen = True
            self._held = after
            self._write(before)
        else:
            cut = max(len(before) - len(self._mark) + 1, 0)
            self._write(before[:cut])
            self._held = before[cut:]

    def rest(self) -> bytes:
        """What came and was not passed on."""
        held, self._held = self._held, b""
        return held


def pump(
    stream: Stream,
    write: Callable[[bytes], None],
    *,
    stdin: bytes | None,
    deadline: float,
    gone: Callable[[], bool],
    enough: Callable[[], bool] | None = None,
) -> Ending:
    """Feed `stdin`, hand payloads to `write`, until the end or `deadline` (monotonic seconds).

    `gone` is asked once a second whether the command itself has ended: a process it left behind can
    hold its output open for ever. With `enough`, more input is to come after `stdin`, and it ends
    when that is true.
    """
    with selectors.DefaultSelector() as selector:
        feed = _Feed(stream, selector, stdin, last=enough is None)
        for part in stream.early():
            write(part)
        asked_at = time.monotonic()
        while (now := time.monotonic()) < deadline:
            if enough is not None and enough():
                return Ending.ENOUGH
            if now - asked_at >= _TICK_S:
                asked_at = now
                if gone():
                    return Ending.GONE
            if not feed.step(write, wait_s=min(deadline - now, _TICK_S)):
                return Ending.CLOSED
    return Ending.DEADLINE


class _Feed:
    """A stream with what is still to be sent into it."""

    def __init__(
        self,
        stream: Stream,
        selector: selectors.BaseSelector,
        stdin: bytes | None,
        *,
        last: bool,
    ) -> None:
        self._stream = stream
        self._selector = selector
        self._last = last
        self._rest = memoryview(stdin or b"")
        both = selectors.EVENT_READ | selectors.EVENT_WRITE
        selector.register(stream, both if self._rest else selectors.EVENT_READ)
        if stdin is not None and not self._rest and last:
            stream.end_input()

    def step(self, write: Callable[[bytes], None], *, wait_s: float) -> bool:
        """Move what can be moved now; False at the end of the output."""
        for _, ready in self._selector.select(wait_s):
            if ready & selectors.EVENT_READ:
                parts = self._stream.receive()
                if parts is None:
                    return False
                for part in parts:
                    write(part)
            if ready & selectors.EVENT_WRITE:
                self._send()
        return True

    def _send(self) -> None:
        self._rest = self._rest[self._stream.send(self._rest) :]
        if not self._rest:
            if self._last:
                self._stream.end_input()
            self._selector.modify(self._stream, selectors.EVENT_READ)
