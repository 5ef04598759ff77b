"""One git process: bounded in time and output, blind to this machine's settings."""

import time
from pathlib import Path

import pytest

from miner.errors import BadItemError, RetryableError
from miner.git import command
from tests.miner.git.repository import Repository


def _is_running(process_id: int) -> bool:
    """Ended ones may wait as zombies for whoever reaps orphans here."""
    status = Path(f"/proc/{process_id}/stat")
    return status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_time_is_bounded_and_children_are_ended(upstream: Repository, tmp_path: Path) -> None:
    note = tmp_path / "child"
    upstream.git("config", "alias.hang", f"!sleep 600 & echo $! > {note}; wait")
    with pytest.raises(command.TooLongError, match="git hang took longer than 4 s"):
        command.run(upstream.path / ".git", ["hang"], timeout_s=4)
    child, deadline = int(note.read_text()), time.monotonic() + 30
    while (
        _is_running(child) and time.monotonic() < deadline
    ):  # killed; a loaded machine buries late
        time.sleep(0.05)
    assert not _is_running(child)


def test_output_is_bounded(upstream: Repository) -> None:
    upstream.git("config", "alias.shout", "!yes")
    with pytest.raises(BadItemError, match="more than 1 MB"):
        command.run(upstream.path / ".git", ["shout"], output_limit_mb=1)


def test_the_machines_settings_do_not_count(
    upstream: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "gitconfig"
    config.write_text("[alias]\n\tsecret = !echo seen\n[diff]\n\tnoprefix = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_secret")
    git_dir = upstream.path / ".git"
    assert not command.run(git_dir, ["secret"]).ok
    assert command.run(git_dir, ["config", "diff.noprefix"]).output == b"false\n"
    upstream.git("config", "alias.env", "!env")
    assert b"ghp_secret" not in command.run(git_dir, ["env"]).output


def test_input_and_complaints(upstream: Repository) -> None:
    git_dir = upstream.path / ".git"
    said = command.run(git_dir, ["hash-object", "--stdin"], stdin=b"x" * 3_000_000)
    assert said.ok
    assert len(said.output) == 41
    wrong = command.run(git_dir, ["cat-file", "-e", "1" * 40])
    assert not wrong.ok
    assert command.run(git_dir, ["no-such-command"]).error.startswith("git: 'no-such-command'")


@pytest.mark.parametrize(
    "script",
    [
        "echo 'error: unable to write file: No space left on device' >&2; exit 128",
        "echo 'error: object file ./objects/1 is empty' >&2; exit 128",
        "echo 'fatal: Out of memory, malloc failed' >&2; exit 128",
        "echo 'error: failed to write new configuration file /x/config.lock' >&2; exit 128",
        "kill -9 $PPID",
    ],
)
def test_the_machines_trouble_is_never_an_answer(upstream: Repository, script: str) -> None:
    upstream.git("config", "alias.fail", f"!{script}")
    with pytest.raises(RetryableError):
        command.run(upstream.path / ".git", ["fail"])
