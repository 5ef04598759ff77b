"""The text of a lock: pins with hashes of what is in an environment, and the tools that built the
project apart from it. Pure.

The tools stand below the pins as comments, one a line (`#: hatchling==1.24.2 --hash=sha256:…`):
so a lock stays a file that every installer reads, which installs none of them.
"""

import re
from collections.abc import Mapping, Sequence

_TOOL = "#: "
_TOOL_LINE = re.compile(r"[A-Za-z0-9][\w.-]*==[\w.!+-]+(?: --hash=sha256:[0-9a-f]{64})*")
_HEAD = "# The isolated build of the project takes no other versions of these:"


def with_tools(lock: str, tools: str) -> str:
    """A lock with the tools that another one pins; without, where that holds anything else."""
    # by words: a pattern for blanks around a break takes time by the square of what a guest wrote
    joined = (" ".join(line.split()) for line in tools.replace("\\\n", " ").splitlines())
    lines = [line for line in joined if line]
    if not lines or not all(map(_TOOL_LINE.fullmatch, lines)):
        return lock
    return "".join([lock, f"{_HEAD}\n", *(f"{_TOOL}{line}\n" for line in lines)])


def tools_of(lock: str) -> str:
    """The tools, as the file of constraints that a build is bound to; "" where there are none."""
    named = (line.removeprefix(_TOOL) for line in lock.splitlines() if line.startswith(_TOOL))
    return "".join(f"{line}\n" for line in named if _TOOL_LINE.fullmatch(line))


def without_tools(lock: str) -> str:
    """What is in the environment alone."""
    lines = lock.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith((_TOOL, _HEAD)))


def addresses(lock: str) -> Sequence[str]:
    """The lines of a lock that name a repository in place of a file, of which there is no hash."""
    return re.findall(r"^\S+\s*@\s*\w+\+\S+", lock, re.MULTILINE)


def without_project(lock: str) -> str:
    """A lock without the line that stands for the project, which has no hash."""
    kept = [
        line
        for line in lock.splitlines()
        if not re.match(r"(-e\s|\.|/|file:)|\S+\s*@\s*file:", line)
    ]
    return "".join(f"{line}\n" for line in kept)


def pins_missing(lock: str, newer: str) -> Sequence[str]:
    """`name==version` of what `lock` holds and `newer` does not."""
    kept = _pins(newer)
    return tuple(f"{name}=={pin}" for name, pin in _pins(lock).items() if name not in kept)


def _pins(lock: str) -> Mapping[str, str]:
    return dict(re.findall(r"^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)", lock, re.MULTILINE))
