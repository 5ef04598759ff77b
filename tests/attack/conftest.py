"""Fixtures of the attack suite, and a line that says how many attacks held."""

import hashlib
import io
import os
import subprocess
import tarfile

import pytest
import uv

from tests.attack.plug_ins import REQUIREMENTS
from tests.held import held
from tests.real_engine import base, engine
from tests.toy import DISTRIBUTIONS, toy_image
from tests.validators.samples import CA_BUNDLE
from validators.engine import VENV
from validators.engines import DockerEngine
from validators.model import Image, Limits

__all__ = ["base", "engine", "toy_image"]


@pytest.fixture(scope="module")
def engine_address() -> None:
    """The default engine alone: what a grade rests on is the same on every engine."""


@pytest.fixture(scope="module")
def equipped_image(
    engine: DockerEngine, toy_image: Image, tmp_path_factory: pytest.TempPathFactory
) -> Image:
    """The toys' image with what `plug_ins.REQUIREMENTS` names; found again by its name."""
    known = hashlib.sha256(" ".join((toy_image.tag, *REQUIREMENTS)).encode()).hexdigest()[:12]
    tag = f"miner-test-toy:equipped-{known}"
    found = engine.find(tag)
    if found is not None:
        return found
    folder = tmp_path_factory.mktemp("equipped")
    target = ["--target", str(folder), "--python-version", "3.12", "--only-binary", ":all:"]
    subprocess.run(
        [uv.find_uv_bin(), "pip", "install", "-q", *target, *REQUIREMENTS],
        check=True,
        env={**os.environ, "SSL_CERT_FILE": str(CA_BUNDLE)},
    )
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path in sorted(folder.iterdir()):
            if path.name.partition("-")[0] not in {*DISTRIBUTIONS, "_pytest", "py.py", "bin"}:
                tar.add(path, path.name)
    with engine.install(toy_image, Limits()) as container:
        container.put(f"{VENV}/lib/python3.12/site-packages", packed.getvalue(), root=True)
        return container.commit(tag, labels={"miner.test": "toy"})


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Attacks that were repelled or flagged, twins that were resolved."""
    for part, word in (
        ("test_attack_is_", "attacks held"),
        ("test_honest_twin_", "twins resolved"),
    ):
        share = held(terminalreporter.stats, part)
        if share is not None:
            terminalreporter.write_line(f"{share} {word}")
