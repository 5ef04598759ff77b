"""A real repository in a folder, made by the real git, the same ids every time."""

import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

START = datetime(2024, 1, 1, tzinfo=UTC)
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.org",
}


class Repository:
    """One work tree. Every commit is an hour younger than the one before."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._commits = 0
        path.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str, stdin: bytes | None = None) -> str:
        """Run git in the work tree; its output, stripped. A failure fails the test."""
        at = (START + timedelta(hours=self._commits)).isoformat()
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            input=stdin,
            capture_output=True,
            check=False,
            env={**ENVIRONMENT, "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at},
        )
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, files: Mapping[str, bytes | str | None]) -> None:
        """Write files; None removes one; a value "-> target" makes a symlink."""
        for name, content in files.items():
            path = self.path / name
            if path.is_symlink() or path.exists():
                path.unlink()
            if content is None:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, str) and content.startswith("-> "):
                path.symlink_to(content[3:])
            else:
                path.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(
        self, files: Mapping[str, bytes | str | None] | None = None, message: str = "Change"
    ) -> str:
        """Write, add all, commit; the new commit's id."""
        self.write(files or {})
        self.git("add", "--all")
        self._commits += 1
        self.git("commit", "--quiet", "--allow-empty", f"--message={message}")
        return self.head()

    def head(self) -> str:
        """The id of HEAD."""
        return self.git("rev-parse", "HEAD")
