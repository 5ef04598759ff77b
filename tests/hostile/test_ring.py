"""io_uring: requests that the kernel carries out past its own entry, so past any filter of calls.

Old engines' profiles let a guest have a ring. It must win nothing by it that calls do not.
"""

# ruff: noqa: E501 - programs inside strings

import json
import platform

import pytest

from tests.real_engine import LIMITS
from validators.engines import DockerEngine
from validators.model import Image

pytestmark = [
    pytest.mark.docker,
    pytest.mark.hostile,
    pytest.mark.timeout(120),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="calls have their numbers"),
]

_RING = """
import ctypes, errno, json, mmap, os, socket, struct, sys

libc = ctypes.CDLL(None, use_errno=True)
params = ctypes.create_string_buffer(120)
ring = libc.syscall(425, 4, params)
if ring < 0:
    print(json.dumps({"ring": os.strerror(ctypes.get_errno())}))
    sys.exit()


def field(at):
    return struct.unpack_from("I", params, at)[0]


def mapped(size, offset):
    return mmap.mmap(ring, size, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE, offset=offset)


submitted = mapped(field(64) + 4 * field(0), 0)
completed = mapped(field(100) + 16 * field(4), 0x8000000)
entries = mapped(64 * field(0), 0x10000000)


def asked(opcode, fd, address, *, offset=0, length=0, flags=0):
    tail = struct.unpack_from("I", submitted, field(44))[0]
    slot = tail & struct.unpack_from("I", submitted, field(48))[0]
    entry = struct.pack("=BBHiQQII", opcode, 0, 0, fd, offset, address, length, flags)
    entries[64 * slot : 64 * slot + 64] = entry.ljust(64, bytes(1))
    struct.pack_into("I", submitted, field(64) + 4 * slot, slot)
    struct.pack_into("I", submitted, field(44), tail + 1)
    if libc.syscall(426, ring, 1, 1, 1, None, 0) < 0:
        return "no answer"
    head = struct.unpack_from("I", completed, field(80))[0]
    at = field(100) + 16 * (head & struct.unpack_from("I", completed, field(88))[0])
    result = struct.unpack_from("=Qi", completed, at)[1]
    struct.pack_into("I", completed, field(80), head + 1)
    return "granted" if result >= 0 else errno.errorcode[-result]


def opened(path, flags):
    name = ctypes.create_string_buffer(path.encode())
    return asked(18, -100, ctypes.addressof(name), flags=flags)


def connected(host, port):
    with socket.socket() as out:
        given = struct.pack("=H2s4s8x", socket.AF_INET, port.to_bytes(2, "big"), socket.inet_aton(host))
        address = ctypes.create_string_buffer(given, 16)
        return asked(16, out.fileno(), ctypes.addressof(address), offset=16)


print(json.dumps({
    "ring": "granted",
    "null": opened("/dev/null", os.O_RDWR),
    "shadow": opened("/etc/shadow", os.O_RDONLY),
    "passwd": opened("/etc/passwd", os.O_WRONLY),
    "report": opened("/run/miner/report", os.O_RDONLY),
    "memory": opened("/proc/1/mem", os.O_RDONLY),
    "kernel": opened("/proc/sys/kernel/hostname", os.O_WRONLY),
    "name server": connected("1.1.1.1", 53),
    "metadata": connected("169.254.169.254", 80),
    "gateway": connected("172.17.0.1", 22),
}))
"""


def test_a_ring_of_requests_wins_nothing_that_calls_do_not(
    engine: DockerEngine, base: Image
) -> None:
    with engine.run(base, LIMITS) as container:
        outcome = container.exec(("python", "-c", _RING), timeout_s=60, stdin=b"")
    assert outcome.ok, outcome.output.decode(errors="replace")[-1000:]
    answers: dict[str, str] = json.loads(outcome.output.splitlines()[-1])
    if answers.pop("ring") == "granted":
        assert answers.pop("null") == "granted", "else a list of refusals would be worth nothing"
        refused = {"EACCES", "EPERM", "EROFS", "ENETUNREACH", "EHOSTUNREACH"}
        assert {name: told for name, told in answers.items() if told not in refused} == {}
