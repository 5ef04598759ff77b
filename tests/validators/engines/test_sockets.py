"""Finding an engine, and refusing one that cannot hold a guest."""

from pathlib import Path

import pytest

from validators.engines import connect
from validators.engines.sockets import unfitness
from validators.errors import EngineUnavailableError

DOCKER = {"ApiVersion": "1.41", "Components": [{"Name": "Engine"}]}
PODMAN = {"ApiVersion": "1.41", "Components": [{"Name": "Podman Engine"}, {"Name": "Conmon"}]}
ABLE = {"MemoryLimit": True, "PidsLimit": True, "CpuCfsQuota": True, "CgroupVersion": "1"}
ROOTLESS = {"SecurityOptions": ["name=seccomp,profile=default", "name=rootless"]}


def test_an_able_engine_is_fit() -> None:
    assert unfitness(DOCKER, ABLE) is None
    assert unfitness(PODMAN, ABLE | {"SecurityOptions": None}) is None


def test_rootless_on_cgroup_v1_is_refused_in_one_sentence() -> None:
    refusal = unfitness(PODMAN, ABLE | ROOTLESS)
    assert refusal is not None
    assert refusal.startswith("This podman runs rootless on cgroup v1")
    assert refusal.count(". ") == 0


def test_rootless_on_delegated_cgroup_v2_is_fit() -> None:
    assert unfitness(PODMAN, ABLE | ROOTLESS | {"CgroupVersion": "2"}) is None


def test_rootless_on_undelegated_cgroup_v2_is_refused() -> None:
    refusal = unfitness(PODMAN, ABLE | ROOTLESS | {"CgroupVersion": "2", "CpuCfsQuota": False})
    assert refusal is not None
    assert "CPU" in refusal
    assert "delegate" in refusal


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
