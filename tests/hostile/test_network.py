"""What a run must not reach or be granted: one list, each thing tried from inside by a guest.

Each attempt is a few lines of Python that raise OSError where they are refused; whatever they
print instead was won.
"""

# ruff: noqa: E501 - programs inside strings

import json
import platform
import secrets
import socket
from collections.abc import Iterator

import pytest

from tests.real_engine import LIMITS
from validators.engines import DockerEngine
from validators.engines.container import DockerContainer
from validators.model import Image

pytestmark = [
    pytest.mark.docker,
    pytest.mark.network,
    pytest.mark.hostile,
    pytest.mark.timeout(300),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="calls have their numbers"),
]

_TRIES = """
import ctypes, errno, fcntl, json, os, socket, struct, sys

libc = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    # An argument that the kernel would not take by itself is no answer: EINVAL counts as won.
    if libc.syscall(number, *arguments) < 0:
        code = ctypes.get_errno()
        if code in {errno.EPERM, errno.ENOSYS, errno.EACCES, errno.EROFS, errno.ENODEV}:
            raise OSError(code, os.strerror(code))
        return "errno %d" % code
    return "granted"


def told(request):
    channel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    channel.send(request)
    code = struct.unpack_from("=i", channel.recv(4096), 16)[0]
    if code < 0:
        raise OSError(-code, os.strerror(-code))
    return "done"


def sent(family, kind, protocol, address):
    with socket.socket(family, kind, protocol) as out:
        out.settimeout(2)
        out.sendto(b"hello there", address)
        return "sent"


def reached(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as out:
        out.settimeout(2)
        out.connect(address)
        return "reached"


def opened(path, flags=os.O_RDONLY):
    os.close(os.open(path, flags))
    return "opened"


def keys():
    # Podman lets rings be read: there must be nothing in them.
    buffer = ctypes.create_string_buffer(4096)
    found = [libc.syscall(250, 11, ring, buffer, 4096) for ring in (-3, -4)]
    if max(found) > 0:
        return str(found)
    raise OSError(errno.ENOKEY, "no key")


won = {}
for name, attempt in json.loads(sys.stdin.read()).items():
    try:
        won[name] = str(eval(attempt))
    except OSError:
        pass
print(json.dumps(won))
"""

NETWORK = {
    "a raw socket": "socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)",
    "a raw socket of IPv6": "socket.socket(socket.AF_INET6, socket.SOCK_RAW, 58)",
    "a packet socket": "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0x0300)",
    "a packet socket of datagrams": "socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0x0300)",
    "an echo request": "sent(socket.AF_INET, socket.SOCK_DGRAM, 1, ('1.1.1.1', 0))",
    "a datagram": "sent(socket.AF_INET, socket.SOCK_DGRAM, 0, ('1.1.1.1', 53))",
    "a datagram of IPv6": "sent(socket.AF_INET6, socket.SOCK_DGRAM, 0, ('2606:4700::1111', 53))",
    "a broadcast": "sent(socket.AF_INET, socket.SOCK_DGRAM, 0, ('255.255.255.255', 9))",
    "a multicast": "sent(socket.AF_INET, socket.SOCK_DGRAM, 0, ('224.0.0.1', 9))",
    "the metadata of a cloud": "reached(socket.AF_INET, ('169.254.169.254', 80))",
    "the engine's gateway": "reached(socket.AF_INET, ('172.17.0.1', 22))",
    "a name": "socket.getaddrinfo('pypi.org', 443)",
    "the hypervisor": "reached(40, (2, 1024))",
    "the hypervisor's own loop": "reached(40, (1, 1024))",
    "bluetooth": "socket.socket(31, socket.SOCK_RAW, 1)",
    "a CAN bus": "socket.socket(29, socket.SOCK_RAW, 1)",
    "TIPC": "socket.socket(30, socket.SOCK_SEQPACKET, 0)",
    "RDS": "socket.socket(21, socket.SOCK_SEQPACKET, 0)",
    "XDP": "socket.socket(44, socket.SOCK_RAW, 0)",
    "PF_KEY": "socket.socket(15, socket.SOCK_RAW, 2)",
    "an interface taken down": "fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sh22x', b'lo', 0))",
    "an address given": "fcntl.ioctl(socket.socket(), 0x8916,"
    " struct.pack('16shH4s16x', b'lo', 2, 0, bytes([10, 9, 8, 7])))",
    "a route": "fcntl.ioctl(socket.socket(), 0x890b, bytes(120))",
    "a tunnel": "opened('/dev/net/tun', os.O_RDWR)",
    "a bridge": "fcntl.ioctl(socket.socket(), 0x89a0, b'br0' + bytes(13))",
    "an interface made over netlink": "told(struct.pack('=IHHII BxHiII', 32, 16, 0x605, 1, 0, 0, 0, 0, 1, 1))",
    "forwarding": "opened('/proc/sys/net/ipv4/ip_forward', os.O_WRONLY)",
    "another network of pid 1": "libc.setns(os.open('/proc/1/ns/net', os.O_RDONLY), 0)",
}
KERNEL = {
    "a network of its own": "call(272, 0x40000000)",
    "a mount namespace": "call(272, 0x00020000)",
    "ptrace of pid 1": "call(101, 16, 1, 0, 0)",
    "memory of pid 1": "opened('/proc/1/mem')",
    "the environment of pid 1": "opened('/proc/1/environ')",
    "descriptors of pid 1": "os.listdir('/proc/1/fd')",
    "the kernel's memory": "opened('/proc/kcore')",
    "the kernel's log": "opened('/proc/kmsg')",
    "the kernel's log by its call": "call(103, 3, ctypes.create_string_buffer(99), 99)",
    "physical memory": "opened('/dev/mem')",
    "mount": "call(165, b'none', b'/tmp', b'tmpfs', 0, 0)",
    "umount": "call(166, b'/tmp', 2)",
    "mount by fsopen": "call(430, b'tmpfs', 0)",
    "mount by open_tree": "call(428, -100, b'/', 1)",
    "pivot_root": "call(155, b'/', b'/')",
    "chroot": "call(161, b'/tmp')",
    "bpf": "call(321, 0, ctypes.create_string_buffer(120), 120)",
    "perf_event_open": "call(298, ctypes.create_string_buffer(128), 0, -1, -1, 0)",
    "a key in the session's ring": "call(248, b'user', b'a', b'b', 1, -3)",
    "a key in the user's ring": "call(248, b'user', b'a', b'b', 1, -4)",
    "another's keys": "keys()",
    "a module of the kernel": "call(175, b'', 0, b'')",
    "another kernel": "call(246, 0, 0, 0, 0)",
    "reboot": "call(169, 0xfee1dead, 672274793, 0, 0)",
    "swap": "call(167, b'/tmp/x', 0)",
    "accounting": "call(163, b'/tmp/x')",
    "the clock": "call(227, 0, struct.pack('qq', 1, 0))",
    "the host name": "call(170, b'x', 1)",
    "ports of the machine": "call(172, 3)",
    "files by handle": "call(304, 3, ctypes.create_string_buffer(99), 0)",
    "user faults": "call(323, 0)",
    "other uids": "call(105, 0)",
    "a device": "call(133, b'/tmp/sda', 0o60600, 0x800)",
    "an owner": "call(92, b'/tmp', 0, 0)",
    "a capability": "call(126, struct.pack('Ii', 0x20080522, 0), struct.pack('6I', *[1] * 6))",
    "tracing": "opened('/sys/kernel/tracing/trace')",
    "debugging": "opened('/sys/kernel/debug/sched_debug')",
    "a cgroup": "os.mkdir('/sys/fs/cgroup/x')",
    "power": "opened('/sys/power/state', os.O_WRONLY)",
    "a priority": "os.setpriority(os.PRIO_PROCESS, 0, -5)",
    "the report, to read": "opened('/run/miner/report')",
    "the report, to read and write": "opened('/run/miner/report', os.O_RDWR)",
}


@pytest.fixture(scope="module")
def guest(engine: DockerEngine, base: Image) -> Iterator[DockerContainer]:
    """One run container for all attempts: none of them is to change anything."""
    with engine.run(base, LIMITS) as container:
        yield container


def won(container: DockerContainer, attempts: dict[str, str]) -> dict[str, str]:
    """What was not refused."""
    outcome = container.exec(
        ("python", "-c", _TRIES), timeout_s=200, stdin=json.dumps(attempts).encode()
    )
    assert outcome.ok, outcome.output.decode(errors="replace")[-1000:]
    found: dict[str, str] = json.loads(outcome.output.splitlines()[-1])
    return found


def test_attempts_that_are_allowed_are_told(guest: DockerContainer) -> None:
    """Else a list of refusals would be worth nothing."""
    allowed = {"a socket": "socket.socket()", "a pid": "call(39)", "null": "opened('/dev/null')"}
    assert won(guest, {**allowed, "nothing": "opened('/nothing')"}).keys() == allowed.keys()


def test_no_way_leads_out(guest: DockerContainer) -> None:
    assert won(guest, NETWORK) == {}


def test_the_kernel_grants_nothing(guest: DockerContainer) -> None:
    assert won(guest, KERNEL) == {}


def test_only_the_loop_is_up(guest: DockerContainer) -> None:
    look = (
        "[name for _, name in socket.if_nameindex() if struct.unpack_from('16xh', "
        "fcntl.ioctl(socket.socket(), 0x8913, struct.pack('16sh22x', name.encode(), 0)))[0] & 1]"
    )
    assert won(guest, {"up": look}) == {"up": "['lo']"}


def test_the_hosts_loop_and_abstract_sockets_are_not_the_guests(guest: DockerContainer) -> None:
    name = f"miner-{secrets.token_hex(8)}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(f"\0{name}")
        unix.listen()
        attempts = {
            "the host's loop": f"reached(socket.AF_INET, {server.getsockname()!r})",
            "the host's abstract socket": f"reached(socket.AF_UNIX, chr(0) + {name!r})",
            "its name": f"{name!r} in open('/proc/net/unix').read()",
        }
        found = won(guest, attempts)
    assert found == {"its name": "False"}


def test_no_socket_is_handed_in(guest: DockerContainer) -> None:
    links = "[x for x in map(os.readlink, ('/proc/self/fd/%d' % n for n in range(3)))]"
    (found,) = won(guest, {"links": links}).values()
    assert "socket:" not in found


def test_a_namespace_of_users_wins_nothing(guest: DockerContainer) -> None:
    """Podman's own seccomp profile lets one be made; there is no way out of it either."""
    inside = f"call(272, 0x10000000) and False or {NETWORK['a datagram']}"
    assert won(guest, {"out of a user namespace": inside}) == {}
