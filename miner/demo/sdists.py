"""Release archives from the package index: found by its simple API, checked, cached, unpacked."""

import hashlib
import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from types import TracebackType

import requests
import stamina
from pypi_simple import (
    PYPI_SIMPLE_ENDPOINT,
    DistributionPackage,
    NoSuchProjectError,
    ProjectPage,
    PyPISimple,
)

from miner.demo.trust import trusting_session
from miner.errors import ConfigError, FatalError, SourceUnavailableError

ATTEMPTS = 4
TIMEOUT_S = 30.0
_GENERATED = (  # what a build writes into an archive and no repository holds
    "PKG-INFO",
    ".git",
    "__pycache__",
)
_GENERATED_SETUP_CFG = b"[egg_info]\ntag_build = \ntag_date = 0\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sdist:
    """One release archive as the index lists it."""

    package: str
    version: str
    file: str
    sha256: str
    uploaded_at: datetime


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a tree: its bytes and whether it may be run."""

    data: bytes
    executable: bool = False


class SdistCache:
    """Archives in a folder. A file is there under its name only when its sha256 is right."""

    def __init__(
        self, folder: Path, *, index_url: str | None = None, ca_bundle: Path | None = None
    ) -> None:
        self._folder = folder
        self._index_url = index_url or PYPI_SIMPLE_ENDPOINT
        self._session = trusting_session(ca_bundle)
        self._index = PyPISimple(self._index_url, session=self._session)
        self._pages: dict[str, ProjectPage] = {}

    def __enter__(self) -> "SdistCache":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._session.close()

    def has(self, sdist: Sdist) -> bool:
        """Is the right archive here already?"""
        path = self._folder / sdist.file
        return path.is_file() and _sha256(path.read_bytes()) == sdist.sha256

    def fetch(self, sdist: Sdist) -> Path:
        """The archive's path; downloaded when absent or wrong.

        Raises SourceUnavailableError when the index cannot be reached, ConfigError when it does
        not list the file, FatalError when the bytes are not those the sha256 names.
        """
        path = self._folder / sdist.file
        if self.has(sdist):
            return path
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            data = self._download(sdist)
        except requests.RequestException as error:
            raise SourceUnavailableError(
                f"{sdist.file} could not be fetched from {self._index_url}: {error}. "
                "Check the network and the CA bundle, then run the same command again."
            ) from error
        if _sha256(data) != sdist.sha256:
            raise FatalError(
                f"{sdist.file} from {self._index_url} has not the expected sha256; "
                "nothing of it was kept."
            )
        partial = path.with_name(f".{path.name}.partial")
        partial.write_bytes(data)
        partial.replace(path)
        return path

    @stamina.retry(on=requests.RequestException, attempts=ATTEMPTS, timeout=None)
    def _download(self, sdist: Sdist) -> bytes:
        response = self._session.get(self._listed(sdist).url, timeout=TIMEOUT_S)
        response.raise_for_status()
        return response.content

    def _listed(self, sdist: Sdist) -> DistributionPackage:
        page = self._pages.get(sdist.package)
        if page is None:
            try:
                page = self._index.get_project_page(sdist.package, timeout=TIMEOUT_S)
            except NoSuchProjectError as error:
                raise _unlisted(sdist, self._index_url) from error
            self._pages[sdist.package] = page
        found = [package for package in page.packages if package.filename == sdist.file]
        if not found:
            raise _unlisted(sdist, self._index_url)
        return found[0]


def _unlisted(sdist: Sdist, index_url: str) -> ConfigError:
    return ConfigError(
        f"The index {index_url} does not list {sdist.file}; name one that mirrors PyPI."
    )


def source_tree(archive: bytes) -> Mapping[str, SourceFile]:
    """Path → file of an sdist, as a repository would hold it.

    The archive's top folder and generated files (metadata, byte code, a setup.cfg that only the
    build wrote) are left out. Nothing is written to disk; links, special files and paths that
    leave the archive are refused with a FatalError.
    """
    files: dict[str, SourceFile] = {}
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        for member in tar:
            if member.isdir():
                continue
            whole = PurePosixPath(member.name)
            content = tar.extractfile(member) if member.isfile() else None
            if content is None or whole.is_absolute() or ".." in whole.parts:
                raise FatalError(f"The archive holds {member.name!r}, which is no plain file.")
            path, data = PurePosixPath(*whole.parts[1:]), content.read()
            if not _generated(path, data):
                files[str(path)] = SourceFile(data, executable=bool(member.mode & 0o100))
    if not files:
        raise FatalError("The archive holds no files.")
    return files


def _generated(path: PurePosixPath, data: bytes) -> bool:
    if any(part in _GENERATED or part.endswith(".egg-info") for part in path.parts):
        return True
    return str(path) == "setup.cfg" and data == _GENERATED_SETUP_CFG


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
