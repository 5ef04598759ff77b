"""A container as an engine is asked for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from docker.api.client import APIClient
from docker.errors import ImageNotFound

from validators.engines import confinement
from validators.engines.ownership import OWNER_LABEL, SESSION_LABEL, this_process
from validators.errors import EngineUnavailableError
from validators.model import Image


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """A container to be created. `kit` is what its main process is given to read first."""

    image: Image
    labels: Mapping[str, str]
    host: Mapping[str, Any]
    prologue: str
    kit: bytes = b""
    networkless: bool = False


def create(api: APIClient, spec: Spec, *, session: str) -> str:
    """The id of a new container that carries this process's name and the connection's.

    EngineUnavailableError when its image is gone; otherwise what the client raises.
    """
    ours = {OWNER_LABEL: str(this_process()), SESSION_LABEL: session}
    config = confinement.container_config(
        labels={**spec.labels, **ours},
        prologue=spec.prologue,
        networkless=spec.networkless,
    )
    try:
        created = api.create_container(
            image=spec.image.digest,
            host_config=api.create_host_config(**spec.host),
            **config,
        )
    except ImageNotFound as error:
        raise EngineUnavailableError(
            f"The image {spec.image.tag or spec.image.digest} is gone: "
            "run the command again to make it anew."
        ) from error
    return str(created["Id"])
