"""What a container may do: pure, from Limits to the engine's own words."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from docker.types import LogConfig, Mount, Ulimit

from validators.engine import GUEST_UID, KEPT, KIT, TREE, VENV
from validators.engines.channel import MAIN_SCRIPT
from validators.model import Limits

GUEST_HOME = "/home/guest"
UV_CACHE = "/var/cache/uv"
"""Where uv's cache is in an install container: a volume, which outlives it where it is named."""

CACHE_PREFIX = "miner-uv-cache-"
"""Names the volumes of uv's caches. uv does not check again what it once unpacked, and what builds
may write there: so each repository has a cache of its own, and none can poison another's."""

_MB = 1 << 20
_OPEN_FILES = 16384
_HOSTNAME = "localhost"
"""Resolves in a container that no engine gave hosts to, too: see `base_images`."""


# What apt, dpkg and chown need; the guest has none of them, as it is not root and cannot become it.
_INSTALL_CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID")

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_LOCALE = {"LANG": "C.UTF-8"}
_GUEST_ENV = {
    "PATH": f"{VENV}/bin:{_SYSTEM_PATH}",
    "HOME": GUEST_HOME,
    "USER": "guest",
    "LOGNAME": "guest",
}
# The guest may write to VENV while it installs: root must not start anything from there.
_ROOT_ENV = {"PATH": _SYSTEM_PATH, "HOME": "/root", "USER": "root", "LOGNAME": "root"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """What engines and hosts differ in."""

    ipv6: bool = True  # the host has it
    tmpfs_owner: bool = True  # a tmpfs may be given to a user; podman knows no such option
    processes: int | None = None  # a limit that must be named, or podman names one too high
    networkless: bool = True  # a run need not even be given a network of its own

    @property
    def guest_env(self) -> dict[str, str]:
        """git trusts only folders of its own user, unless told otherwise."""
        if self.tmpfs_owner:
            return {}
        trusted = {"GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": TREE}
        return {"GIT_CONFIG_COUNT": "1"} | trusted


def run_config(limits: Limits, habits: Habits) -> dict[str, Any]:
    """HostConfig arguments of a test run: no network, read-only root, no capability at all.

    The own host name resolves and ::1 exists, as honest tests use both.
    """
    config = _common(limits, habits)
    config |= {
        "read_only": True,
        "network_mode": "none",
        "tmpfs": _mounts(limits, habits)
        | {GUEST_HOME: _guests_tmpfs(limits.memory_mb // 8, habits, guest_uid(limits))},
    }
    if habits.ipv6:
        config["sysctls"] = {
            "net.ipv6.conf.all.disable_ipv6": "0",
            "net.ipv6.conf.lo.disable_ipv6": "0",
        }
    return config


def guest_uid(limits: Limits) -> int:
    """Who runs the project's code."""
    return GUEST_UID if limits.uid is None else limits.uid


def cache_volume(cache: str) -> str:
    """The volume of the cache called `cache`, whatever characters are in that."""
    plain = re.fullmatch(r"[A-Za-z0-9_.-]{1,120}", cache)
    return CACHE_PREFIX + (cache if plain else hashlib.sha256(cache.encode()).hexdigest())


def install_config(limits: Limits, habits: Habits, *, cache: str | None) -> dict[str, Any]:
    """HostConfig arguments of an install: the network, a writable disk that is watched, uv's cache.

    TREE and /tmp are tmpfs here too: fast, bounded, and not in what is committed.
    """
    config = _common(limits, habits)
    config |= {
        "cap_add": list(_INSTALL_CAPABILITIES),
        "tmpfs": _mounts(limits, habits),
    }
    if cache is not None:
        config["binds"] = {cache_volume(cache): {"bind": UV_CACHE, "mode": "rw"}}
    else:  # one without a name is removed with its container, and never in what is committed
        config["mounts"] = [Mount(target=UV_CACHE, source=None)]
    if not limits.network:
        config["network_mode"] = "none"
    return config


def container_config(
    *, labels: Mapping[str, str], prologue: str = "", networkless: bool = False
) -> dict[str, Any]:
    """What the container is: our main process, root's, fed and read through stdin and stdout.

    With `networkless` the engine sets up nothing, which takes Docker as long as the rest of a
    start: there is the loopback that the kernel gives to each.
    """
    return {
        "network_disabled": networkless,
        "command": ["/bin/bash", "-c", prologue + MAIN_SCRIPT],
        "entrypoint": [],  # an image's own is not used; Docker's commits would keep one given here
        "user": "0:0",
        "hostname": _HOSTNAME,
        "working_dir": "/",
        "labels": dict(labels),
        "stdin_open": True,
        "tty": False,
    }


def run_prologue(habits: Habits, *, kit_bytes: int) -> str:
    """Before a run's main process: the kit, of so many bytes, comes first on standard input.

    Root has no capability, but these folders are its own.
    """
    open_up = "" if habits.tmpfs_owner else f"chmod 1777 {TREE} {GUEST_HOME}\n"
    return f"set -e -o pipefail\n{open_up}{_unpacked(kit_bytes)}"


def install_prologue(*, kit_bytes: int = 0) -> str:
    """Before an install's main process: what the guest fills is made its own, then the kit.

    A fresh volume, and podman's tmpfs, belong to root. For as long as a volume is empty, the engine
    makes it root's again for each container that it starts with it, under the hands of those that
    run: so something is in it first of all.
    """
    filled = f"{TREE} {UV_CACHE} {VENV} {KEPT}"
    own = f"install -d -o {GUEST_UID} -g {GUEST_UID} {filled}\n"
    return f"set -e -o pipefail\ntouch {UV_CACHE}/.used\n{own}{_unpacked(kit_bytes)}"


def _unpacked(kit_bytes: int) -> str:
    if not kit_bytes:
        return ""
    unpack = f"/bin/tar --extract --no-same-owner --file=- --directory={KIT}"
    return f"mkdir {KIT}\n/usr/bin/head --bytes={kit_bytes} | {unpack}\n"


def guest_env(*, installs: bool) -> dict[str, str]:
    """The whole environment of the guest's commands, but for what the caller adds."""
    cache = {"UV_CACHE_DIR": UV_CACHE, "UV_LINK_MODE": "copy"} if installs else {}
    return _LOCALE | _GUEST_ENV | cache


def root_env(*, installs: bool) -> dict[str, str]:
    """The same for root, who must leave nothing in the cache that the guest cannot replace."""
    return _LOCALE | _ROOT_ENV | ({"UV_NO_CACHE": "1"} if installs else {})


def _common(limits: Limits, habits: Habits) -> dict[str, Any]:
    memory = limits.memory_mb * _MB
    ulimits = {"core": 0, "fsize": limits.disk_mb * _MB, "nofile": _OPEN_FILES}
    if habits.processes is not None:
        ulimits["nproc"] = habits.processes
    return {
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        "mem_limit": memory,
        "memswap_limit": memory,
        "pids_limit": limits.pids,
        "nano_cpus": int(limits.cpus * 1e9),
        "shm_size": max(limits.memory_mb // 16, 8) * _MB,
        "ipc_mode": "private",
        "log_config": LogConfig(type="none"),
        "oom_score_adj": 500,  # when the host runs out, the guest goes first
        "ulimits": [Ulimit(name=name, soft=n, hard=n) for name, n in ulimits.items()],
    }


def _mounts(limits: Limits, habits: Habits) -> dict[str, str]:
    """tmpfs pages count as memory: together they stay below it, so a filled one says ENOSPC."""
    tree_mb = min(limits.disk_mb, limits.memory_mb // 2)
    tmp_mb = min(limits.disk_mb, limits.memory_mb // 4)
    return {
        TREE: _guests_tmpfs(tree_mb, habits, guest_uid(limits)),
        "/tmp": _tmpfs(tmp_mb, habits, mode="1777"),  # noqa: S108 - the container's
        "/run/miner": _tmpfs(32, habits, mode="0755"),
    }


def _guests_tmpfs(size_mb: int, habits: Habits, uid: int) -> str:
    if habits.tmpfs_owner:
        return f"{_tmpfs(size_mb, habits, mode='0755')},uid={uid},gid={uid}"
    return _tmpfs(size_mb, habits, mode="1777")


def _tmpfs(size_mb: int, habits: Habits, *, mode: str) -> str:
    """Podman would fill it from the image, and take the image's mode, unless told otherwise."""
    empty = "" if habits.tmpfs_owner else ",notmpcopyup"
    return f"rw,exec,nosuid,nodev,size={max(size_mb, 4)}m,mode={mode}{empty}"
