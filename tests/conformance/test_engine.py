"""What every container engine must do: the Protocols of validators/engine.py, tried."""

import hashlib
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.real_engine import LIMITS, called, containers, end, tar, untar
from tests.serving import serving
from validators.engine import GUEST_UID, KIT, REPORT_PIPE, TREE, Container, NotPulled
from validators.engines import DockerEngine, connect
from validators.engines.removal import AT_ONCE
from validators.errors import EngineUnavailableError
from validators.model import Image, Limits

WORDS = 'two "lines"\nof $words \\ é'

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def container(engine: DockerEngine, base: Image) -> Iterator[Container]:
    """One run container for the tests that leave it as it was."""
    with engine.run(base, LIMITS, labels={"miner.test": "conformance"}) as started:
        yield started


def sh(container: Container, script: str, *, timeout_s: float = 20, root: bool = False) -> str:
    """The output of a script that must succeed."""
    outcome = container.exec(("/bin/bash", "-c", script), timeout_s=timeout_s, root=root)
    assert outcome.ok, outcome
    return outcome.output.decode().strip()


def test_a_command_says_its_exit_code_and_both_outputs(container: Container) -> None:
    outcome = container.exec(("sh", "-c", "echo out; echo err >&2; exit 3"), timeout_s=20)
    assert (outcome.exit_code, outcome.ok, outcome.timed_out) == (3, False, False)
    assert sorted(outcome.output.split()) == [b"err", b"out"]
    assert 0 < outcome.duration_s < 20


def test_a_command_reads_its_stdin_to_the_end(container: Container) -> None:
    sent = bytes(range(256)) * 20_000
    outcome = container.exec(("sha256sum",), timeout_s=20, stdin=sent)
    assert len(sent) > 5_000_000
    assert outcome.output.split()[0] == _sha256(sent)


def test_empty_stdin_is_an_end_of_file(container: Container) -> None:
    assert container.exec(("cat",), timeout_s=20, stdin=b"").ok


def test_a_missing_program_is_an_outcome(container: Container) -> None:
    outcome = container.exec(("no-such-program",), timeout_s=20)
    assert outcome.exit_code in {126, 127}
    assert b"no-such-program" in outcome.output


def test_guest_and_root_are_who_they_should_be(container: Container) -> None:
    assert sh(container, "id -u; echo $HOME").split() == [str(GUEST_UID), "/home/guest"]
    assert sh(container, "id -u; echo $HOME", root=True).split() == ["0", "/root"]


def test_environment_and_folder_are_the_callers(container: Container) -> None:
    outcome = container.exec(
        ("sh", "-c", "pwd; echo $COLOUR"), timeout_s=20, env={"COLOUR": "é$x"}, workdir="/tmp"
    )
    assert outcome.output.decode().split() == ["/tmp", "é$x"]


def test_no_secret_of_this_process_is_in_the_environment(
    container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_secret")
    for root in (False, True):
        assert "ghp_secret" not in sh(container, "env", root=root)


def test_a_deadline_kills_every_process_of_the_guest(container: Container) -> None:
    outcome = container.exec(("sh", "-c", "setsid sleep 300 & echo on; sleep 300"), timeout_s=1)
    assert outcome.timed_out
    assert not outcome.ok
    assert outcome.output == b"on\n"
    assert outcome.duration_s < 10
    assert "sleep" not in sh(container, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")


def test_a_deadline_ends_roots_command_too_and_the_report_still_works(container: Container) -> None:
    assert container.exec(("sleep", "300"), timeout_s=1, root=True).timed_out
    sh(container, f"echo after-root >{REPORT_PIPE}")
    assert b"after-root\n" in container.report()


def test_output_beyond_the_limit_loses_its_middle(container: Container) -> None:
    script = "echo first; head -c 30000000 /dev/zero | tr '\\0' x; echo; echo last"
    outcome = container.exec(("sh", "-c", script), timeout_s=60)
    assert outcome.ok
    assert outcome.truncated
    assert outcome.output.startswith(b"first\n")
    assert outcome.output.endswith(b"last\n")
    assert len(outcome.output) < (LIMITS.output_mb << 20) + 200


def test_a_command_ends_although_a_daemon_holds_its_output(container: Container) -> None:
    outcome = container.exec(("sh", "-c", "sleep 300 & echo started"), timeout_s=60)
    assert (outcome.ok, outcome.output) == (True, b"started\n")
    assert outcome.duration_s < 10


def test_files_go_in_as_guest_and_come_out(container: Container) -> None:
    container.put(f"{TREE}/new/folder", tar({"a b": b"\x00\xff", "c/d": b"deep"}))
    assert sh(container, f"stat -c %u:%g '{TREE}/new/folder/a b'") == "1000:1000"
    folder = container.get(f"{TREE}/new/folder")
    assert folder is not None
    assert untar(folder) == {"folder/a b": b"\x00\xff", "folder/c/d": b"deep"}
    one = container.get(f"{TREE}/new/folder/c/d")
    assert one is not None
    assert untar(one) == {"d": b"deep"}


def test_roots_files_are_read_only_to_the_guest(container: Container) -> None:
    container.put("/run/miner/tools", tar({"tool.py": b"print('hi')"}), root=True)
    assert sh(container, "python /run/miner/tools/tool.py") == "hi"
    for attempt in ("echo x >/run/miner/tools/tool.py", "rm -f /run/miner/tools/tool.py"):
        assert not container.exec(("sh", "-c", attempt), timeout_s=20).ok


def test_the_kit_lies_there_from_the_start_and_only_root_may_change_it(
    engine: DockerEngine, base: Image
) -> None:
    kit = tar({"say.sh": b"echo said", "large": bytes(5 << 20)})
    with engine.run(base, LIMITS, kit=kit) as container:
        assert sh(container, f"bash {KIT}/say.sh; stat -c %s {KIT}/large").split() == [
            "said",
            str(5 << 20),
        ]
        for attempt in (f"echo x >{KIT}/say.sh", f"rm -f {KIT}/say.sh", f"mv {KIT} /tmp/kit"):
            assert not container.exec(("sh", "-c", attempt), timeout_s=20).ok
        assert container.report() == b""


TALK = (
    "bash",
    "-c",
    'head --bytes=3; echo one; printf "<mark>"; read -r line; echo "$line"; cat; exit 5',
)


def test_a_command_goes_on_in_parts(container: Container) -> None:
    talk = container.begin(TALK, workdir="/tmp", env={"COLOUR": "red"})
    first = talk.until(b"<mark>", stdin=b"abc", timeout_s=20)
    assert (first.output, first.ok) == (b"abcone\n", True)
    assert sh(container, "echo meanwhile") == "meanwhile"
    last = talk.end(stdin=b"two\nand the rest", timeout_s=20)
    assert (last.output, last.exit_code) == (b"two\nand the rest", 5)


def test_a_part_that_ends_early_says_how_and_stays_ended(container: Container) -> None:
    talk = container.begin(("bash", "-c", "echo no; exit 40"), workdir="/tmp")
    for _ in range(2):
        outcome = talk.until(b"<mark>", stdin=b"", timeout_s=20)
        assert (outcome.output, outcome.exit_code) == (b"no\n", 40)
    assert talk.end(stdin=b"", timeout_s=20).exit_code == 40


def test_each_part_has_its_own_deadline(container: Container) -> None:
    talk = container.begin(TALK, workdir="/tmp")
    assert talk.until(b"<mark>", stdin=b"abc", timeout_s=20).ok
    waiting = container.begin(TALK, workdir="/tmp")
    late = waiting.until(b"<mark>", stdin=b"a", timeout_s=1)
    assert (late.timed_out, late.ok) == (True, False)
    ended = talk.end(stdin=b"two\n", timeout_s=20)  # every process of the guest was killed
    assert not ended.ok


def test_a_talk_that_nobody_ends_goes_with_its_container(engine: DockerEngine, base: Image) -> None:
    with engine.run(base, LIMITS) as container:
        assert container.begin(TALK, workdir="/tmp").until(b"<mark>", stdin=b"abc", timeout_s=20).ok


def test_only_files_of_a_pattern_are_got(container: Container) -> None:
    container.put(f"{TREE}/some", tar({"a/__pycache__/m.pyc": b"m", "a/m.py": b"source"}))
    packed = container.get(f"{TREE}/some", only="*/__pycache__/*.pyc")
    assert packed is not None
    assert untar(packed) == {"./some/a/__pycache__/m.pyc": b"m"}


def test_what_is_missing_or_too_large_is_not_got(container: Container) -> None:
    assert container.get("/nowhere/at/all") is None
    sh(container, "head -c 3000000 /dev/zero >/tmp/large")
    assert container.get("/tmp/large", limit_mb=1) is None
    assert container.get("/tmp/large", limit_mb=4) is not None


def test_the_report_is_complete_and_in_order(engine: DockerEngine, base: Image) -> None:
    with engine.run(base, LIMITS) as container:
        assert container.report() == b""
        sh(container, f"for i in $(seq 5000); do echo line $i; done >{REPORT_PIPE}")
        first = container.report()
        assert first.decode().split("\n")[:-1] == [f"line {i}" for i in range(1, 5001)]
        sh(container, f"head -c 2000000 /dev/zero >{REPORT_PIPE}")
        assert container.report() == first + bytes(2_000_000)


def test_the_report_outlives_a_deadline(engine: DockerEngine, base: Image) -> None:
    with engine.run(base, LIMITS) as container:
        script = f"echo kept >{REPORT_PIPE}; sleep 300"
        assert container.exec(("sh", "-c", script), timeout_s=1).timed_out
        assert container.report() == b"kept\n"


def test_the_guest_cannot_read_replace_or_silence_the_report(container: Container) -> None:
    attempts = (
        f"cat {REPORT_PIPE}",
        f"rm -f {REPORT_PIPE}",
        f"mv {REPORT_PIPE} /run/miner/other",
        "touch /run/miner/mine",
        "cat /run/miner/.copier",
        "kill -9 1",
        "kill -9 $(cat /run/miner/.copier)",
        "echo forged >/proc/1/fd/1",
        "cat /proc/1/environ",
    )
    for attempt in attempts:
        assert not container.exec(("sh", "-c", attempt), timeout_s=20).ok, attempt
    container.exec(("bash", "-c", "kill -9 -1"), timeout_s=20)
    sh(container, f"echo still-here >{REPORT_PIPE}")
    assert b"still-here\n" in container.report()


def test_memory_is_limited_and_told(engine: DockerEngine, base: Image) -> None:
    with engine.run(base, LIMITS) as container:
        outcome = container.exec(("python", "-c", "x = bytearray(1 << 30)"), timeout_s=60)
        assert outcome.out_of_memory
        assert outcome.exit_code == 137
        assert not container.exec(("true",), timeout_s=20).out_of_memory


def test_memory_is_told_when_only_a_child_was_killed(engine: DockerEngine, base: Image) -> None:
    with engine.run(base, LIMITS) as container:
        script = "python -c 'x = bytearray(1 << 30)'; exit 0"
        outcome = container.exec(("sh", "-c", script), timeout_s=60)
        assert (outcome.exit_code, outcome.out_of_memory) == (0, True)


def test_a_look_at_the_disk_takes_no_news_of_memory_from_the_command_that_runs(
    engine: DockerEngine, base: Image
) -> None:
    script = "python -c 'x = bytearray(1 << 30)'; echo '<killed>'; cat"
    with engine.install(base, LIMITS) as container:
        talk = container.begin(("sh", "-c", script), workdir="/")
        talk.until(b"<killed>", stdin=b"", timeout_s=60)
        looked = container.look(("true",), timeout_s=20)
        assert (looked.ok, looked.out_of_memory) == (True, False)
        assert talk.end(stdin=b"", timeout_s=20).out_of_memory


def test_who_ends_a_container_from_outside_is_the_machines_trouble(
    engine: DockerEngine, base: Image, engine_address: str | None
) -> None:
    with engine.run(base, LIMITS) as container:
        talk = container.begin(("sh", "-c", "echo '<on>'; cat"), workdir="/")
        talk.until(b"<on>", stdin=b"", timeout_s=60)
        end(engine_address, container.id)
        with pytest.raises(EngineUnavailableError, match="from outside"):
            talk.end(stdin=b"", timeout_s=20)
        with pytest.raises(EngineUnavailableError, match="from outside"):
            container.report()
        with pytest.raises(EngineUnavailableError, match="from outside"):
            container.exec(("true",), timeout_s=20)


def test_a_running_container_that_does_not_answer_is_the_machines_trouble(
    engine: DockerEngine, base: Image, engine_address: str | None
) -> None:
    with engine.run(base, LIMITS) as container:
        sh(container, f"echo here >{REPORT_PIPE}")
        end(engine_address, container.id, signal="SIGSTOP")
        container.drain_s = 1
        with pytest.raises(EngineUnavailableError, match="did not hand over its report"):
            container.report()


def test_a_run_has_loopback_its_own_name_and_nothing_else(container: Container) -> None:
    script = """
import socket
assert socket.gethostbyname(socket.gethostname()) == "127.0.0.1"
assert {each[4][0] for each in socket.getaddrinfo("localhost", 80)} == {"127.0.0.1", "::1"}
for wanted, call in (
    (socket.gaierror, lambda: socket.getaddrinfo("example.org", 80)),
    (OSError, lambda: socket.create_connection(("192.0.2.1", 80), 5)),
):
    try:
        call()
    except wanted:
        continue
    raise AssertionError(wanted)
for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    with socket.socket(family) as server:
        server.bind((address, 0)); server.listen()
        socket.create_connection(server.getsockname()[:2], 5).close()
print(*sorted(name for _, name in socket.if_nameindex()))
"""
    assert container.exec(("python", "-c", script), timeout_s=20).output == b"lo\n"


def test_the_root_is_read_only_and_the_work_places_are_not(
    container: Container, engine: DockerEngine
) -> None:
    read_only = ["/", "/etc", "/usr/local", "/opt/venv", "/root"]
    if engine.name != "podman":  # which puts a tmpfs there
        read_only.append("/var/tmp")
    for path in read_only:
        for root in (False, True):
            attempt = ("sh", "-c", f"touch {path}/x")
            assert not container.exec(attempt, timeout_s=20, root=root).ok, path
    for path in (TREE, "/tmp", "/home/guest"):
        sh(container, f"cp /bin/true {path}/program && {path}/program && rm {path}/program")


def test_privileges_are_gone(container: Container) -> None:
    status = dict(
        line.split(":\t", 1) for line in sh(container, "cat /proc/self/status").splitlines()
    )
    assert {status[f"Cap{kind}"] for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {"0" * 16}
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"
    root = sh(container, "grep CapEff /proc/self/status", root=True)
    assert root.endswith("0" * 16)


def test_zombies_are_reaped(container: Container) -> None:
    sh(container, "for i in 1 2 3; do (setsid sh -c 'sleep 0.05' &) ; done; sleep 0.3")
    deadline = time.monotonic() + 60
    while "Z" in sh(container, "cut -d')' -f2 /proc/[0-9]*/stat 2>/dev/null | cut -c2"):
        assert time.monotonic() < deadline


def test_the_number_of_processes_is_limited(container: Container) -> None:
    script = (
        "import os, sys\ntry:\n for i in range(500): os.fork() or __import__('time').sleep(60)\n"
    )
    script += "except OSError: print('limit')\n"
    outcome = container.exec(("python", "-c", script), timeout_s=20)
    assert outcome.output.startswith(b"limit")
    container.exec(("sh", "-c", "kill -9 -1"), timeout_s=20)
    # the killed ones count until the kernel has reaped them
    assert any(container.exec(("true",), timeout_s=20).ok for _ in range(50))


def test_several_commands_at_once_do_not_mix(engine: DockerEngine, base: Image) -> None:
    seen: dict[int, str] = {}

    def work(number: int) -> None:
        with engine.run(base, LIMITS) as container:
            sh(container, f"for i in $(seq 200); do echo {number}; done >{REPORT_PIPE}")
            seen[number] = container.report().decode()

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert seen == {number: f"{number}\n" * 200 for number in range(4)}


def test_an_install_has_a_network_a_writable_disk_and_uvs_cache(
    engine: DockerEngine, base: Image
) -> None:
    with engine.install(base, Limits(network=True)) as container:
        assert "eth0" in sh(container, "ls /sys/class/net")
        sh(container, "touch /opt/venv/x $UV_CACHE_DIR/probe && rm $UV_CACHE_DIR/probe")
        status = sh(container, "grep CapEff /proc/self/status")
        assert status.endswith("0" * 16)
        sh(container, "chown 1234 /opt && touch /opt/owned", root=True)


def test_an_installs_kit_is_there_first_and_roots_own(engine: DockerEngine, base: Image) -> None:
    with engine.install(base, LIMITS, kit=tar({"mine": b"words"})) as container:
        tried = sh(container, f"cat {KIT}/mine; touch {KIT}/mine 2>/dev/null || echo closed")
    assert tried == "wordsclosed"


def test_memory_is_told_to_each_of_two_commands_that_run(engine: DockerEngine, base: Image) -> None:
    until = "until [ -e /tmp/{} ]; do sleep 0.1; done"
    beside = f"touch /tmp/begun; {until.format('over')}"
    greedy = f"{until.format('begun')}; python -c 'x = bytearray(1 << 30)'; touch /tmp/over"
    with engine.install(base, LIMITS) as container, ThreadPoolExecutor(1) as pool:
        looking_on = pool.submit(container.exec, ("sh", "-c", beside), timeout_s=60)
        assert container.exec(("sh", "-c", greedy), timeout_s=60).out_of_memory
        assert looking_on.result().out_of_memory


def test_a_cache_outlives_its_container_and_is_nobody_elses(
    engine: DockerEngine, base: Image
) -> None:
    mine, other = (f"test-{uuid.uuid4().hex}" for _ in range(2))
    look = "ls $UV_CACHE_DIR"
    try:
        with engine.install(base, Limits(), cache=mine) as container:
            sh(container, "echo poisoned >$UV_CACHE_DIR/wheel")
            (used,) = [each for each in engine.caches() if each.volume.endswith(mine)]
            assert not engine.remove_cache(used)
        with engine.install(base, Limits(), cache=mine) as container:
            assert sh(container, look) == "wheel"
        with engine.install(base, Limits(), cache=other) as container:
            assert sh(container, look) == ""
        with engine.install(base, Limits()) as container:
            assert sh(container, look) == ""
    finally:
        ours = [each for each in engine.caches() if each.volume.endswith((mine, other))]
        assert len(ours) == 2
        assert all(engine.remove_cache(each) for each in ours)
    assert all(engine.remove_cache(each) for each in ours)


def test_a_cache_is_never_empty_or_the_engine_would_take_it_from_who_runs(
    engine: DockerEngine, base: Image
) -> None:
    with engine.install(base, LIMITS) as container:
        assert sh(container, "ls -A $UV_CACHE_DIR")


def test_a_commit_keeps_the_disk_but_not_the_work_places(
    engine: DockerEngine, base: Image, engine_address: str | None
) -> None:
    tag = "miner-test:commit"
    with engine.install(base, Limits(network=True)) as container:
        sh(container, f"echo kept >/opt/venv/kept; touch {TREE}/gone /tmp/gone $UV_CACHE_DIR/gone")
        made = container.commit(tag, labels={"miner.test": "commit", "miner.words": WORDS})
    cached = "find /var/cache/uv -type f"
    try:
        assert engine.find(tag) == made
        found = {each.image.tag: each for each in engine.images(label="miner.test")}
        assert found[tag].labels["miner.words"] == WORDS
        assert not found[tag].labels["miner.owner"]
        below = {each.image: each for each in engine.images(label="miner.base")}[base]
        assert found[tag].parent == base.digest
        assert 0 <= found[tag].size_bytes - below.size_bytes < 10_000_000
        assert called(engine_address, tag) == ([], ["/bin/bash"])
        with engine.run(made, LIMITS) as container:
            assert sh(container, f"cat /opt/venv/kept; ls {TREE} /tmp; {cached}").split() == [
                "kept",
                "/testbed:",
                "/tmp:",
            ]
            assert not engine.remove_image(made)
    finally:
        assert engine.remove_image(made)
    assert engine.find(tag) is None
    assert engine.remove_image(made)


def test_an_imported_root_has_the_tag_that_was_given_and_no_other(
    engine: DockerEngine, tmp_path: Path
) -> None:
    root = tmp_path / "root.tar"
    root.write_bytes(tar({"file": b"x"}))
    made = engine.import_root(root, tag="miner-test-import:own", labels={"miner.test": "import"})
    try:
        assert engine.find("miner-test-import:latest") is None
        listed = [each.image for each in engine.images(label="miner.test")]
        assert [each for each in listed if each.digest == made.digest] == [made]
    finally:
        assert engine.remove_image(made)
    assert engine.find("miner-test-import:own") is None


def test_an_image_that_vanished_is_the_machines_trouble(engine: DockerEngine) -> None:
    gone = Image(digest="sha256:" + "0" * 64, tag="miner-test:gone")
    with pytest.raises(EngineUnavailableError, match="gone"), engine.run(gone, LIMITS):
        pass


def test_a_registry_that_cannot_be_reached_is_told(engine: DockerEngine) -> None:
    assert engine.pull("127.0.0.1:9/miner-test-no-such-image:1") is NotPulled.UNREACHABLE


def test_an_image_its_registry_lacks_is_told(engine: DockerEngine) -> None:
    if engine.name != "docker":
        pytest.skip("only Docker asks a registry on a loopback address without TLS")
    with registry() as address:
        assert engine.pull(f"{address}/miner-test-no-such-image:1") is NotPulled.ABSENT


@contextmanager
def registry() -> Iterator[str]:
    """The address of a registry that has nothing."""
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Nothing)) as server:
        yield f"127.0.0.1:{server.server_port}"


class Nothing(BaseHTTPRequestHandler):
    """Speaks enough of the registry's protocol to say that a manifest is unknown."""

    def do_GET(self) -> None:
        known = self.path == "/v2/"
        body = b"{}" if known else b'{"errors": [{"code": "MANIFEST_UNKNOWN", "message": "none"}]}'
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815  # its name there

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its name there
        """Quiet."""


def test_closing_ends_running_commands_at_once(
    engine_address: str | None, base: Image, engine: DockerEngine
) -> None:
    other = connect(engine_address)
    running = threading.Event()
    raised: list[Exception] = []

    def work() -> None:
        try:
            with other.run(base, LIMITS) as container:
                running.set()
                container.exec(("sleep", "300"), timeout_s=300)
        except EngineUnavailableError as error:
            raised.append(error)

    worker = threading.Thread(target=work)
    worker.start()
    assert running.wait(60)
    other.close()
    worker.join(100)
    assert not worker.is_alive()
    assert [type(error) for error in raised] == [EngineUnavailableError]


def test_a_container_is_removed_whatever_happened(
    engine_address: str | None, engine: DockerEngine, base: Image
) -> None:
    with pytest.raises(KeyError), engine.run(base, LIMITS, labels={"miner.test": "raised"}):
        raise KeyError
    engine.sweep()
    assert containers(engine_address, "miner.test=raised") == []


def test_more_containers_end_than_are_removed_at_a_time_and_closing_leaves_none(
    engine_address: str | None, base: Image
) -> None:
    other = connect(engine_address)
    labels = {"miner.test": f"ending-{uuid.uuid4().hex}"}
    with ThreadPoolExecutor(2) as pool:
        for ended in [pool.submit(spin, other, base, labels) for _ in range(AT_ONCE + 2)]:
            ended.result()
    other.close()
    (label,) = (f"{name}={value}" for name, value in labels.items())
    assert containers(engine_address, label) == []


def spin(engine: DockerEngine, base: Image, labels: Mapping[str, str]) -> None:
    """Leave a container whose guest would go on for ever."""
    with engine.run(base, LIMITS, labels=labels) as container:
        assert container.exec(("sh", "-c", "yes >/dev/null & echo"), timeout_s=30).ok


def _sha256(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
