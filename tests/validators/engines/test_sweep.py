"""A miner that was killed leaves containers; the next one removes them, and nobody else's."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.real_engine import HERE, LIMITS, containers
from validators.base_images import base_image
from validators.engines import connect
from validators.model import BuildSettings

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.timeout(300)]

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


def start_miner(name: str) -> subprocess.Popen[bytes]:
    """A process that holds a container and says when it does."""
    process = subprocess.Popen([sys.executable, "-c", MINER, name], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"running\n"
    return process


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


def test_a_container_stops_by_itself_when_its_miner_is_killed() -> None:
    """Even where nobody sweeps: its stdin ends."""
    engine = connect(HERE)
    name = f"orphan-{os.getpid()}"
    with start_miner(name) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
    deadline = time.monotonic() + 30
    while containers(None, f"miner.test={name}", running=True):
        assert time.monotonic() < deadline
    engine.sweep()
    engine.close()
