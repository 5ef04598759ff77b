"""What people see while work is under way."""

import io
import logging

import pytest
from rich.console import Console

from miner.cli import speech
from miner.cli.speech import BarProgress, LineProgress, live
from miner.model import Stage
from validators import workshop

LINE = "o__r-1: 1/5 before 1: 2 failed, 3 passed in 0.4 s"


def work(bars: BarProgress | LineProgress) -> None:
    """One item, in which the workshop says what it does."""
    logger = logging.getLogger(workshop.__name__)
    bars.start(Stage.VERIFY, total=None)
    with live(bars, Stage.VERIFY, source=workshop.__name__):
        logger.info("%s", LINE)
        bars.advance(Stage.VERIFY, "o__r-1: accepted")
    bars.end(Stage.VERIFY)
    logger.info("%s", "nobody looks any more")


def test_each_run_is_a_line_where_no_terminal_is(capsys: pytest.CaptureFixture[str]) -> None:
    work(LineProgress())
    assert capsys.readouterr().err.splitlines() == [
        "verify begins",
        f"verify: {LINE}",
        "verify 1: o__r-1: accepted",
    ]


@pytest.mark.parametrize("total", [0, 1])
def test_more_may_be_done_than_there_was_to_do_at_first(
    capsys: pytest.CaptureFixture[str], total: int
) -> None:
    lines = LineProgress()
    lines.start("verify", total=total)
    for note in ("one", "two"):
        lines.advance("verify", note)
    lines.end("verify")
    assert capsys.readouterr().err.splitlines() == [
        "verify begins",
        "verify 1/1: one",
        "verify 2/2: two",
    ]


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What a terminal is sent."""
    shown = io.StringIO()
    terminal = Console(file=shown, force_terminal=True, width=200)
    monkeypatch.setattr(speech, "console", lambda _stream=None: terminal)
    return shown


def test_a_bar_never_shows_more_done_than_there_is_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = on_terminal(monkeypatch)
    bars = BarProgress()
    bars.start("verify", total=1)
    for note in ("one", "two"):
        bars.advance("verify", note)
    bars.end("verify")
    assert "2/2" in shown.getvalue()
    assert "2/1" not in shown.getvalue()


def test_each_run_is_the_note_of_the_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = on_terminal(monkeypatch)
    bars = BarProgress()
    bars.start(Stage.VERIFY, total=None)
    with live(bars, Stage.VERIFY, source=workshop.__name__):
        logging.getLogger(workshop.__name__).info("%s", LINE)
        bars.end(Stage.VERIFY)
    assert LINE in shown.getvalue()


def test_what_is_said_after_the_last_item_is_no_trouble() -> None:
    bars = BarProgress()
    with live(bars, Stage.VERIFY, source=workshop.__name__):
        logging.getLogger(workshop.__name__).info("late")


def test_a_table_of_nothing_is_its_title(capsys: pytest.CaptureFixture[str]) -> None:
    speech.table("Would split: 0", ["repository", "pull"], [])
    assert capsys.readouterr().out == "Would split: 0\n"
