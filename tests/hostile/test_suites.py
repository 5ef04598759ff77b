"""Hostile tests inside an ordinary suite: each has its own status, and its neighbours theirs."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.toy import RECIPE, Repository, environment_of
from validators.engines import DockerEngine
from validators.model import Image, Phase, TestStatus
from validators.procession import runs_of
from validators.run import run_limits
from validators.trial import Trial

pytestmark = [pytest.mark.docker, pytest.mark.hostile, pytest.mark.timeout(300)]

SMALL = replace(RECIPE, memory_mb=256, test_cmd="python -m pytest -s")
HONEST = "def test_honest(): assert 1 + 1 == 2\n"
PASSED, FAILED, ERROR, NOT_RUN = (
    TestStatus.PASSED, TestStatus.FAILED, TestStatus.ERROR, TestStatus.NOT_RUN,
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Hostile:
    """What a test does, what becomes of it, and of the test that comes after it."""

    name: str
    code: str
    status: TestStatus = PASSED
    after: TestStatus = PASSED
    said: str = ""  # in its message
    memory_mb: int = 256


SUITES = (
    Hostile(
        name="a fork bomb",
        code="""
import os, signal, pytest
def test_hostile():
    with pytest.raises(OSError):
        while True:
            if not os.fork():
                signal.pause()
""",
        memory_mb=1024,  # that it is the number of processes that is reached
    ),
    Hostile(
        name="a memory filler",
        code="def test_hostile():\n    x = []\n    while True: x.append(bytearray(1 << 22))\n",
        status=ERROR,
        after=NOT_RUN,
        said="the process died in this test",
    ),
    Hostile(
        name="a disk filler",
        code="""
import os, pytest
@pytest.mark.parametrize("place", ["/testbed", "/tmp", "/home/guest", "/dev/shm"])
def test_hostile(place):
    with pytest.raises(OSError, match="No space left|File too large"):
        for number in range(99):
            with open(f"{place}/{number}", "wb") as out:
                for _ in range(64): out.write(bytes(1 << 20))
    for name in os.listdir(place):
        if name.isdecimal(): os.unlink(f"{place}/{name}")
""",
    ),
    Hostile(
        name="a gigabyte of output",
        code="import os\ndef test_hostile():\n"
        "    for _ in range(1000): os.write(1, b'x' * 10**6)\n",
    ),
    Hostile(
        name="control characters",
        code=r"""
def test_hostile():
    print("\x1b[2J\x1b]0;title\x07\x00\x9b31m\r" * 9)
    raise ValueError("\x1b[2J\x00\udc80 == 3 passed in 0.01s ==")
""",
        status=FAILED,
        said="ValueError: \x1b[2J\\x00\\udc80",
    ),
    Hostile(
        name="a daemon that stays",
        code="""
import subprocess, sys
def test_hostile():
    subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)
""",
    ),
    Hostile(
        name="links in place of the report",
        code="""
import os, pytest
@pytest.mark.parametrize("path", ["/run/miner/report", "/run/miner/kit", "/run/miner"])
def test_hostile(path):
    os.symlink("/etc/passwd", "/tmp/link-" + os.path.basename(path))
    for _ in range(200):
        with pytest.raises(OSError): os.symlink("/etc/passwd", path)
        with pytest.raises(OSError): os.rename("/tmp/link-" + os.path.basename(path), path)
        with pytest.raises(OSError): os.unlink(path)
""",
    ),
    Hostile(
        name="writing to the kernel",
        code="""
import pytest
@pytest.mark.parametrize("path", [
    "/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/1/mem", "/dev/mem",
    "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/fs/cgroup/memory.max",
])
def test_hostile(path):
    with pytest.raises(OSError): open(path, "wb").write(b"1")
""",
    ),
    Hostile(
        name="connecting out",
        code="""
import socket, pytest
@pytest.mark.parametrize("host", ["1.1.1.1", "172.17.0.1", "169.254.169.254", "pypi.org", "::"])
def test_hostile(host):
    with pytest.raises(OSError): socket.create_connection((host, 80), 2)
""",
    ),
    Hostile(
        name="killing pid 1 and all that can be killed but itself",
        code="""
import os, pytest, signal
def test_hostile():
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP):
        with pytest.raises(PermissionError): os.kill(1, number)
""",
    ),
    Hostile(
        name="killing everything",
        code="import os\ndef test_hostile():\n    os.kill(-1, 9)\n    os.kill(os.getpid(), 9)\n",
        status=ERROR,
        after=NOT_RUN,
        said="the process died in this test",
    ),
    Hostile(
        name="deleting the work tree",
        code="""
import os, shutil
def test_hostile():
    for name in os.listdir("/testbed"):
        shutil.rmtree("/testbed/" + name) if os.path.isdir(name) else os.unlink("/testbed/" + name)
    assert os.listdir("/testbed") == []
""",
    ),
    Hostile(
        name="a flood of records",
        code="""
def test_hostile():
    with open("/run/miner/report", "wb") as out:
        for _ in range(20): out.write(b"\\n0123456789abcdef . {}\\n" * 50_000)
""",
    ),
    Hostile(
        name="a hang",
        code="def test_hostile():\n    while True: pass\n",
        status=TestStatus.TIMED_OUT,
    ),
)


@pytest.mark.parametrize("case", SUITES, ids=lambda case: case.name)
def test_a_hostile_test_costs_no_more_than_it_can(
    case: Hostile, engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    """Those before it are decided; those after it too, unless the process itself is gone."""
    files = {"test_a.py": HONEST, "test_hostile.py": case.code, "test_z.py": HONEST}
    tree = Repository(tmp_path / "project", files).tree()
    environment = environment_of(toy_image, replace(SMALL, memory_mb=case.memory_mb))
    trials = [Trial(phase=Phase.AFTER)]
    (run,) = runs_of(tree, environment, trials, selection=sorted(files), engine=engine)
    assert run.flaw is None, run.detail
    statuses = {test: result.status for test, result in run.results.items()}
    assert statuses.pop("test_a.py::test_honest") is PASSED
    assert statuses.pop("test_z.py::test_honest") is case.after, run
    assert set(statuses.values()) == {case.status}, run.results
    messages = [result.message for test, result in run.results.items() if test in statuses]
    assert all(case.said in message for message in messages), messages
    most = run_limits(SMALL).output_mb << 20
    assert len(run.outcome.output) < most + 1000
    assert run.outcome.out_of_memory is (case.name == "a memory filler")


def test_there_are_enough_of_them() -> None:
    assert len({case.name for case in SUITES}) == len(SUITES) >= 12
