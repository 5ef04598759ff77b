"""From a command line to an exit code: the one place where errors become sentences."""

import errno
import logging
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

from typer.exceptions import TyperException

from miner import config
from miner.cli import exits, speech
from miner.cli.app import carry_out
from miner.errors import ConfigError, FaultError, MinerError, RetryableError, was_stopped
from validators.errors import ValidatorError

DEBUG = "--debug"
Told = MinerError | ValidatorError | TyperException
UNEXPECTED_CHARS = 300
"""So much of an unforeseen error's words is told: some libraries put whole documents there."""

_MACHINE_FAILED = frozenset(
    {
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EIO,
        errno.EMFILE,
        errno.ENFILE,
        errno.EAGAIN,  # of processes: the limit of them is reached
        errno.ENOMEM,
    }
)
"""What another try may be granted; every other refusal needs a person."""

_AGAIN_S = 0.05
"""When a Ctrl-C that was lost is raised again: after the disposal in which it was lost."""

_NO_THREAD = "can't start new thread"
"""Python's words, with no class of their own."""


def main() -> None:
    """The `miner` command."""
    heed_signals()
    _open_what_is_closed()
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError as error:
        _say_no_more()
        code = code if isinstance(error, BrokenPipeError) else _tell(_file_trouble(error))
    sys.exit(code)


def heed_signals() -> None:
    """SIGTERM ends as Ctrl-C does, and neither is lost where Python would only print it.

    What is raised while an object is being disposed of (`__del__`, a weak reference's callback)
    goes to the unraisable hook and nowhere else: from there it is raised again, a moment later.
    """
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGALRM, _stop)
    usual = sys.unraisablehook

    def unraisable(lost: "sys.UnraisableHookArgs") -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
        else:
            usual(lost)

    sys.unraisablehook = unraisable


def run(arguments: Sequence[str]) -> int:
    """Carry out a command line and return its exit code (`exits.MEANINGS`).

    `--debug` may stand anywhere.
    """
    debug = DEBUG in arguments
    words = [word for word in arguments if word != DEBUG]
    speech.log_to_stderr(
        level=logging.DEBUG if debug else logging.WARNING, secrets=config.secrets()
    )
    try:
        _refuse_other_than_text(words)
        _refuse_nothing(words)
        code = carry_out(words)
    except (MinerError, ValidatorError, TyperException) as error:
        if not was_stopped(error):
            return _tell(error, debug=debug)
        code = exits.STOPPED
    except KeyboardInterrupt:  # before typer listens for it
        code = exits.STOPPED
    except (BrokenPipeError, SystemExit):  # the latter is what typer and rich make of the former
        _say_no_more()  # the reader of our output left; there is nobody to tell
        return exits.OK
    except OSError as error:
        return _tell(_file_trouble(error), debug=debug)
    except Exception as error:  # noqa: BLE001 - here every error becomes a sentence
        return _tell(_unexpected(error), debug=debug)
    if code == exits.STOPPED:  # typer's word for KeyboardInterrupt
        speech.complain("stopped; run again to go on")
    return code if isinstance(code, int) else exits.OK


def _refuse_other_than_text(words: Sequence[str]) -> None:
    """ConfigError: a word whose bytes are no text could be neither stored nor shown."""
    for word in words:
        if not word.isascii() and any("\ud800" <= char <= "\udfff" for char in word):
            raise ConfigError(f"{word!r} is not UTF-8 text; write it again in UTF-8.")


def _refuse_nothing(words: Sequence[str]) -> None:
    """ConfigError: an empty word is a shell's unset variable, and no option that was left out."""
    for before, word in zip(("miner", *words), words, strict=False):
        option, given, value = word.partition("=")
        if not word or (option.startswith("--") and given and not value):
            raise ConfigError(
                f"Nothing is given after {option or before}; give something, or leave it out."
            )


def _file_trouble(error: OSError) -> MinerError:
    """What the system says of a file, as one sentence: which file, what, what to do."""
    reason = error.strerror or str(error)
    if isinstance(error.filename, str | bytes):
        reason = f"{os.fsdecode(error.filename)}: {reason}"
    if error.errno in _MACHINE_FAILED:
        kept = "make room or wait, then run this again; nothing stored was lost"
        return RetryableError(f"{reason}; {kept}.")
    return ConfigError(f"{reason}; choose another place, or make this one usable.")


def _unexpected(error: Exception) -> MinerError:
    """An error that nobody thought of: what it is, and where more is to be read.

    Without memory or threads anything may end so: that is the machine's fault.
    """
    if isinstance(error, MemoryError) or _NO_THREAD in str(error):
        return RetryableError(
            "This machine has no memory, or no room for another thread, left; use fewer workers "
            "or wait, then run this again: nothing stored was lost."
        )
    said = " ".join(str(error).split())[:UNEXPECTED_CHARS]
    fault = FaultError(
        f"Something unforeseen happened ({type(error).__name__}: {said}); nothing stored was lost. "
        "Run this again with --debug to see its trace, and report that."
    )
    fault.__cause__ = error
    return fault


def _open_what_is_closed() -> None:
    """Give a process that was started without stdout or stderr somewhere to speak to."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 – for the whole life


def _say_no_more() -> None:
    """What is still to be written goes nowhere: at exit Python would complain once more."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _tell(error: Told, *, debug: bool = False) -> int:
    """One sentence, and the trace for those who asked for it."""
    secrets = config.secrets()
    if debug:
        speech.complain(speech.redacted("".join(traceback.format_exception(error)), secrets))
    sentence = error.format_message() if isinstance(error, TyperException) else str(error)
    prefix = "" if sentence.startswith("Usage:") else "miner: "
    speech.complain(prefix + speech.redacted(sentence, secrets))
    return exits.WRONG_INPUT if isinstance(error, TyperException) else error.exit_code


def _stop(_number: int, _frame: FrameType | None) -> None:
    """SIGTERM ends us the way Ctrl-C does."""
    raise KeyboardInterrupt
