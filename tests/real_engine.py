"""Fixtures over the container engines of this machine: Docker, and podman where its socket is.

A conftest that imports `engine` and `base` gets its tests run once for each engine.
"""

import io
import os
import tarfile
from collections.abc import Iterator, Mapping

import pytest
from docker.api.client import APIClient

from validators.base_images import base_image
from validators.engines import DockerEngine, connect
from validators.model import BuildSettings, Image, Limits

PODMAN_ENV = "MINER_TEST_PODMAN"
"""The address of podman's socket, when it is to be tested too (.ci/podman sets it)."""

HERE = os.environ.get("MINER_ENGINE") or None
"""What `connect` is given for the engine under test; None: the one this machine uses by itself."""

LIMITS = Limits(memory_mb=512, disk_mb=128, pids=64, output_mb=1)
"""Small enough that a hostile guest reaches them at once."""


def addresses() -> list[str | None]:
    """What `connect` is given: each engine under test."""
    podman = os.environ.get(PODMAN_ENV)
    return [HERE, podman] if podman else [HERE]


@pytest.fixture(scope="module", params=addresses(), ids=lambda address: address or "default")
def engine_address(request: pytest.FixtureRequest) -> str | None:
    """What `connect` is given."""
    address: str | None = request.param
    return address


@pytest.fixture(scope="module")
def engine(engine_address: str | None) -> Iterator[DockerEngine]:
    """A connected engine; all it started is gone afterwards."""
    connected = connect(engine_address)
    yield connected
    connected.close()


@pytest.fixture(scope="module")
def base(engine: DockerEngine) -> Image:
    """A base image; made on this engine when it has none."""
    image, _ = base_image(engine, "3.12", settings=BuildSettings(), progress=print)
    return image


def containers(address: str | None, label: str, *, running: bool = False) -> list[str]:
    """Names of the containers with that label, running or all, asked past our own code."""
    api = APIClient(base_url=address or HERE or "unix:///var/run/docker.sock", version="auto")
    try:
        return [
            str(each["Names"][0])
            for each in api.containers(all=not running, filters={"label": label})
        ]
    finally:
        api.close()


def called(address: str | None, tag: str) -> tuple[list[str], list[str]]:
    """What an image starts: its entry point and its command."""
    api = APIClient(base_url=address or HERE or "unix:///var/run/docker.sock", version="auto")
    try:
        config = api.inspect_image(tag)["Config"]  # type: ignore[no-untyped-call]  # its stubs
        return config["Entrypoint"] or [], config["Cmd"]
    finally:
        api.close()


def end(address: str | None, container_id: str, *, signal: str = "SIGKILL") -> None:
    """Kill or stop a container past our own code, as an operator or the machine would."""
    api = APIClient(base_url=address or HERE or "unix:///var/run/docker.sock", version="auto")
    try:
        api.kill(container_id, signal)
    finally:
        api.close()


def tar(files: Mapping[str, bytes]) -> bytes:
    """A tar of name → content."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as out:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o644
            out.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def untar(packed: bytes) -> dict[str, bytes]:
    """The regular files of a tar."""
    with tarfile.open(fileobj=io.BytesIO(packed)) as opened:
        members = [member for member in opened if member.isreg()]
        return {m.name: part.read() for m in members if (part := opened.extractfile(m))}
