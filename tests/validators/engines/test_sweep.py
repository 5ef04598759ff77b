"""A miner that was killed leaves containers; the next one removes them, and nobody else's."""

import dataclasses
import os
import signal
import subprocess
import sys
import time
from typing import cast

import pytest
from requests.exceptions import ConnectionError as NoConnection

from tests.real_engine import HERE, LIMITS, containers
from validators.base_images import base_image
from validators.engines import DockerEngine, connect
from validators.engines.client import Client
from validators.engines.confinement import Habits
from validators.engines.ownership import OWNER_LABEL, this_process
from validators.model import BuildSettings

MINER = """
import sys
from tests.real_engine import HERE, LIMITS
from validators.base_images import base_image
from validators.engines import connect
from validators.model import BuildSettings

engine = connect(HERE)
image, _ = base_image(engine, "3.12", settings=BuildSettings(), progress=lambda line: None)
with engine.run(image, LIMITS, labels={"miner.test": sys.argv[1]}) as container:
    print("running", flush=True)
    container.exec(("sleep", "600"), timeout_s=600)
"""


class Stuck:
    """An engine's API with two orphans, one of which it cannot let go of."""

    def __init__(self) -> None:
        self.timeout = 1
        self.removed: list[str] = []

    def containers(self, **_: object) -> list[dict[str, object]]:
        gone = dataclasses.replace(this_process(), started="1")
        return [{"Id": name, "Labels": {OWNER_LABEL: str(gone)}} for name in ("stuck", "free")]

    def remove_container(self, container_id: str, **_: object) -> None:
        if container_id == "stuck":
            raise NoConnection("device or resource busy")
        self.removed.append(container_id)

    def answers(self) -> bool:
        """It does."""
        return True

    def settle(self, *, within_s: float) -> None:
        """Nothing is under way."""

    def cut(self) -> None:
        """Nothing is under way."""

    def close(self) -> None:
        """Nothing is open."""


def test_an_orphan_that_cannot_be_removed_keeps_nobody_from_work(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api = Stuck()
    engine = DockerEngine(cast("Client", api), url="", name="docker", habits=Habits())
    assert engine.sweep() == 1
    engine.close()
    assert api.removed == ["free"]
    assert "An orphaned container stays: " in caplog.text
    assert "busy" in caplog.text


def start_miner(name: str) -> subprocess.Popen[bytes]:
    """A process that holds a container and says when it does."""
    process = subprocess.Popen([sys.executable, "-c", MINER, name], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"running\n"
    return process


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.timeout(300)
def test_only_orphans_of_dead_miners_are_swept() -> None:
    engine = connect(HERE)
    image, _ = base_image(engine, "3.12", settings=BuildSettings(), progress=print)
    name = f"sweep-{os.getpid()}"
    with (
        engine.run(image, LIMITS, labels={"miner.test": f"{name}-ours"}),
        start_miner(f"{name}-killed") as killed,
        start_miner(f"{name}-living") as living,
    ):
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert len(containers(None, f"miner.test={name}-killed")) == 1
        assert engine.sweep() >= 1
        assert containers(None, f"miner.test={name}-killed") == []
        assert len(containers(None, f"miner.test={name}-living")) == 1
        assert len(containers(None, f"miner.test={name}-ours")) == 1
        living.send_signal(signal.SIGKILL)
        living.wait()
        assert engine.sweep() >= 1
    engine.close()


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.timeout(300)
def test_a_container_stops_by_itself_when_its_miner_is_killed() -> None:
    """Even where nobody sweeps: its stdin ends."""
    engine = connect(HERE)
    name = f"orphan-{os.getpid()}"
    with start_miner(name) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
    deadline = time.monotonic() + 120
    while containers(None, f"miner.test={name}", running=True):
        assert time.monotonic() < deadline
    engine.sweep()
    engine.close()
