"""What an exit code of `miner` means: the one table. README repeats it, and a test compares."""

from collections.abc import Mapping
from types import MappingProxyType

OK = 0
DIFFERS = 1
WRONG_INPUT = 2
UNKNOWN_RECIPE = 65
ENGINE_TOO_OLD = 69
FATAL = 70
TRY_AGAIN = 75
STOPPED = 130

MEANINGS: Mapping[int, str] = MappingProxyType(
    {
        OK: "done",
        DIFFERS: "done, but the answer is no: a check failed, a result is not what it must be",
        WRONG_INPUT: "a person has to change something: an option, a setting, a file, a name",
        UNKNOWN_RECIPE: "a recipe names a language, runner or Python unknown to this version",
        ENGINE_TOO_OLD: "the container engine cannot enforce what a run needs",
        FATAL: "going on would harm what is stored (database of another version, frozen snapshot), "
        "or miner itself has a fault",
        TRY_AGAIN: "the machine or a service failed; nothing was lost, the same command goes on",
        STOPPED: "stopped by Ctrl-C or SIGTERM; the same command goes on",
    }
)
