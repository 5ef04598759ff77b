"""From words to exit codes: one sentence on stderr, secrets out, traces only when asked for."""

import errno
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.main import get_command

from miner.cli import exits, run, speech
from miner.cli.app import PLACES, app
from miner.cli.databases import GROUP
from miner.errors import RetryableError

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level


def test_no_words_print_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == exits.WRONG_INPUT
    assert capsys.readouterr().err.startswith("Usage: miner")


@pytest.mark.parametrize("words", [["nonsense"], ["config", "--what"]])
def test_wrong_words_are_one_sentence(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == exits.WRONG_INPUT
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("miner: No such ")
    assert len(said.err.splitlines()) == 1


def test_a_trace_only_when_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINER_WORKERS", "0")
    assert run(["config"]) == exits.WRONG_INPUT
    assert "Traceback" not in capsys.readouterr().err
    assert run(["config", "--debug"]) == exits.WRONG_INPUT
    assert "Traceback" in capsys.readouterr().err


def test_settings_as_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINER_GITHUB_TOKENS", "ghp_secret")
    assert run(["config", "--json"]) == exits.OK
    said = capsys.readouterr().out
    assert '"github_tokens": "***"' in said
    assert "ghp_secret" not in said


def test_log_records_and_their_traces_lose_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    speech.log_to_stderr(level=logging.INFO, secrets=["ghp_secret"])
    log = logging.getLogger("test")
    log.info("token %s", "ghp_secret")
    try:
        int("ghp_secret in a URL")
    except ValueError:
        log.exception("it failed")
    said = capsys.readouterr().err
    assert "token ***" in said
    assert "*** in a URL" in said
    assert "ghp_secret" not in said


def test_every_exit_code_of_an_error_is_in_the_table() -> None:
    from miner import errors as miners  # noqa: PLC0415 – both are read as data here
    from validators import errors as validators  # noqa: PLC0415

    codes = {
        value.exit_code
        for module in (miners, validators)
        for value in vars(module).values()
        if isinstance(value, type) and hasattr(value, "exit_code")
    }
    assert codes <= set(exits.MEANINGS)


def test_strangers_words_command_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    speech.say("\x1b[2J\udcff ok\n[bold]é✓")
    speech.table("t", ["c"], [["\x1b]0;x\x07[red]a[/red]"]])
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "\\udcff ok\n[bold]é✓" in said
    assert "[red]a[/red]" in said


@pytest.mark.parametrize("word", [r"test_x[\[/a]]", "[/x]", "[red]", r"\[", "a[1-\\]"])
def test_no_word_is_taken_for_markup(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    speech.table(f"{word} on file", [f"{word} column"], [[f"{word} cell"]])
    said = capsys.readouterr().out
    for place in ("on file", "column", "cell"):
        assert f"{word} {place}" in said


Failing = Callable[[Exception], None]


@pytest.fixture
def failing() -> Iterator[Failing]:
    """A command `db fail` that fails as nobody foresaw, while the test runs."""
    before = GROUP.registered_commands[:]

    def add(error: Exception) -> None:
        def fail() -> None:
            raise error

        GROUP.command("fail")(fail)

    yield add
    GROUP.registered_commands[:] = before


def test_an_unforeseen_error_is_a_sentence_without_secrets(
    failing: Failing, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    token, password, fresh = "ghp_" + "x" * 36, "hunter22", "ghs_" + "y" * 36
    monkeypatch.setenv("MINER_GITHUB_TOKENS", token)
    monkeypatch.setenv("MINER_DATABASE_URL", f"postgresql+psycopg://me:{password}@h/db")
    failing(KeyError(f"{token} {fresh} {password}\nhttps://u:pw@host/ " + "long " * 999))
    assert run(["db", "fail"]) == exits.FATAL
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert len(said) < 600
    assert "KeyError" in said
    assert "--debug" in said
    assert run(["db", "fail", "--debug"]) == exits.FATAL
    traced = capsys.readouterr().err
    assert "Traceback" in traced
    assert "raise error" in traced
    for secret in (token, fresh, password, "u:pw"):
        assert secret not in said + traced


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("can't start new thread"), "no room for another thread"),
        (MemoryError(), "has no memory"),
        (OSError(errno.EAGAIN, "Resource temporarily unavailable"), "temporarily unavailable"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "Cannot allocate memory"),
    ],
)
def test_a_machine_that_has_nothing_left_is_tried_again(
    failing: Failing, capsys: pytest.CaptureFixture[str], error: Exception, words: str
) -> None:
    failing(error)
    assert run(["db", "fail"]) == exits.TRY_AGAIN
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert words in said


def test_ctrl_c_is_obeyed_whatever_fails_on_the_way_out(
    failing: Failing, capsys: pytest.CaptureFixture[str]
) -> None:
    error = RetryableError("The database is away.")
    error.__context__ = KeyboardInterrupt()
    failing(error)
    assert run(["db", "fail"]) == exits.STOPPED
    assert capsys.readouterr().err == "stopped; run again to go on\n"


def test_no_secret_is_shown_where_the_settings_are_wrong(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINER_DATABASE_URL", "postgresql+psycopg://me:hunt@er22/x@h/db")
    monkeypatch.setenv("GITHUB_TOKEN", "a-token-of-mine")
    for words in (["config"], ["config", "--debug"], ["show", "a-token-of-mine"], ["db", "check"]):
        assert run(words) == exits.WRONG_INPUT
        said = capsys.readouterr()
        assert not [word for word in ("er22", "hunt", "token-of") if word in said.out + said.err]


@pytest.mark.parametrize(
    ("words", "both"),
    [("config", False), ("config --json", False), ("version", False), ("--help", True)],
)
def test_a_reader_that_left_is_no_trouble(words: str, both: bool) -> None:
    read, write = os.pipe()
    os.close(read)
    env = {name: value for name, value in os.environ.items() if not name.startswith("MINER_")}
    ended = subprocess.run(
        [sys.executable, "-m", "miner", *words.split()],
        cwd=ROOT,
        env=env,
        stdout=write,
        stderr=write if both else subprocess.PIPE,
        check=False,
        text=True,
    )
    os.close(write)
    assert (ended.returncode, ended.stderr or "") == (exits.OK, "")


def test_work_goes_on_without_a_listener_to_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w", buffering=1, encoding="utf-8") as nowhere:
        monkeypatch.setattr(sys, "stderr", nowhere)
        bars = speech.LineProgress()
        bars.start("crawl", total=2)
        bars.advance("crawl", "o/r")
        bars.end("crawl")
        os.dup2(os.open(os.devnull, os.O_WRONLY), nowhere.fileno())


@pytest.mark.parametrize("command", PLACES)
def test_a_command_alone_is_the_same_as_among_all(command: str) -> None:
    alone, among = (
        get_command(made).commands[command]  # type: ignore[attr-defined]  # it is a group
        for made in (app(command), app())
    )
    assert alone.help == among.help
    assert [option.opts for option in alone.params] == [option.opts for option in among.params]


def test_a_command_takes_only_what_it_needs() -> None:
    code = "import sys; from miner.cli import run; run(['version']); print(*sys.modules, sep='\\n')"
    ended = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    heavy = {"github", "sqlalchemy", "docker", "requests", "miner.demo", "apscheduler"}
    assert heavy & set(ended.stdout.split()) == set()


LOST = """
import os, signal, sys, time
from miner.cli.main import heed_signals

class Disposed:
    def __del__(self):
        os.kill(os.getpid(), signal.{name})
        time.sleep(0)  # a handler is called between two instructions

heed_signals()
try:
    Disposed()
    time.sleep(100)
except KeyboardInterrupt:
    print("stopped")
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_that_comes_while_something_is_disposed_of_is_obeyed(name: str) -> None:
    """Python prints it there, and goes on."""
    command = [sys.executable, "-c", LOST.format(name=name)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=50, check=True)
    assert (ended.stdout, ended.stderr) == ("stopped\n", "")
