"""The report's way out: marks never stay in it, wherever the stream is cut."""

import os
import re
import socket
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import cycle
from pathlib import Path

import pytest

from tests.validators.engines.test_streams import _Reply, frame
from validators.engine import REPORT_PIPE
from validators.engines.channel import COUNT_KILLS, MAIN_SCRIPT, Channel
from validators.engines.streams import Stream


def open_channel(
    answer: Callable[[socket.socket, bytes], None], *, limit: int = 1 << 20
) -> Channel:
    """A channel whose container answers each mark as `answer` does."""
    ours, theirs = socket.socketpair()
    reader = ours.makefile("rb")
    hijacked = reader.raw
    hijacked._response = _Reply(reader)  # type: ignore[attr-defined]
    channel = Channel(Stream(hijacked), limit=limit)
    ours.close()

    def serve() -> None:
        with theirs, theirs.makefile("rb") as lines:
            for line in lines:
                with suppress(OSError):  # the channel was closed meanwhile
                    answer(theirs, line.strip())

    threading.Thread(target=serve, daemon=True).start()
    return channel


@pytest.mark.parametrize("size", [1, 2, 7, 31, 33, 1000])
def test_marks_cut_anywhere_are_taken_out(size: int) -> None:
    counts = cycle(range(4))

    def answer(theirs: socket.socket, mark: bytes) -> None:
        said = b"before " + mark[:9] + mark + str(next(counts)).encode() + mark + b"after "
        for at in range(0, len(said), size):
            theirs.sendall(frame(said[at : at + size]))

    channel = open_channel(answer)
    for expected in range(3):
        assert channel.drain(timeout_s=10) == expected
    assert channel.drain(timeout_s=10) == 3
    report = channel.value()
    channel.close()
    ordered = re.match(rb"(before [0-9a-f]{9}after ){3}before [0-9a-f]{9}", report)
    assert ordered is not None
    assert b"after ".startswith(report[ordered.end() :])  # the last one may be under way


def test_a_container_that_ended_answers_no_more() -> None:
    def answer(theirs: socket.socket, _: bytes) -> None:
        theirs.sendall(frame(b"last words"))
        theirs.shutdown(socket.SHUT_RDWR)

    channel = open_channel(answer)
    assert channel.drain(timeout_s=10) is None
    assert channel.drain(timeout_s=10) is None
    assert channel.value() == b"last words"
    channel.close()


def test_a_silent_container_is_not_waited_for_for_ever() -> None:
    channel = open_channel(lambda *_: None)
    assert channel.drain(timeout_s=0.05) is None
    channel.close()


def test_a_report_is_bounded() -> None:
    def answer(theirs: socket.socket, mark: bytes) -> None:
        theirs.sendall(frame(b"x" * 5000) + frame(mark + b"0" + mark))

    channel = open_channel(answer, limit=100)
    assert channel.drain(timeout_s=10) == 0
    assert channel.value() == b"x" * 100
    channel.close()


@pytest.mark.parametrize(
    ("files", "kills"),
    [
        ({"memory.events": "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n"}, "0"),
        ({"memory.events": "low 0\nhigh 0\nmax 41\noom 2\noom_kill 2\n"}, "2"),
        ({"memory.events": "low 0\nhigh 0\nmax 0\noom 0\noom_kill 1\n"}, "-1"),
        (
            {
                "memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
                "memory/memory.max_usage_in_bytes": "67108864\n",
                "memory/memory.limit_in_bytes": "67108864\n",
            },
            "3",
        ),
        (
            {
                "memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
                "memory/memory.max_usage_in_bytes": "30000000\n",
                "memory/memory.limit_in_bytes": "67108864\n",
            },
            "-3",
        ),
        ({}, "0"),
    ],
)
def test_kills_within_the_limit_are_the_hosts(
    files: dict[str, str], kills: str, tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    script = f'{COUNT_KILLS}\ncount_kills "$1"\nprintf %s "$kills"'
    done = subprocess.run(
        ["bash", "-c", script, "bash", str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == (kills, "")


@pytest.mark.parametrize("copier", ["/usr/bin/perl", "/nowhere/perl"])
def test_what_is_written_leaves_the_pipe_in_order_and_whole_before_the_mark(
    copier: str, tmp_path: Path
) -> None:
    folder = str(Path(REPORT_PIPE).parent)
    script = MAIN_SCRIPT.replace(folder, str(tmp_path)).replace("/usr/bin/perl", copier)
    with subprocess.Popen(
        ["/bin/bash", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as main:
        assert main.stdin is not None
        assert main.stdout is not None
        said = told(main, "<first>")
        assert re.fullmatch(rb"<first>-?\d+<first>", said)
        written = b""
        with (tmp_path / Path(REPORT_PIPE).name).open("wb", buffering=0) as pipe:
            for size in (1, 3000, 70_000, 20, 4096):
                pipe.write(bytes(range(256)) * (size // 256 + 1))
                written += bytes(range(256)) * (size // 256 + 1)
                said += told(main, "<mark>")
        main.stdin.close()
        os.kill(int((tmp_path / ".copier").read_text()), 9)  # goes with its container else
    assert re.sub(rb"<(first|mark)>-?\d+<\1>", b"", said) == written


def told(main: "subprocess.Popen[bytes]", mark: str) -> bytes:
    """What comes out up to the mark's second time."""
    assert main.stdin is not None
    assert main.stdout is not None
    main.stdin.write(f"{mark}\n".encode())
    said = b""
    while said.count(mark.encode()) < 2:
        said += os.read(main.stdout.fileno(), 1 << 20)
    return said
