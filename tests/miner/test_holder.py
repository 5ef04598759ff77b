"""Who holds a lease: only the surely dead are dead."""

import os
import subprocess
import sys

from miner.holder import is_dead, new_holder
from tests.another_user import said_by_another_user

TELL = [sys.executable, "-c", "from miner.holder import new_holder; print(new_holder())"]


def _with(holder: str, *, machine: str = "", pid: str = "", started: str = "") -> str:
    parts = holder.split("/")
    return "/".join([machine or parts[0], pid or parts[1], started or parts[2], parts[3]])


def test_this_process_lives_under_each_of_its_names() -> None:
    one, other = new_holder(), new_holder()
    assert one != other
    assert not is_dead(one)
    assert not is_dead(other)


def test_a_process_that_ended_is_dead() -> None:
    said = subprocess.run(TELL, capture_output=True, text=True, check=True)
    assert is_dead(said.stdout.strip())


def test_a_zombie_is_dead() -> None:
    with subprocess.Popen(TELL, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        holder = process.stdout.read().strip()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # ended, and kept as a zombie
        assert is_dead(holder)


def test_a_reused_pid_is_another_process() -> None:
    assert is_dead(_with(new_holder(), started="1"))


def test_of_what_cannot_be_known_nothing_is_said() -> None:
    gone = _with(new_holder(), pid=str(2**22 + 1))
    assert is_dead(gone)
    assert not is_dead(_with(gone, machine="another-machine"))
    assert not is_dead(_with(gone, started="0"))
    for odd in ("", "a", "a/b/c/d", _with(gone, pid="x")):
        assert not is_dead(odd)


def test_a_process_that_another_user_may_not_see_lives() -> None:
    seen = """
    from miner.holder import is_dead
    told = [is_dead(holder) for holder in sys.argv[1:]]
    """
    gone = _with(new_holder(), pid=str(2**22 + 1))
    assert said_by_another_user(seen, new_holder(), gone) == [False, True]
