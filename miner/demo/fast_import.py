"""A planned history → a bare git repository. Same plan, same commit ids."""

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from miner.demo.histories import WEB_FLOW, History, Identity, PlannedCommit
from miner.errors import ConfigError, FatalError

GIT_TIMEOUT_S = 300
_SETTINGS = (
    ("safe.directory", "*"),  # a shared folder may belong to somebody else; nothing in it is run
    ("core.hooksPath", "/dev/null"),
    ("diff.algorithm", "myers"),
    ("diff.renameLimit", "1000"),
    # newer gits read HEAD's .gitattributes in a bare repository: sizes would depend on the git
    ("attr.tree", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
)
GIT_ENVIRONMENT: Mapping[str, str] = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "GIT_CONFIG_COUNT": str(len(_SETTINGS)),
    **{f"GIT_CONFIG_KEY_{place}": key for place, (key, _) in enumerate(_SETTINGS)},
    **{f"GIT_CONFIG_VALUE_{place}": value for place, (_, value) in enumerate(_SETTINGS)},
}


def git_command() -> str:
    """Where git is. ConfigError when it is nowhere."""
    found = shutil.which("git")
    if found is None:
        raise ConfigError("The git command is missing; install git.")
    return found


def git(arguments: list[str], *, stdin: bytes = b"") -> bytes:
    """Run git with a clean configuration; its output. FatalError with git's own words."""
    try:
        done = subprocess.run(
            [git_command(), *arguments],
            input=stdin,
            capture_output=True,
            env=dict(GIT_ENVIRONMENT),
            timeout=GIT_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise FatalError(f"git {arguments[0]} took more than {GIT_TIMEOUT_S} s.") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise FatalError(f"git {' '.join(arguments[:4])} failed: {said}")
    return done.stdout


_SERVED_CONFIG = """[uploadpack]
\tallowReachableSHA1InWant = true
\tallowFilter = true
[http]
\treceivepack = false
"""


def init_bare(git_dir: Path, *, default_branch: str) -> None:
    """An empty bare repository that a server may hand out by any reachable commit."""
    git_dir.mkdir(parents=True, exist_ok=True)
    git(["init", "-q", "--bare", "--template=", f"--initial-branch={default_branch}", str(git_dir)])
    with (git_dir / "config").open("a", encoding="utf-8") as config:
        config.write(_SERVED_CONFIG)


def write_repository(git_dir: Path, history: History) -> Mapping[int, str]:
    """Make the repository; returns commit key → commit id."""
    init_bare(git_dir, default_branch=history.default_branch)
    marks = git_dir / "marks"
    stream = b"".join(_stream(history))
    git(
        ["-C", str(git_dir), "fast-import", "--quiet", "--done", f"--export-marks={marks}"],
        stdin=stream,
    )
    lines = marks.read_text(encoding="ascii").split("\n")
    marks.unlink()
    return {int(mark[1:]): oid for mark, oid in (line.split() for line in lines if line)}


_SCRATCH = b"refs/forge/scratch"


def _stream(history: History) -> Iterator[bytes]:
    for commit in history.commits:
        yield from _commit(commit)
    for ref, key in sorted(history.refs.items()):
        yield b"reset %s\nfrom :%d\n\n" % (ref.encode(), key)
    for tag, key in sorted(history.tags.items()):
        yield from _tag(tag, key, history.commits[key - 1].committed_at)
    yield b"reset %s\nfrom %s\n\ndone\n" % (_SCRATCH, b"0" * 40)


def _commit(commit: PlannedCommit) -> Iterator[bytes]:
    yield b"reset %s\n\ncommit %s\nmark :%d\n" % (_SCRATCH, _SCRATCH, commit.key)
    yield b"author %s\n" % _signature(commit.author, commit.authored_at)
    yield b"committer %s\n" % _signature(commit.committer, commit.committed_at)
    yield _data(commit.message.encode())
    for word, parent in zip((b"from", *(b"merge",) * 9), commit.parents, strict=False):
        yield b"%s :%d\n" % (word, parent)
    for path, file in sorted(commit.changes.items()):
        if file is None:
            yield b"D %s\n" % _quoted(path)
        else:
            mode = b"100755" if file.executable else b"100644"
            yield b"M %s inline %s\n" % (mode, _quoted(path)) + _data(file.data)
    yield b"\n"


def _tag(name: str, key: int, at: datetime) -> Iterator[bytes]:
    """Tags with a `v` are annotated, bare ones are not: both occur in the wild."""
    if not name.startswith("v"):
        yield b"reset refs/tags/%s\nfrom :%d\n\n" % (name.encode(), key)
        return
    yield b"tag %s\nfrom :%d\n" % (name.encode(), key)
    yield b"tagger %s\n" % _signature(WEB_FLOW, at) + _data(f"Release {name}\n".encode())


def _signature(who: Identity, at: datetime) -> bytes:
    return f"{who.name} <{who.email}> {int(at.timestamp())} +0000".encode()


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _quoted(path: str) -> bytes:
    raw = path.encode("utf-8", "surrogateescape")
    if not raw.startswith(b'"') and b"\n" not in raw:
        return raw
    escaped = raw.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + escaped + b'"'
