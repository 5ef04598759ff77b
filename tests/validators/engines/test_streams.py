"""Frames and bounded output."""

import socket
import threading
import time
from io import BufferedReader

import pytest
from hypothesis import given
from hypothesis import strategies as st

from validators.engines.streams import Ending, Frames, HeadAndTail, Stream, pump


def frame(payload: bytes, stream: int = 1) -> bytes:
    """One frame of Docker's multiplexed stream."""
    return bytes([stream, 0, 0, 0]) + len(payload).to_bytes(4, "big") + payload


@given(st.lists(st.binary(max_size=50)), st.integers(min_value=1, max_value=20))
def test_frames_split_anywhere_give_the_same_payload(payloads: list[bytes], size: int) -> None:
    wire = b"".join(frame(payload, 1 + n % 2) for n, payload in enumerate(payloads))
    frames = Frames()
    got = [p for at in range(0, len(wire), size) for p in frames.feed(wire[at : at + size])]
    assert b"".join(got) == b"".join(payloads)


@given(st.lists(st.binary(max_size=40)), st.integers(min_value=2, max_value=60))
def test_output_is_whole_or_head_and_tail(parts: list[bytes], limit: int) -> None:
    kept = HeadAndTail(limit)
    for part in parts:
        kept.write(part)
    whole, half = b"".join(parts), limit // 2
    assert kept.truncated == (len(whole) > 2 * half)
    if kept.truncated:
        left_out = f"\n[... {len(whole) - 2 * half} bytes of output left out ...]\n".encode()
        assert kept.value() == whole[:half] + left_out + whole[-half:]
    else:
        assert kept.value() == whole


def test_memory_stays_bounded_while_output_does_not() -> None:
    kept = HeadAndTail(1000)
    for _ in range(1000):
        kept.write(b"x" * 10_000)
        assert len(kept._head) + len(kept._tail) <= 12_000


class _Raw:
    def __init__(self, reader: BufferedReader) -> None:
        self._fp = self
        self.fp = reader


class _Reply:
    """What requests keeps of a hijacked connection."""

    def __init__(self, reader: BufferedReader) -> None:
        self.raw = _Raw(reader)
        self.closed = False

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def ends() -> tuple[Stream, socket.socket]:
    """Our stream and the engine's end; two bytes of a frame came with the headers already."""
    ours, theirs = socket.socketpair()
    theirs.sendall(b"H" + frame(b"early"))
    reader = ours.makefile("rb")
    assert reader.read(1) == b"H"
    hijacked = reader.raw
    hijacked._response = _Reply(reader)  # type: ignore[attr-defined]
    stream = Stream(hijacked)
    ours.close()
    return stream, theirs


def test_bytes_that_came_with_the_headers_are_not_lost(ends: tuple[Stream, socket.socket]) -> None:
    stream, theirs = ends
    theirs.sendall(frame(b" late", 2))
    theirs.close()
    kept = HeadAndTail(100)
    deadline = time.monotonic() + 10
    ending = pump(stream, kept.write, stdin=None, deadline=deadline, gone=lambda: False)
    stream.close()
    assert (ending, kept.value()) == (Ending.CLOSED, b"early late")


def test_a_silent_command_meets_its_deadline(ends: tuple[Stream, socket.socket]) -> None:
    stream, theirs = ends
    deadline = time.monotonic() + 0.05
    ending = pump(stream, lambda _: None, stdin=None, deadline=deadline, gone=lambda: False)
    stream.close()
    theirs.close()
    assert ending is Ending.DEADLINE


def test_a_command_that_is_gone_is_not_waited_for(ends: tuple[Stream, socket.socket]) -> None:
    stream, theirs = ends
    deadline = time.monotonic() + 30
    ending = pump(stream, lambda _: None, stdin=None, deadline=deadline, gone=lambda: True)
    stream.close()
    theirs.close()
    assert ending is Ending.GONE


def test_large_stdin_does_not_block_on_output(ends: tuple[Stream, socket.socket]) -> None:
    stream, theirs = ends
    sent = b"s" * 3_000_000
    received = bytearray()

    def engine() -> None:
        theirs.sendall(frame(b"o" * 2_000_000))
        while part := theirs.recv(1 << 16):
            received.extend(part)
        theirs.close()

    thread = threading.Thread(target=engine)
    thread.start()
    kept = HeadAndTail(8_000_000)
    deadline = time.monotonic() + 30
    ending = pump(stream, kept.write, stdin=sent, deadline=deadline, gone=lambda: False)
    thread.join(30)
    stream.close()
    assert ending is Ending.CLOSED
    assert len(kept.value()) == 2_000_005
    assert bytes(received) == sent
