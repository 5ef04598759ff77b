"""Whose container: only the surely dead are dead."""

import dataclasses
import os
import subprocess
import sys

from tests.another_user import said_by_another_user
from validators.engines.ownership import Owner, is_dead, parse, this_process


def test_a_label_survives_its_way() -> None:
    owner = this_process()
    assert parse(str(owner)) == owner


def test_foreign_labels_are_nobodys() -> None:
    for label in ("", "a:b", "a:b:c:d", "a:b:1:2:3"):
        assert parse(label) is None


def test_this_process_lives() -> None:
    assert not is_dead(this_process())


def test_a_process_that_ended_is_dead() -> None:
    command = "from validators.engines.ownership import this_process; print(this_process())"
    said = subprocess.run([sys.executable, "-c", command], capture_output=True, check=True)
    owner = parse(said.stdout.decode().strip())
    assert owner is not None
    assert is_dead(owner)


def test_a_zombie_is_dead() -> None:
    command = "from validators.engines.ownership import this_process; print(this_process())"
    with subprocess.Popen([sys.executable, "-c", command], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        owner = parse(process.stdout.read().decode().strip())
        assert owner is not None
        assert owner.pid == process.pid
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # ended, and kept as a zombie
        assert is_dead(owner)


def test_a_reused_pid_is_another_process() -> None:
    assert is_dead(dataclasses.replace(this_process(), started="1"))


def test_of_other_hosts_and_namespaces_nothing_is_said() -> None:
    gone = Owner("other-boot", this_process().namespace, 2**22 + 1, "1")
    assert not is_dead(gone)
    assert not is_dead(dataclasses.replace(this_process(), namespace="1", pid=2**22 + 1))
    assert not is_dead(Owner("", "", 2**22 + 1, ""))


def test_a_process_that_another_user_may_not_see_lives() -> None:
    seen = """
    from validators.engines.ownership import is_dead, parse
    told = [is_dead(parse(label)) for label in sys.argv[1:]]
    """
    gone = dataclasses.replace(this_process(), pid=2**22 + 1)
    assert said_by_another_user(seen, str(this_process()), str(gone)) == [False, True]
