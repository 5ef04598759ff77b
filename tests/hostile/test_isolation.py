"""Projects that try to break their container: each is held, and the machinery never raises.

Every test leaves a container behind that a next command or a report can still be asked of, or says
that it is spent; then a fresh container of the same engine must work.
"""

import socket
from collections.abc import Iterator

import pytest

from tests.real_engine import LIMITS, tar
from validators.engine import REPORT_PIPE, TREE
from validators.engines import DockerEngine
from validators.engines.container import DockerContainer
from validators.model import Image, Limits, Outcome

pytestmark = [
    pytest.mark.docker,
    pytest.mark.network,
    pytest.mark.hostile,
    pytest.mark.timeout(300),
]


@pytest.fixture
def guest(engine: DockerEngine, base: Image) -> Iterator[DockerContainer]:
    """A fresh run container; afterwards the engine must still start another."""
    with engine.run(base, LIMITS) as container:
        yield container
    with engine.run(base, LIMITS) as container:
        assert container.exec(("true",), timeout_s=20).ok


def python(container: DockerContainer, script: str, *, timeout_s: float = 30) -> Outcome:
    """What becomes of a script."""
    return container.exec(("python", "-c", script), timeout_s=timeout_s)


def test_a_fork_bomb_is_ended_at_its_deadline(guest: DockerContainer) -> None:
    bomb = f"echo before >{REPORT_PIPE}; bomb() {{ bomb | bomb & }}; bomb; sleep 60"
    outcome = guest.exec(("bash", "-c", bomb), timeout_s=3)
    assert not outcome.ok
    assert outcome.duration_s < 30
    assert guest.report() == b"before\n"


def test_a_fork_bomb_that_waits_for_no_one_does_not_stop_the_next_command(
    guest: DockerContainer,
) -> None:
    script = (
        "import os, signal\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "if os.fork(): os._exit(0)\n"
        "os.setsid()\n"
        "for fd in range(3): os.close(fd)\n"
        "while True:\n"
        "    try: os.fork()\n"
        "    except OSError: pass\n"
    )
    python(guest, script, timeout_s=10)
    # The limit may leave no room for a command of ours: that too is an outcome.
    guest.exec(("true",), timeout_s=10)
    guest.kill_guest()
    assert guest.exec(("true",), timeout_s=10).exit_code in {0, 137}


def test_a_memory_filler_is_killed_and_told(guest: DockerContainer) -> None:
    outcome = python(guest, "x = []\nwhile True: x.append(bytearray(1 << 24))")
    assert outcome.out_of_memory
    assert not outcome.ok


def test_shared_memory_is_bounded(guest: DockerContainer) -> None:
    outcome = guest.exec(("sh", "-c", "cat /dev/zero >/dev/shm/x; df -m /dev/shm"), timeout_s=60)
    assert b"No space left" in outcome.output


@pytest.mark.parametrize("place", [TREE, "/tmp", "/home/guest"])
def test_a_disk_filler_is_told_that_there_is_no_space(guest: DockerContainer, place: str) -> None:
    script = f"for i in 1 2 3 4 5 6 7 8; do cat /dev/zero >{place}/$i || true; done"
    outcome = guest.exec(("sh", "-c", script), timeout_s=60)
    assert not outcome.out_of_memory
    assert b"No space left" in outcome.output or b"File too large" in outcome.output
    assert guest.exec(("sh", "-c", f"rm {place}/*; echo free >{place}/x"), timeout_s=30).ok


def test_files_that_find_no_room_are_an_outcome(guest: DockerContainer) -> None:
    fill = f"for i in 1 2 3 4 5 6 7 8; do cat /dev/zero >{TREE}/$i || true; done"
    guest.exec(("sh", "-c", fill), timeout_s=60)
    full = guest.put(TREE, tar({"a/file": bytes(1 << 20)}))
    assert not full.ok
    assert b"No space left" in full.output
    guest.exec(("sh", "-c", f"rm -r {TREE}/*; echo file >{TREE}/a"), timeout_s=30)
    assert not guest.put(TREE, tar({"a/file": b"in the way"})).ok
    assert guest.put("/run/miner/kit", tar({"ours": b"root's own"}), root=True).ok


def test_an_install_that_fills_the_disk_is_killed(engine: DockerEngine, base: Image) -> None:
    limits = Limits(memory_mb=512, disk_mb=64, network=True)
    fill = "i=0; while :; do i=$((i+1)); head -c 20000000 /dev/zero >{}/fill-$i; done"
    for place in ("/opt/venv", "$UV_CACHE_DIR"):
        with engine.install(base, limits) as container:
            # The cache is judged by what is gone since the watcher's first look.
            container.exec(("sleep", "2.5"), timeout_s=20)
            outcome = container.exec(("sh", "-c", fill.format(place)), timeout_s=60)
            container.exec(("sh", "-c", "rm -f $UV_CACHE_DIR/fill-*"), timeout_s=20)
        assert not outcome.ok
        assert not outcome.timed_out
        assert b"more than 64 MB on disk: killed" in outcome.output


def test_a_gigabyte_of_output_is_cut(guest: DockerContainer) -> None:
    outcome = guest.exec(("sh", "-c", "head -c 1000000000 /dev/zero; echo end"), timeout_s=120)
    assert outcome.ok
    assert outcome.truncated
    assert outcome.output.endswith(b"end\n")
    assert len(outcome.output) < (LIMITS.output_mb << 20) + 200


def test_control_bytes_pass_through_unchanged(guest: DockerContainer) -> None:
    nasty = bytes(range(256)) + b"\x1b]0;title\x07\x1b[2J\x00\x00"
    outcome = guest.exec(("cat",), timeout_s=20, stdin=nasty)
    assert outcome.output == nasty


def test_output_that_looks_like_the_engines_frames_is_only_output(guest: DockerContainer) -> None:
    forged = bytes([1, 0, 0, 0, 0, 0, 0, 4]) + b"fake" + bytes([2, 0, 0, 0, 255, 255, 255, 255])
    assert guest.exec(("cat",), timeout_s=20, stdin=forged).output == forged


def test_a_daemon_does_not_outlive_its_container(
    guest: DockerContainer, engine: DockerEngine, base: Image
) -> None:
    script = "setsid nohup sh -c 'for i in $(seq 9999); do sleep 1; done' >/dev/null 2>&1 &"
    assert guest.exec(("bash", "-c", script), timeout_s=20).ok
    guest.kill_guest()
    left = guest.exec(("sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"), timeout_s=20)
    assert b"seq 9999" not in left.output
    with engine.run(base, LIMITS) as other:
        seen = other.exec(("sh", "-c", "ls -d /proc/[0-9]* | wc -l"), timeout_s=20)
        assert int(seen.output) < 10


def test_a_symlink_in_place_of_the_report_cannot_be_made(guest: DockerContainer) -> None:
    race = (
        f"for i in $(seq 300); do ln -sf /etc/passwd {REPORT_PIPE}; mv -f /tmp/x {REPORT_PIPE}; "
        f"rm -f {REPORT_PIPE}; rmdir /run/miner; mv /run/miner /run/gone; done 2>/dev/null; "
        f"echo mine >{REPORT_PIPE}"
    )
    assert guest.exec(("bash", "-c", race), timeout_s=60).ok
    assert guest.report() == b"mine\n"


def test_a_symlink_in_the_tree_leads_nowhere_on_the_host(guest: DockerContainer) -> None:
    guest.exec(("ln", "-s", "/etc/shadow", f"{TREE}/shadow"), timeout_s=20)
    got = guest.get(f"{TREE}/shadow")
    assert got is None or b"root:" not in got  # the link itself, never what it names
    guest.exec(("ln", "-sfn", "/usr/local", f"{TREE}/out"), timeout_s=20)
    assert not guest.put(f"{TREE}/out/lib", tar({"planted.py": b""})).ok
    assert not guest.exec(("test", "-e", "/usr/local/lib/planted.py"), timeout_s=20).ok


def test_a_report_flood_is_bounded_and_others_are_not_disturbed(guest: DockerContainer) -> None:
    script = f"head -c 400000000 /dev/zero >{REPORT_PIPE}"
    guest.exec(("sh", "-c", script), timeout_s=120)
    assert len(guest.report()) <= 256 << 20


def test_what_floods_the_report_without_end_does_not_hold_it_up(guest: DockerContainer) -> None:
    flood = f"while :; do head -c 65536 /dev/zero; done >{REPORT_PIPE} 2>/dev/null"
    script = f"echo first >{REPORT_PIPE}; setsid sh -c '{flood}' </dev/null >/dev/null 2>&1 &"
    assert guest.exec(("sh", "-c", script), timeout_s=20).ok
    assert guest.report().startswith(b"first\n")


def test_a_forged_mark_does_not_confuse_the_report(guest: DockerContainer) -> None:
    script = (
        "import os\n"
        f"pipe = os.open({REPORT_PIPE!r}, os.O_WRONLY)\n"
        "for _ in range(2000): os.write(pipe, os.urandom(16).hex().encode() + b'\\n')\n"
    )
    assert python(guest, script).ok
    assert guest.report().count(b"\n") == 2000


@pytest.mark.parametrize(
    "path",
    [
        "/proc/sysrq-trigger",
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/hostname",
        "/proc/1/oom_score_adj",
        "/proc/1/mem",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory.max",
        "/dev/mem",
        "/dev/kmsg",
    ],
)
def test_the_kernels_files_cannot_be_written(guest: DockerContainer, path: str) -> None:
    # Root may write what is only the container's own: its main process, its /dev (a tmpfs).
    own = path.startswith(("/proc/1/", "/dev/"))
    for root in (False,) if own else (False, True):
        outcome = guest.exec(("sh", "-c", f"echo 1 >{path}"), timeout_s=20, root=root)
        assert not outcome.ok, path


def test_nothing_outside_can_be_reached(guest: DockerContainer) -> None:
    with socket.create_server(("0.0.0.0", 0)) as server:  # noqa: S104 - the host, to be knocked at
        port = server.getsockname()[1]
        script = (
            "import socket, sys\n"
            f"for host in ('172.17.0.1', '10.0.0.1', '1.1.1.1', '8.8.8.8', 'pypi.org'):\n"
            f"    for port in ({port}, 53, 80):\n"
            "        try: socket.create_connection((host, port), 2)\n"
            "        except OSError: continue\n"
            "        sys.exit(1)\n"
        )
        assert python(guest, script).exit_code == 0
        server.settimeout(0.1)
        with pytest.raises(TimeoutError):
            server.accept()


def test_no_socket_and_no_disk_of_the_host_is_inside(guest: DockerContainer) -> None:
    look = "find / -xdev -type s 2>/dev/null; find /dev -type b; cut -d' ' -f2,3 /proc/mounts"
    said = guest.exec(("bash", "-c", look), timeout_s=60).output.decode()
    assert ".sock" not in said
    assert "/dev/vd" not in said
    assert "/dev/sd" not in said
    assert "docker" not in said.replace("/etc/resolv.conf", "")


def test_pid_one_survives_every_signal(guest: DockerContainer) -> None:
    script = "for s in $(seq 1 64); do kill -$s 1 2>/dev/null; kill -$s -1 2>/dev/null; done; true"
    guest.exec(("bash", "-c", f"trap '' $(seq 1 64) 2>/dev/null; {script}"), timeout_s=30)
    assert guest.exec(("sh", "-c", f"echo alive >{REPORT_PIPE}"), timeout_s=20).ok
    assert guest.report() == b"alive\n"


def test_a_deleted_work_tree_is_only_this_runs(
    guest: DockerContainer, engine: DockerEngine, base: Image
) -> None:
    guest.put(TREE, tar({"file": b"x"}))
    outcome = guest.exec(("sh", "-c", f"rm -rf {TREE} / 2>/dev/null"), timeout_s=60)
    assert not outcome.ok
    assert guest.exec(("true",), timeout_s=20).ok
    with engine.run(base, LIMITS) as other:
        assert other.exec(("test", "-w", TREE), timeout_s=20).ok


def test_other_users_files_and_processes_are_closed(guest: DockerContainer) -> None:
    for attempt in (
        "cat /etc/shadow",
        "ls /root",
        "cat /run/miner/.copier",
        "cat /proc/1/environ",
        "ls -l /proc/1/fd",
        "cat /proc/1/mem",
    ):
        assert not guest.exec(("sh", "-c", attempt), timeout_s=20).ok, attempt


def test_privileges_cannot_be_won(guest: DockerContainer, engine: DockerEngine) -> None:
    # Podman's own seccomp profile lets a user namespace be made, in which nothing is won.
    won = "unshare --user --map-root-user "
    won += "cat /etc/shadow" if engine.name == "podman" else "id"
    for attempt in (
        "su -c id </dev/null",
        "mount -t tmpfs none /tmp",
        won,
        "chroot / id",
        "mknod /tmp/sda b 8 0",
        "setpriv --reuid=0 id",
        "cp /bin/bash /tmp/b && chown root /tmp/b",
    ):
        assert not guest.exec(("sh", "-c", attempt), timeout_s=20).ok, attempt


def test_a_command_that_ignores_everything_is_ended(guest: DockerContainer) -> None:
    script = (
        "import os, signal, time\n"
        "for s in range(1, 65):\n"
        "    try: signal.signal(s, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\n"
        "if os.fork() == 0: os.setsid()\n"
        "while True: time.sleep(1)\n"
    )
    outcome = python(guest, script, timeout_s=2)
    assert outcome.timed_out
    assert outcome.duration_s < 15
    left = guest.exec(("sh", "-c", "cat /proc/[0-9]*/comm"), timeout_s=20)
    assert b"python" not in left.output


def test_a_thousand_open_files_are_fine_and_a_million_are_not(guest: DockerContainer) -> None:
    script = "files = []\nfor _ in range({}): files.append(open('/dev/null'))"
    assert python(guest, script.format(4000)).ok
    assert not python(guest, script.format(1_000_000)).ok


def test_a_large_file_meets_its_limit(guest: DockerContainer) -> None:
    outcome = guest.exec(("sh", "-c", "truncate -s 100G /tmp/sparse"), timeout_s=20)
    assert not outcome.ok


def test_a_core_is_not_dumped(guest: DockerContainer) -> None:
    script = f"cd {TREE}; ulimit -c unlimited; sh -c 'kill -SEGV $$'; ls -A {TREE}"
    assert (
        b"core" not in guest.exec(("bash", "-c", script), timeout_s=20).output.split(b"\n")[-2:][0]
    )
