"""One bare mirror a repository: made and updated under a lock, never half there.

Credentials reach git by an askpass script that reads two variables of that one child process and
answers only for the server they are meant for. They are in no argument, URL, file or message.
"""

import fcntl
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote, urlsplit

from miner.errors import (
    BadItemError,
    BlockedError,
    ConfigError,
    MinerError,
    NotFoundError,
    RetryableError,
    SourceUnavailableError,
)
from miner.git import command, copies
from miner.git.mirror import Mirror

FETCH_TIMEOUT_S = 3600

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*/[A-Za-z0-9_.-]+")
_REF = re.compile(r"refs/[A-Za-z0-9_./-]+")
_BRANCHES = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
_ASKPASS = """#!/bin/sh
case "$1" in
"$MINER_GIT_USER_PROMPT"*) printf '%s\\n' "$MINER_GIT_USER" ;;
"$MINER_GIT_SECRET_PROMPT"*) printf '%s\\n' "$MINER_GIT_SECRET" ;;
*) exit 1 ;;
esac
"""
_OID = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_NOT_HANDED_OUT = ("not our ref", "unadvertised object", "couldn't find remote ref")
_BLOCKED = {"dmca": "dmca", "error: 451": "dmca", "has been disabled": "tos"}
_ABSENT = (
    "repository not found",
    "' not found",
    "error: 404",
    "does not exist",
    "does not appear to be a git repository",
)
_REFUSED = (
    "authentication failed",
    "could not read username",
    "could not read password",
    "error: 401",
    "error: 403",
)


@dataclass(frozen=True, slots=True)
class Mirrors:
    """The folder with all mirrors. `ca_bundle`: certificates for servers behind a TLS proxy.

    A mirror with more packs or loose objects is packed anew after a fetch (git's own limits).
    """

    root: Path
    ca_bundle: Path | None = None
    packs_at_most: int = 50
    loose_at_most: int = 6700

    def open(self, name: str) -> Mirror:
        """The mirror of "owner/name". ConfigError when there is none."""
        mirror = self.found(name)
        if mirror is None:
            raise ConfigError(
                f"There is no mirror of {name} here; run `miner crawl --repo {name}`."
            )
        return mirror

    def found(self, name: str) -> Mirror | None:
        """The mirror of "owner/name", when there is one."""
        path = self._path(name)
        return Mirror(path, name) if path.is_dir() else None

    def update(
        self,
        name: str,
        clone_url: str,
        *,
        refs: Sequence[str] = (),
        credentials: tuple[str, str] | None = None,
    ) -> Mirror:
        """Create or fetch: all branches and tags, and those of `refs` that the server has.

        `refs` are full names such as refs/pull/7/head, or ids of commits that may be on no branch
        any more (only those not here yet are asked for). A ref that vanished from the server goes,
        its commits stay. NotFoundError or BlockedError when the repository is not there or was
        taken down, BadItemError when it refuses `credentials` (user, secret),
        SourceUnavailableError when it cannot be reached now.
        """
        path = self._path(name)
        remote = _Remote(name, clone_url, credentials, self.ca_bundle, self.root / "askpass.sh")
        with self._written(name) as held:
            self._write_askpass(remote.askpass)
            remote = replace(remote, lock=held)
            if path.is_dir():
                _clear(path)
                remote.fetch(path, refs)
                self._tidy(path)
            else:
                _create(path, lambda made: remote.fetch(made, refs))
        return Mirror(path, name)

    def restore(self, name: str, *, refs: Mapping[str, str], packs: Sequence[Path]) -> Mirror:
        """Create or complete from what `copies` made of a mirror elsewhere; no server is asked.

        ConfigError when the packs are not whole.
        """
        path = self._path(name)
        with self._written(name):
            if path.is_dir():
                _clear(path)
                copies.fill(path, named=refs, packs=packs)
            else:
                _create(path, lambda made: copies.fill(made, named=refs, packs=packs))
        return Mirror(path, name)

    @contextmanager
    def _written(self, name: str) -> Iterator[int]:
        """The mirror's lock, an open file. RetryableError where the disk is at fault."""
        path = self._path(name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with _locked(path.with_name(f".{path.name}.lock")) as held:
                yield held
        except OSError as error:
            raise RetryableError(
                f"The mirror of {name} cannot be written below {self.root}: {error.strerror}."
            ) from error

    def _tidy(self, git_dir: Path) -> None:
        """Pack what many small fetches left. Unreachable commits stay: they may be a pull's base.

        Readers go on meanwhile: git looks for an object anew when its pack was replaced.
        """
        packs = sum(1 for _ in git_dir.glob("objects/pack/*.pack"))
        loose = 256 * sum(1 for _ in git_dir.glob("objects/17/*"))  # git's own guess
        if packs > self.packs_at_most or loose > self.loose_at_most:
            repack = ["repack", "-a", "-d", "--keep-unreachable", "--quiet"]
            command.run(git_dir, repack, timeout_s=FETCH_TIMEOUT_S)
            command.run(git_dir, ["pack-refs", "--all"])

    def _path(self, name: str) -> Path:
        if _NAME.fullmatch(name) is None or ".." in name:
            raise ConfigError(f"{name!r} is not a repository name; it looks like owner/name.")
        return self.root / f"{name}.git"

    def _write_askpass(self, script: Path) -> None:
        """Written when first needed; the same for all."""
        if not script.is_file():
            with tempfile.NamedTemporaryFile("w", dir=self.root, delete=False) as made:
                made.write(_ASKPASS)
            Path(made.name).chmod(0o700)
            Path(made.name).rename(script)


@dataclass(frozen=True, slots=True)
class _Remote:
    """Where a mirror comes from, and how git may talk to it."""

    name: str
    url: str
    credentials: tuple[str, str] | None = field(repr=False)
    ca_bundle: Path | None
    askpass: Path
    lock: int | None = None  # the mirror's lock, an open file: git holds it too

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https", "file") and not self.url.startswith("/"):
            raise ConfigError(f"The clone address of {self.name} is neither http(s) nor a path.")
        if parts.username or parts.password:
            raise ConfigError(f"The clone address of {self.name} holds credentials; take them out.")

    def fetch(self, git_dir: Path, refs: Sequence[str]) -> None:
        """Branches, tags and those of the pulls' refs that are there, in one run of git (a process
        and a connection cost more than most of what a night brings); then the lone commits."""
        wanted = [ref for ref in dict.fromkeys(refs) if _REF.fullmatch(ref)]
        answer = self._fetch(git_dir, wanted)
        if "couldn't find remote ref" in answer.error:
            there = self._there()
            answer = self._fetch(git_dir, [ref for ref in wanted if ref in there])
        self._judge(answer)
        mirror = Mirror(git_dir, self.name)
        for oid in dict.fromkeys(ref for ref in refs if _OID.fullmatch(ref)):
            if not mirror.has(oid):
                self._fetch_lone(git_dir, oid)

    def _fetch(self, git_dir: Path, wanted: Sequence[str]) -> command.Answer:
        """All branches and tags, without those that went, and the wanted refs."""
        refspecs = [*_BRANCHES, *(f"+{ref}:{ref}" for ref in wanted)]
        stdin = "".join(f"{refspec}\n" for refspec in refspecs).encode()
        return self._git(git_dir, ["fetch", *_QUIET, "--prune", "--stdin", self.url], stdin)

    def _fetch_lone(self, git_dir: Path, oid: str) -> None:
        """A commit by its id; a server may have forgotten it or may not hand it out."""
        refspec = f"+{oid}:refs/miner/{oid}"
        answer = self._git(git_dir, ["fetch", *_QUIET, self.url, refspec])
        if not any(mark in answer.error for mark in _NOT_HANDED_OUT):
            self._judge(answer)

    def _there(self) -> frozenset[str]:
        """Every ref the server has."""
        answer = self._git(Path("/nonexistent"), ["ls-remote", "--quiet", self.url])
        self._judge(answer)
        lines = answer.output.decode("utf-8", "replace").splitlines()
        return frozenset(line.partition("\t")[2] for line in lines)

    def _git(self, git_dir: Path, arguments: list[str], stdin: bytes = b"") -> command.Answer:
        settings = {} if self.ca_bundle is None else {"http.sslCAInfo": str(self.ca_bundle)}
        try:
            return command.run(
                git_dir,
                arguments,
                stdin=stdin,
                env=self._environment(),
                settings=settings,
                timeout_s=FETCH_TIMEOUT_S,
                held=() if self.lock is None else (self.lock,),
            )
        except command.TooLongError as error:
            raise SourceUnavailableError(f"Fetching {self.name}: {error}") from error

    def _environment(self) -> Mapping[str, str]:
        if not urlsplit(self.url).scheme.startswith("http"):
            return {"GIT_ALLOW_PROTOCOL": "file"}
        web = {"GIT_ALLOW_PROTOCOL": "http:https", **command.proxies()}
        if self.credentials is None:
            return web
        user, secret = self.credentials
        parts = urlsplit(self.url)
        return {
            **web,
            "GIT_ASKPASS": str(self.askpass),
            "MINER_GIT_USER": user,
            "MINER_GIT_SECRET": secret,
            "MINER_GIT_USER_PROMPT": f"Username for '{parts.scheme}://{parts.netloc}'",
            "MINER_GIT_SECRET_PROMPT": (
                f"Password for '{parts.scheme}://{quote(user, safe='')}@{parts.netloc}'"
            ),
        }

    def _judge(self, answer: command.Answer) -> None:
        if not answer.ok:
            raise _failure(self.name, answer.error)


_QUIET = ("--quiet", "--no-tags", "--no-write-fetch-head", "--force", "--no-auto-maintenance")


def _failure(name: str, error: str) -> MinerError:
    """One sentence of what git said when it could not fetch. Hosts may hide what is private by
    asking for credentials, so both cases share a sentence."""
    said = error.lower()
    for mark, reason in _BLOCKED.items():
        if mark in said:
            return BlockedError(f"{name} was taken down by its host ({reason}).", reason=reason)
    if any(mark in said for mark in _ABSENT):
        return NotFoundError(f"There is no repository {name} at its clone address.")
    if any(mark in said for mark in _REFUSED):
        # Of this repository alone: the API knew the token, the others may well be open to it.
        return BadItemError(f"{name} does not exist or refuses the token; check both.")
    last = error.strip().splitlines()[-1:] or ["git said nothing"]
    return SourceUnavailableError(f"{name} cannot be fetched now: {last[0]}.")


def _create(path: Path, fill: Callable[[Path], object]) -> None:
    """Fill a folder of another name and rename it: a mirror is there whole or not."""
    for left_over in path.parent.glob(f".{path.name}.new-*"):
        shutil.rmtree(left_over)
    made = Path(tempfile.mkdtemp(prefix=f".{path.name}.new-", dir=path.parent))
    try:
        command.run(made, ["init", "--quiet", "--bare", "--template=", "--initial-branch=main"])
        fill(made)
        made.rename(path)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _clear(git_dir: Path) -> None:
    """Remove what a git that was killed left behind. Under the mirror's lock nobody else writes."""
    for pattern in ("*.lock", "refs/**/*.lock", "objects/pack/tmp_*"):
        for left_over in git_dir.glob(pattern):
            left_over.unlink(missing_ok=True)


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Wait until no other process updates this mirror; the lock's open file.

    The kernel frees the lock when the last holder is gone: a git that outlives its miner, killed
    meanwhile, is waited for.
    """
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle.fileno()
