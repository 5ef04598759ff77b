"""From words to exit codes: one sentence on stderr, secrets out, traces only when asked for."""

import logging
from collections.abc import Iterator

import pytest

from miner.cli import exits, run, speech


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
