"""Base images: each Python works in its own, whichever way it came about."""

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from tests.fakes.engine import FakeEngine
from tests.real_engine import HERE
from tests.validators.samples import CA_BUNDLE
from validators import debian, interpreters
from validators.base_images import NotYet, base_image
from validators.certificates import trust
from validators.engine import NotPulled
from validators.engines import DockerEngine, connect
from validators.errors import (
    EngineUnavailableError,
    PythonUnavailableError,
    UnknownRecipeError,
)
from validators.model import BuildSettings, Limits

VERSIONS = ("3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13")
SETTINGS = BuildSettings(base_images="build")
INSTALL = Limits(network=True)

EXTENSION = r"""
set -e
mkdir /tmp/extension && cd /tmp/extension
cat >answer.c <<'C'
#include <Python.h>
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "answer", NULL, -1, NULL};
PyMODINIT_FUNC PyInit_answer(void) {
    PyObject *made = PyModule_Create(&module);
    if (made) PyModule_AddIntConstant(made, "answer", 42);
    return made;
}
C
cat >setup.py <<'PY'
from setuptools import Extension, setup
setup(name="answer", version="1", ext_modules=[Extension("answer", ["answer.c"])])
PY
uv venv --quiet --python "$(command -v python)" /tmp/venv
export VIRTUAL_ENV=/tmp/venv
uv pip install --quiet setuptools wheel
uv pip install --quiet --no-build-isolation .
cd / && /tmp/venv/bin/python -c 'import answer; print(answer.answer)'
"""

MODULES = """
import bz2, ctypes, hashlib, lzma, readline, sqlite3, ssl, uuid, zlib, venv, sys
assert sqlite3.connect(":memory:").execute("select 1").fetchone() == (1,)
assert ssl.create_default_context().get_ca_certs()
print("%d.%d" % sys.version_info[:2])
"""


def wanted(engine: FakeEngine, python: str, way: Literal["auto", "pull"] = "auto") -> None:
    settings = BuildSettings(base_images=way)
    base_image(engine, python, settings=settings, progress=print)


@pytest.mark.parametrize(("way", "python"), [("auto", "3.95"), ("pull", "3.96")])
def test_a_version_that_no_registry_has_is_no_version(
    way: Literal["auto", "pull"], python: str
) -> None:
    engine = FakeEngine(())
    with pytest.raises(UnknownRecipeError, match=f"[Nn]o registry has python:{python}-slim"):
        wanted(engine, python, way)


@pytest.mark.parametrize(("way", "python"), [("auto", "3.97"), ("pull", "3.98")])
def test_a_registry_that_is_silent_is_the_machines_trouble(
    way: Literal["auto", "pull"], python: str
) -> None:
    engine = FakeEngine((), pulled=NotPulled.UNREACHABLE)
    for _ in range(2):
        with pytest.raises(EngineUnavailableError, match=f"can be reached for python:{python}"):
            wanted(engine, python, way)
    assert engine.pulls == [f"python:{python}-slim"]  # silence costs seconds: not at once again


def test_a_registry_is_asked_again_after_a_while() -> None:
    now = [0.0]
    not_yet = NotYet(clock=lambda: now[0])
    not_yet.add("silent", NotPulled.UNREACHABLE)
    not_yet.add("unknown", NotPulled.ABSENT)
    assert not_yet.why("silent") is NotPulled.UNREACHABLE
    assert not_yet.why("never asked") is None
    now[0] = 120.0
    assert not_yet.why("silent") is None
    assert not_yet.why("unknown") is NotPulled.ABSENT
    now[0] = 2 * 3600.0
    assert not_yet.why("unknown") is None


@pytest.fixture(scope="module")
def engine() -> Iterator[DockerEngine]:
    """The engine of this machine."""
    connected = connect(HERE)
    yield connected
    connected.close()


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.timeout(600)
@pytest.mark.parametrize("python", VERSIONS)
def test_an_interpreter_works_and_compiles(engine: DockerEngine, python: str) -> None:
    if not interpreters.available(python):
        with pytest.raises(UnknownRecipeError, match=f"pyenv install {python}"):
            base_image(engine, python, settings=SETTINGS, progress=print)
        return
    image, origin = base_image(engine, python, settings=SETTINGS, progress=print)
    assert origin == "built"
    trusted = trust(CA_BUNDLE)
    with engine.install(image, INSTALL, kit=trusted.kit) as container:
        said = container.exec(("python", "-c", MODULES), timeout_s=60)
        assert said.output.decode().split() == [python], said
        built = container.exec(("bash", "-c", EXTENSION), timeout_s=300, env=trusted.env)
        assert built.output.split()[-1:] == [b"42"], built


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.timeout(600)
def test_what_every_base_image_holds(engine: DockerEngine) -> None:
    image, _ = base_image(engine, "3.12", settings=SETTINGS, progress=print)
    script = """
    set -e
    id -un; git --version; uv --version; gcc --version | head -n 1; pkg-config --version
    python3.12 --version; python --version; ls /usr/share/zoneinfo/Europe/Berlin
    LC_ALL=en_US.UTF-8 python -c 'import locale; print(locale.setlocale(locale.LC_ALL, ""))'
    grep -rl "$HOST" /usr/local --include='*.py' --include='*.pc' --include=Makefile || echo clean
    [ -w /opt/venv ] && [ -w /opt/miner ] && echo ready
    """
    host = str(interpreters.find("3.12"))
    with engine.install(image, INSTALL) as container:
        said = container.exec(("bash", "-c", script), timeout_s=60, env={"HOST": host})
    assert said.ok, said
    lines = said.output.decode().splitlines()
    assert lines[0] == "guest"
    assert lines[-3:] == ["en_US.UTF-8", "clean", "ready"]


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.timeout(600)
def test_an_image_is_made_once_and_says_what_it_is(engine: DockerEngine) -> None:
    first, _ = base_image(engine, "3.12", settings=SETTINGS, progress=print)
    said: list[str] = []
    second, _ = base_image(engine, "3.12", settings=SETTINGS, progress=said.append)
    assert (second, said) == (first, [])
    labels = next(each.labels for each in engine.images(label="miner.base") if each.image == first)
    assert labels["miner.base"] == "3.12"
    assert labels["miner.origin"] == "built"


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.timeout(600)
def test_the_ca_bundle_reaches_an_install_but_not_its_image(
    engine: DockerEngine, tmp_path: Path
) -> None:
    bundle = tmp_path / "ca.pem"
    bundle.write_text("-----BEGIN CERTIFICATE-----\nplanted\n")
    image, _ = base_image(engine, "3.12", settings=SETTINGS, progress=print)
    trusted = trust(bundle)
    with engine.install(image, INSTALL, kit=trusted.kit) as container:
        show = ("sh", "-c", 'cat "$SSL_CERT_FILE"; [ -w "$SSL_CERT_FILE" ] || echo closed')
        said = container.exec(show, timeout_s=20, env=trusted.env)
        assert said.output.endswith(b"closed\n")
        assert b"planted" in said.output
        made = container.commit("miner-test:ca", labels={"miner.test": "ca"})
    try:
        with engine.install(made, INSTALL) as container:
            look = "env; find / -xdev -name ca.pem; grep -rl planted /etc /opt /usr || true"
            said = container.exec(("sh", "-c", look), timeout_s=60, root=True)
            assert b"ca.pem" not in said.output
            assert b"planted" not in said.output
    finally:
        assert engine.remove_image(made)


NOWHERE = (UnknownRecipeError, PythonUnavailableError)
"""No registry has it; or none can be reached from where the tests run."""


@pytest.mark.docker
def test_no_registry_is_asked_once_a_process_and_told(engine: DockerEngine) -> None:
    said: list[str] = []
    only_pull = BuildSettings(base_images="pull")
    for _ in range(2):
        with pytest.raises(NOWHERE, match=r"No registry .*python:3\.94-slim"):
            base_image(engine, "3.94", settings=only_pull, progress=said.append)
    assert len(said) == 1


@pytest.mark.docker
def test_a_version_nobody_has_is_one_sentence(engine: DockerEngine) -> None:
    with pytest.raises(NOWHERE, match=r"pyenv install 3\.99"):
        base_image(engine, "3.99", settings=BuildSettings(), progress=print)


@pytest.mark.docker
def test_what_is_no_version_is_refused_before_it_reaches_a_shell(engine: DockerEngine) -> None:
    for python in ("3.12; rm -rf /", "3", "2.7", "3.12.1", "", "3.1$(id)"):
        with pytest.raises(UnknownRecipeError, match="no Python version"):
            base_image(engine, python, settings=BuildSettings(), progress=print)


def test_an_interpreter_is_packed_without_tests_packages_and_its_old_place() -> None:
    found = next((v for v in VERSIONS if interpreters.find(v) is not None), None)
    if found is None:
        pytest.skip("pyenv has no Python on this machine")
    packed, prefix = interpreters.pack(found), interpreters.find(found)
    assert packed is not None
    with tarfile.open(fileobj=io.BytesIO(packed)) as opened:
        names = opened.getnames()
        texts = [m for m in opened if m.name.endswith(".pc") or "/_sysconfigdata" in m.name]
        for member in texts:
            part = opened.extractfile(member) if member.isreg() else None
            assert part is None or str(prefix).encode() not in part.read()
    assert texts
    assert f"bin/python{found}" in names
    assert not [n for n in names if "/site-packages/" in n or n.endswith(".a")]
    assert not [n for n in names if f"lib/python{found}/test/" in n]
    assert [n for n in names if n.endswith(".pyc")]


def test_debians_own_python_needs_no_pyenv() -> None:
    assert interpreters.available(debian.PYTHON)
    assert not interpreters.available("3.99")
