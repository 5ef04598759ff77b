"""Archives from an index: checked, kept, fetched again when wrong; trees as repositories."""

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from miner.demo.sdists import Sdist, SdistCache, SourceFile, source_tree
from miner.errors import ConfigError, FatalError, SourceUnavailableError
from tests.serving import serving

SIMPLE = "application/vnd.pypi.simple.v1+json"


def archive(members: dict[str, bytes | tarfile.TarInfo]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                tar.addfile(content)
            else:
                info = tarfile.TarInfo(name)
                info.size = len(content)
                info.mode = 0o755 if name.endswith(".sh") else 0o644
                tar.addfile(info, io.BytesIO(content))
    return packed.getvalue()


ARCHIVE = archive({"thing-1/thing.py": b"x = 1\n"})


def sdist(sha256: str = hashlib.sha256(ARCHIVE).hexdigest(), file: str = "thing-1.tar.gz") -> Sdist:
    uploaded_at = datetime(2024, 1, 1, tzinfo=UTC)
    return Sdist(package="thing", version="1", file=file, sha256=sha256, uploaded_at=uploaded_at)


class Index(ThreadingHTTPServer):
    """A package index with one file. `failures`: how many downloads break off first."""

    failures = 0
    downloads = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/simple/"


class _Handler(BaseHTTPRequestHandler):
    server: Index

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Silent."""

    def do_GET(self) -> None:
        if self.path.startswith("/simple/thing"):
            files = [{"filename": "thing-1.tar.gz", "url": "/thing-1.tar.gz", "hashes": {}}]
            body = json.dumps({"meta": {"api-version": "1.0"}, "name": "thing", "files": files})
            self.answer(200, body.encode(), SIMPLE)
        elif self.path == "/thing-1.tar.gz":
            self.server.downloads += 1
            broken = self.server.downloads <= self.server.failures
            self.answer(503 if broken else 200, b"" if broken else ARCHIVE, "application/gzip")
        else:
            self.answer(404, b"", "text/plain")

    def answer(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def index() -> Iterator[Index]:
    with serving(Index(("127.0.0.1", 0), _Handler)) as server:
        yield server


def test_a_file_is_fetched_once(index: Index, tmp_path: Path) -> None:
    with SdistCache(tmp_path / "sdists", index_url=index.url) as cache:
        first = cache.fetch(sdist())
        assert first.read_bytes() == ARCHIVE
        assert cache.fetch(sdist()) == first
    assert index.downloads == 1
    assert [path.name for path in first.parent.iterdir()] == ["thing-1.tar.gz"]


def test_a_broken_file_in_the_cache_is_fetched_again(index: Index, tmp_path: Path) -> None:
    (tmp_path / "thing-1.tar.gz").write_bytes(ARCHIVE[:40])
    with SdistCache(tmp_path, index_url=index.url) as cache:
        assert cache.fetch(sdist()).read_bytes() == ARCHIVE
    assert index.downloads == 1


@pytest.mark.usefixtures("quick_retries")
def test_a_failing_download_is_tried_again(index: Index, tmp_path: Path) -> None:
    index.failures = 2
    with SdistCache(tmp_path, index_url=index.url) as cache:
        assert cache.fetch(sdist()).read_bytes() == ARCHIVE
    assert index.downloads == 3


def test_other_bytes_than_named_are_not_kept(index: Index, tmp_path: Path) -> None:
    with (
        SdistCache(tmp_path, index_url=index.url) as cache,
        pytest.raises(FatalError, match="has not the expected sha256"),
    ):
        cache.fetch(sdist(sha256="0" * 64))
    assert list(tmp_path.iterdir()) == []


def test_what_the_index_does_not_list_is_a_person_s_matter(index: Index, tmp_path: Path) -> None:
    with SdistCache(tmp_path, index_url=index.url) as cache:
        with pytest.raises(ConfigError, match=r"does not list thing-2\.tar\.gz"):
            cache.fetch(sdist(file="thing-2.tar.gz"))
        other = Sdist(
            package="other", version="1", file="o", sha256="", uploaded_at=sdist().uploaded_at
        )
        with pytest.raises(ConfigError, match="does not list o"):
            cache.fetch(other)


@pytest.mark.usefixtures("quick_retries")
def test_an_index_that_is_not_there_is_tried_later(tmp_path: Path) -> None:
    with (
        SdistCache(tmp_path, index_url="http://127.0.0.1:1/simple/") as cache,
        pytest.raises(SourceUnavailableError, match=r"thing-1\.tar\.gz could not be fetched"),
    ):
        cache.fetch(sdist())


def test_generated_files_are_left_out() -> None:
    tree = source_tree(
        archive(
            {
                "t-1/PKG-INFO": b"x",
                "t-1/src/t.egg-info/SOURCES.txt": b"x",
                "t-1/tests/__pycache__/a.pyc": b"x",
                "t-1/tests/data/.git": b"gitdir: elsewhere",
                "t-1/setup.cfg": b"[egg_info]\ntag_build = \ntag_date = 0\n\n",
                "t-1/tools/setup.cfg": b"[egg_info]\ntag_build = \ntag_date = 0\n\n",
                "t-1/run.sh": b"#!/bin/sh\r\n",
                "t-1/a b/é.txt": b"\xff",
            }
        )
    )
    assert tree == {
        "tools/setup.cfg": SourceFile(b"[egg_info]\ntag_build = \ntag_date = 0\n\n"),
        "run.sh": SourceFile(b"#!/bin/sh\r\n", executable=True),
        "a b/é.txt": SourceFile(b"\xff"),
    }


def test_a_setup_cfg_with_more_in_it_stays() -> None:
    content = b"[metadata]\nname = t\n\n[egg_info]\ntag_build = \ntag_date = 0\n\n"
    assert source_tree(archive({"t-1/setup.cfg": content})) == {"setup.cfg": SourceFile(content)}


def link(kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo("t-1/link")
    info.type, info.linkname = kind, "/etc/passwd"
    return info


@pytest.mark.parametrize(
    "members",
    [
        {"t-1/../../x": b""},
        {"/etc/x": b""},
        {"link": link(tarfile.SYMTYPE)},
        {"link": link(tarfile.LNKTYPE)},
        {"pipe": link(tarfile.FIFOTYPE)},
        {},
    ],
)
def test_an_archive_that_is_more_than_files_is_refused(
    members: dict[str, bytes | tarfile.TarInfo],
) -> None:
    with pytest.raises(FatalError, match="The archive holds"):
        source_tree(archive(members))
