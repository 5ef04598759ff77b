"""Where engines listen, and what one must be able to enforce before a guest is let in."""

import os
import resource
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docker.errors import DockerException
from requests.exceptions import RequestException

from validators.engines.client import ANSWER_S, Client
from validators.engines.confinement import Habits
from validators.engines.docker import DockerEngine
from validators.engines.faults import machinery
from validators.errors import EngineTooOldError, EngineUnavailableError

_MINIMUM_API = (1, 40)
_CONNECT_S = 10
_PROCESSES = 32768  # counted per uid over all containers: the pids limit is the one that holds
_NEEDED = {
    ("MemoryLimit", "memory"): "memory",
    ("PidsLimit", "pids"): "process",
    ("CpuCfsQuota", "cpu"): "CPU",
}
_INSTALL_HINT = (
    "On Debian or Ubuntu install one with `apt-get install docker.io` and start it with "
    "`systemctl start docker`, or name its address in the engine setting (unix:///path or "
    "tcp://host:port)."
)


def connect(url: str | None = None) -> DockerEngine:
    """The engine at `url`, else Docker's or podman's socket on this machine.

    Raises EngineUnavailableError when none answers, EngineTooOldError when one cannot enforce
    limits (for instance rootless on cgroup v1).
    """
    if url is not None:
        api = _reach(_checked(url))
        if api is None:
            raise EngineUnavailableError(f"No container engine answers at {url}. {_INSTALL_HINT}")
        return _fit(api, url)
    for path in _usual_sockets():
        address = f"unix://{path}"
        api = _reach(address) if path.exists() else None
        if api is not None:
            return _fit(api, address)
    raise EngineUnavailableError(f"No container engine answers on this machine. {_INSTALL_HINT}")


def _usual_sockets() -> tuple[Path, ...]:
    return (
        Path("/var/run/docker.sock"),
        Path("/run/podman/podman.sock"),
        Path(f"/run/user/{os.getuid()}/docker.sock"),
        Path(f"/run/user/{os.getuid()}/podman/podman.sock"),
    )


def _checked(url: str) -> str:
    if not url.startswith(("unix://", "tcp://")):
        raise EngineUnavailableError(
            f"The engine's address {url!r} is not understood: "
            "give unix:///path/to/socket or tcp://host:port."
        )
    return url


def _reach(url: str) -> Client | None:
    """A client whose engine answered; None when nothing does."""
    if not _listens(url):  # asked first, as the client does not clean up after itself
        return None
    api: Client | None = None
    try:
        api = Client(url, timeout_s=_CONNECT_S)
        api.ping()
    except (DockerException, RequestException, OSError):
        if api is not None:
            api.close()
        return None
    return api


def _listens(url: str) -> bool:
    scheme, _, address = url.partition("://")
    host, _, port = address.rstrip("/").rpartition(":")
    family = socket.AF_UNIX if scheme == "unix" else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.settimeout(_CONNECT_S)
            probe.connect(address if scheme == "unix" else (host, int(port)))
    except (OSError, ValueError, OverflowError):
        return False
    return True


def _fit(api: Client, url: str) -> DockerEngine:
    with machinery("describe itself"):
        version = api.version()
        facts = api.info() | _delegated(api)
    problem = unfitness(version, facts)
    if problem is not None:
        api.close()
        raise EngineTooOldError(problem)
    api.timeout = ANSWER_S
    name = _name(version)
    return DockerEngine(api, url=url, name=name, habits=_habits(name))


def _delegated(api: Client) -> dict[str, Any]:
    """The cgroup controllers podman may use, by its own API; Docker may use all."""
    answer = api.get(f"{api.base_url}/v4.0.0/libpod/info")
    if answer.status_code != 200:
        return {}
    return {"CgroupControllers": answer.json().get("host", {}).get("cgroupControllers") or []}


def _habits(name: str) -> Habits:
    """As far as this process can tell; an engine elsewhere is taken for one like this host's."""
    ipv6 = Path("/proc/sys/net/ipv6").exists()
    if name != "podman":
        return Habits(ipv6=ipv6)
    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    processes = _PROCESSES if hard == resource.RLIM_INFINITY else min(hard, _PROCESSES)
    return Habits(ipv6=ipv6, tmpfs_owner=False, processes=processes, networkless=False)


def unfitness(version: Mapping[str, Any], facts: Mapping[str, Any]) -> str | None:
    """Why this engine must not run guests, as one sentence; None when it may. Pure.

    `version` and `facts` are the engine's answers to /version and /info.
    """
    name = _name(version)
    api_version = tuple(int(part) for part in str(version.get("ApiVersion", "0.0")).split("."))
    if api_version < _MINIMUM_API:
        return (
            f"This {name} speaks API {version.get('ApiVersion')}, which is too old: "
            "install Docker 19.03 or podman 4 or newer."
        )
    rootless = bool(facts.get("Rootless")) or any(
        "rootless" in str(option) for option in facts.get("SecurityOptions") or ()
    )
    if rootless and str(facts.get("CgroupVersion", "1")) != "2":
        return (
            f"This {name} runs rootless on cgroup v1, where it cannot limit memory, processes or "
            "CPU: run it as root, or boot the host with cgroup v2."
        )
    missing = [
        word
        for (key, controller), word in _NEEDED.items()
        if not facts.get(key, False)
        or controller not in facts.get("CgroupControllers", [controller])
    ]
    if missing:
        where = "delegate these cgroup controllers to it" if rootless else "enable them in the host"
        return f"This {name} cannot enforce {' and '.join(missing)} limits: {where}."
    return None


def _name(version: Mapping[str, Any]) -> str:
    components = (str(part.get("Name", "")) for part in version.get("Components") or ())
    return "podman" if any("podman" in name.lower() for name in components) else "docker"
