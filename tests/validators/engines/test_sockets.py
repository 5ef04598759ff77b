"""Finding an engine, and refusing one that cannot hold a guest."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from validators.engines import connect
from validators.engines.sockets import unfitness
from validators.errors import EngineTooOldError, EngineUnavailableError

DOCKER = {"ApiVersion": "1.41", "Components": [{"Name": "Engine"}]}
PODMAN = {"ApiVersion": "1.41", "Components": [{"Name": "Podman Engine"}, {"Name": "Conmon"}]}
ABLE = {"MemoryLimit": True, "PidsLimit": True, "CpuCfsQuota": True, "CgroupVersion": "1"}
ROOTLESS_UID = 54321
ROOTLESS = {"SecurityOptions": ["name=seccomp,profile=default", "name=rootless"]}


def test_an_able_engine_is_fit() -> None:
    assert unfitness(DOCKER, ABLE) is None
    assert unfitness(PODMAN, ABLE | {"SecurityOptions": None}) is None


def test_rootless_on_cgroup_v1_is_refused_in_one_sentence() -> None:
    refusal = unfitness(PODMAN, ABLE | ROOTLESS)
    assert refusal is not None
    assert refusal.startswith("This podman runs rootless on cgroup v1")
    assert refusal.count(". ") == 0


def test_podman_tells_rootless_in_a_way_of_its_own() -> None:
    refusal = unfitness(PODMAN, ABLE | {"Rootless": True})
    assert refusal is not None
    assert "rootless on cgroup v1" in refusal


def test_controllers_that_were_not_delegated_are_missed() -> None:
    v2 = ABLE | {"Rootless": True, "CgroupVersion": "2"}
    assert unfitness(PODMAN, v2 | {"CgroupControllers": ["memory", "pids", "cpu"]}) is None
    refusal = unfitness(PODMAN, v2 | {"CgroupControllers": ["memory", "pids"]})
    assert refusal is not None
    assert "CPU" in refusal


def test_rootless_on_delegated_cgroup_v2_is_fit() -> None:
    assert unfitness(PODMAN, ABLE | ROOTLESS | {"CgroupVersion": "2"}) is None


def test_rootless_on_undelegated_cgroup_v2_is_refused() -> None:
    refusal = unfitness(PODMAN, ABLE | ROOTLESS | {"CgroupVersion": "2", "CpuCfsQuota": False})
    assert refusal is not None
    assert "CPU" in refusal
    assert "delegate" in refusal


@pytest.mark.docker
@pytest.mark.skipif(os.getuid() != 0, reason="needs root to become somebody else")
@pytest.mark.skipif(
    Path("/sys/fs/cgroup/cgroup.controllers").exists(), reason="this host has cgroup v2"
)
def test_a_real_rootless_podman_is_refused() -> None:
    assert shutil.which("podman"), "podman is missing; .ci/podman installs it"
    with tempfile.TemporaryDirectory() as home:  # reachable for others, unlike pytest's
        os.chown(home, ROOTLESS_UID, ROOTLESS_UID)
        address = f"unix://{home}/podman.sock"
        command = ["podman", "--cgroup-manager", "cgroupfs", "system", "service", "--time", "0"]
        service = subprocess.Popen(
            [*command, address],
            user=ROOTLESS_UID,
            group=ROOTLESS_UID,
            extra_groups=[],
            env={"HOME": home, "XDG_RUNTIME_DIR": home, "PATH": os.environ["PATH"]},
            cwd=home,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            deadline = time.monotonic() + 30
            while not Path(home, "podman.sock").exists():
                assert service.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.1)
            with pytest.raises(EngineTooOldError, match="runs rootless on cgroup v1"):
                connect(address)
        finally:
            os.killpg(service.pid, signal.SIGTERM)
            service.wait()


def test_an_engine_without_a_limit_is_refused() -> None:
    for key, word in (("MemoryLimit", "memory"), ("PidsLimit", "process"), ("CpuCfsQuota", "CPU")):
        refusal = unfitness(DOCKER, ABLE | {key: False})
        assert refusal is not None
        assert word in refusal


def test_an_old_engine_is_refused() -> None:
    refusal = unfitness(DOCKER | {"ApiVersion": "1.9"}, ABLE)
    assert refusal is not None
    assert "too old" in refusal


def test_no_engine_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailableError, match=r"apt-get install docker\.io"):
        connect(f"unix://{tmp_path}/nothing.sock")


def test_a_strange_address_is_said_to_be_one() -> None:
    with pytest.raises(EngineUnavailableError, match="not understood"):
        connect("docker.example:1234")
