"""Files that people name: what cannot be read or written is told, and nothing is waited for."""

import os
import threading
from pathlib import Path

import pytest

from miner import given
from miner.errors import ConfigError
from miner.given import check_place, read_bytes, read_text, write_text


@pytest.mark.parametrize("name", ["absent", ".", "a\0b", "x" * 300])
def test_what_cannot_be_read_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be read: "):
        read_bytes(tmp_path / name)


def test_a_pipe_without_a_writer_is_empty_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert read_bytes(tmp_path / "pipe") == b""


def test_a_pipe_with_a_writer_is_read_to_its_end() -> None:
    reading, writing = os.pipe()
    more_than_a_pipe_holds = bytes(1 << 20)

    def write() -> None:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(more_than_a_pipe_holds)

    writer = threading.Thread(target=write)
    writer.start()
    assert read_bytes(Path(f"/dev/fd/{reading}")) == more_than_a_pipe_holds
    writer.join()
    os.close(reading)


def test_a_device_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given, "MOST_BYTES", 1 << 20)
    with pytest.raises(ConfigError, match="/dev/zero is larger than 1 MB"):
        read_bytes(Path("/dev/zero"))
    assert read_bytes(Path("/dev/null")) == b""


def test_text_names_the_line_that_is_none_and_has_no_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(b"one\ntwo \xe9\n")
    with pytest.raises(ConfigError, match="t:2: is not UTF-8 text"):
        read_text(tmp_path / "t")
    (tmp_path / "t").write_bytes(b"\xef\xbb\xbfone")
    assert read_text(tmp_path / "t") == "one"


def test_what_is_written_is_there_whatever_was_before(tmp_path: Path) -> None:
    for text in ("a long text\n", "ä\n"):
        write_text(tmp_path / "t", text)
        assert (tmp_path / "t").read_text("utf-8") == text
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="No such device or address"):
        write_text(tmp_path / "pipe", "nobody reads it")


@pytest.mark.parametrize(
    ("name", "reason"),
    [(".", "is a folder"), ("none/x", "there is no folder"), ("file/x", "there is no folder")],
)
def test_a_place_that_cannot_be_written_is_told_before_the_work(
    tmp_path: Path, name: str, reason: str
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=f"--results: .*{reason}"):
        check_place(tmp_path / name, option="--results")
    check_place(tmp_path / "file", option="--results")
    check_place(tmp_path / "new", option="--results")
