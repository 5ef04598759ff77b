"""Fixtures over the container engines of this machine: Docker, and podman where its socket is.

A conftest that imports `engine` and `base` gets its tests run once for each engine.
"""

import io
import os
import tarfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import docker
import pytest
from docker.api.client import APIClient
from docker.errors import APIError, ImageNotFound

from validators.base_images import base_image
from validators.certificates import system_certificates
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


@contextmanager
def trusting_base(engine: DockerEngine) -> Iterator[str]:
    """The tag of a base image for `docker build`, which trusts what this machine trusts."""
    bundle = system_certificates()
    base, _ = base_image(engine, "3.12", settings=BuildSettings(ca_bundle=bundle), progress=print)
    tag = f"miner-dockerfile-test:{uuid.uuid4().hex[:12]}"
    files = {"Dockerfile": f"FROM {base.tag}\nENTRYPOINT []\nENV SSL_CERT_FILE=/ca.pem\n".encode()}
    if bundle is not None:
        files["Dockerfile"] += b"COPY ca.pem /ca.pem\n"
        files["ca.pem"] = bundle.read_bytes()
    client = docker.from_env()
    try:
        client.images.build(fileobj=io.BytesIO(tar(files)), custom_context=True, tag=tag)
        yield tag
    finally:
        remove_tag(client, tag)
        client.close()


def remove_tag(client: docker.DockerClient, tag: str) -> None:
    """Remove an image that `docker build` made, if it came to that."""
    try:
        client.images.remove(tag, force=True)
    except (ImageNotFound, APIError):
        return
