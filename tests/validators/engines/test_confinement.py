"""What is asked of the engine for a guest."""

import re
from itertools import product

import pytest

from validators.engines.confinement import (
    Habits,
    cache_volume,
    container_config,
    guest_env,
    install_config,
    root_env,
    run_config,
)
from validators.model import Limits

LIMITS = Limits(memory_mb=1024, cpus=1.5, pids=99, disk_mb=300, network=True)
DOCKER = Habits()
PODMAN = Habits(tmpfs_owner=False, processes=9000)


def test_a_run_never_has_a_network_a_capability_or_a_host_path() -> None:
    config = run_config(LIMITS, DOCKER)
    assert config["network_mode"] == "none"
    assert config["read_only"] is True
    assert config["cap_drop"] == ["ALL"]
    assert "cap_add" not in config
    assert "binds" not in config
    assert config["security_opt"] == ["no-new-privileges"]


@pytest.mark.parametrize("networkless", [True, False])
def test_an_engine_that_can_sets_up_no_network_at_all(networkless: bool) -> None:
    asked = container_config(labels={}, networkless=networkless)
    assert asked["network_disabled"] is networkless
    assert run_config(LIMITS, Habits(networkless=networkless))["network_mode"] == "none"


def test_limits_are_passed_on() -> None:
    config = run_config(LIMITS, DOCKER)
    assert config["mem_limit"] == config["memswap_limit"] == 1024 << 20
    assert (config["pids_limit"], config["nano_cpus"]) == (99, 1_500_000_000)
    ulimits = {limit["Name"]: limit["Hard"] for limit in config["ulimits"]}
    assert ulimits["core"] == 0
    assert ulimits["fsize"] == 300 << 20
    assert ulimits["nofile"] < 100_000


@pytest.mark.parametrize("name", ["memory_mb", "cpus", "pids", "disk_mb", "output_mb"])
def test_no_limit_is_zero_which_engines_take_for_none(name: str) -> None:
    for number in (0, -1):
        with pytest.raises(ValueError, match=f"{name} must be above zero"):
            Limits(**{name: number})  # type: ignore[arg-type]  # whole numbers fit all of them


def test_filled_work_places_stay_below_the_memory_limit() -> None:
    cases = (LIMITS, Limits(), Limits(memory_mb=256, disk_mb=100_000))
    for limits, habits in product(cases, (DOCKER, PODMAN)):
        config = run_config(limits, habits)
        sizes = [
            int(option.removeprefix("size=").removesuffix("m"))
            for options in config["tmpfs"].values()
            for option in options.split(",")
            if option.startswith("size=")
        ]
        assert sum(sizes) + config["shm_size"] // (1 << 20) < limits.memory_mb + 32


def test_an_install_mounts_the_named_cache_and_no_host_path() -> None:
    config = install_config(LIMITS, DOCKER, cache="pallets__click")
    assert list(config["binds"]) == ["miner-uv-cache-pallets__click"]
    unnamed = install_config(LIMITS, DOCKER, cache=None)
    assert "binds" not in unnamed
    assert [(each["Type"], each["Source"]) for each in unnamed["mounts"]] == [("volume", None)]
    assert "network_mode" not in config
    assert install_config(Limits(network=False), DOCKER, cache=None)["network_mode"] == "none"


@pytest.mark.parametrize("habits", [DOCKER, PODMAN])
def test_an_install_differs_from_a_run_in_network_disk_and_roots_capabilities_alone(
    habits: Habits,
) -> None:
    """What apt and dpkg need, and nothing that leads out or that the guest, who is no root, has."""
    run, install = run_config(LIMITS, habits), install_config(LIMITS, habits, cache=None)
    differs = {"network_mode", "read_only", "tmpfs", "sysctls", "mounts", "cap_add"}
    assert {key: run.get(key) for key in {*run, *install} - differs} == {
        key: install.get(key) for key in {*run, *install} - differs
    }
    assert set(install["cap_add"]) == {
        "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID",
    }  # fmt: skip
    assert {place: run["tmpfs"][place] for place in install["tmpfs"]} == install["tmpfs"]


@pytest.mark.parametrize("name", ["../../etc", "a/b", "a:b", "", "a" * 200, "\u00e4"])
def test_a_cache_of_any_name_is_a_volume_of_its_own(name: str) -> None:
    assert re.fullmatch(r"miner-uv-cache-[0-9a-f]{64}", cache_volume(name))
    assert cache_volume(name) != cache_volume(f"{name}x")


def test_a_host_without_ipv6_is_not_asked_for_it() -> None:
    assert "sysctls" in run_config(LIMITS, DOCKER)
    assert "sysctls" not in run_config(LIMITS, Habits(ipv6=False))


def test_root_starts_nothing_from_where_the_guest_may_write() -> None:
    assert "/opt/venv/bin" in guest_env(installs=True)["PATH"].split(":")
    assert "/opt/venv/bin" not in root_env(installs=True)["PATH"]


def test_labels_are_kept() -> None:
    assert container_config(labels={"a": "b"})["labels"] == {"a": "b"}


def test_podman_is_given_a_process_limit_and_folders_anyone_may_write() -> None:
    config = run_config(LIMITS, PODMAN)
    assert {limit["Name"]: limit["Hard"] for limit in config["ulimits"]}["nproc"] == 9000
    assert "uid=" not in config["tmpfs"]["/testbed"]
    assert "mode=1777" in config["tmpfs"]["/testbed"]
    assert PODMAN.guest_env["GIT_CONFIG_VALUE_0"] == "/testbed"
    assert DOCKER.guest_env == {}
