"""The text of a lock: pins, and the tools that build the project."""

import re

import pytest
from packaging.requirements import Requirement

from validators import locks

PINS = "pytest==8.0 \\\n    --hash=sha256:00\n"
FIRST, SECOND = "0" * 64, "1" * 64
TOOLS = (
    f"hatchling==1.24.2 \\\n    --hash=sha256:{FIRST} \\\n    --hash=sha256:{SECOND}\n"
    f"wheel==0.43.0+local \\\n    --hash=sha256:{FIRST}\n"
)


def test_tools_come_back_as_constraints_and_leave_the_pins_as_they_were() -> None:
    lock = locks.with_tools(PINS, TOOLS)
    assert lock.startswith(PINS)
    assert locks.without_tools(lock) == PINS
    assert locks.tools_of(lock).splitlines() == [
        f"hatchling==1.24.2 --hash=sha256:{FIRST} --hash=sha256:{SECOND}",
        f"wheel==0.43.0+local --hash=sha256:{FIRST}",
    ]


def test_what_a_guest_wrote_takes_no_time_by_its_square() -> None:
    """A pattern that looks for blanks before a break begins anew at each of them."""
    assert locks.with_tools(PINS, f"hatchling{' ' * 4_000_000}x\n") == PINS


def test_an_installer_reads_the_pins_alone() -> None:
    lock = locks.with_tools(PINS, TOOLS).replace("\\\n", " ")
    lines = [re.sub(r"(^|\s)#.*", "", line) for line in lock.splitlines()]
    named = [Requirement(line.partition("--hash")[0]) for line in lines if line.strip()]
    assert [str(each) for each in named] == ["pytest==8.0"]


@pytest.mark.parametrize(
    "tools",
    [
        "",
        "\n",
        "hatchling\n",
        "-r /etc/passwd\n",
        "hatchling==1.0\n--index-url https://x.invalid\n",
        "x @ git+https://x.invalid/x@1f\n",
        "x @ file:///testbed/x\n",
        "hatchling==1.0 --hash=sha256:zz\n",
    ],
)
def test_what_is_no_list_of_pins_adds_nothing(tools: str) -> None:
    assert locks.with_tools(PINS, tools) == PINS


@pytest.mark.parametrize(
    "line",
    ["#: --index-url https://x.invalid", "#: x @ https://x.invalid/x.whl", "#: -r a", "#a==1"],
)
def test_of_a_strangers_lock_only_pins_are_tools(line: str) -> None:
    assert locks.tools_of(f"{PINS}{line}\n#: wheel==1\n") == "wheel==1\n"


def test_tools_are_nothing_that_another_state_misses() -> None:
    assert locks.pins_missing(locks.with_tools(PINS, TOOLS), "") == ("pytest==8.0",)
