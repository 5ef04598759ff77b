"""From a command line to an exit code: the one place where errors become sentences."""

import logging
import signal
import sys
import traceback
from collections.abc import Sequence
from types import FrameType

from typer.exceptions import TyperException
from typer.main import get_command

from miner.cli import exits, speech
from miner.cli.app import APP
from miner.cli.secrets import known_secrets
from miner.errors import MinerError
from validators.errors import ValidatorError

DEBUG = "--debug"
Told = MinerError | ValidatorError | TyperException


def main() -> None:
    """The `miner` command."""
    signal.signal(signal.SIGTERM, _stop)
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Carry out a command line and return its exit code (`exits.MEANINGS`).

    `--debug` may stand anywhere.
    """
    debug = DEBUG in arguments
    words = [word for word in arguments if word != DEBUG]
    speech.log_to_stderr(level=logging.DEBUG if debug else logging.WARNING, secrets=known_secrets())
    try:
        code = get_command(APP).main(words, prog_name="miner", standalone_mode=False)
    except (MinerError, ValidatorError, TyperException) as error:
        return _tell(error, debug=debug)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output left; there is nobody to tell
        return exits.OK
    if code == exits.STOPPED:  # typer's word for KeyboardInterrupt
        speech.complain("stopped; run again to go on")
    return code if isinstance(code, int) else exits.OK


def _tell(error: Told, *, debug: bool) -> int:
    """One sentence, and the trace for those who asked for it."""
    secrets = known_secrets()
    if debug:
        speech.complain(speech.redacted("".join(traceback.format_exception(error)), secrets))
    sentence = error.message if isinstance(error, TyperException) else str(error)
    prefix = "" if sentence.startswith("Usage:") else "miner: "
    speech.complain(prefix + speech.redacted(sentence, secrets))
    return exits.WRONG_INPUT if isinstance(error, TyperException) else error.exit_code


def _stop(_number: int, _frame: FrameType | None) -> None:
    """SIGTERM ends us the way Ctrl-C does."""
    raise KeyboardInterrupt
