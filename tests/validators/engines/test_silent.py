"""An engine that stops answering, or is gone, in the middle of things: told in time, never a hang.

A socket of ours between the miner and the engine plays it; the engine itself serves others.
"""

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from docker.api.client import APIClient
from docker.errors import APIError

from tests.fakes.proxy import Proxy, proxy
from tests.real_engine import HERE, LIMITS
from validators.base_images import base_image
from validators.engines import DockerEngine, connect
from validators.engines.client import ANSWER_S
from validators.engines.ownership import SESSION_LABEL
from validators.engines.streams import Stream
from validators.errors import EngineUnavailableError
from validators.model import BuildSettings, Image

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.timeout(120)]

SOCKET = (HERE or "unix:///var/run/docker.sock").removeprefix("unix://")
SOON_S = 2
SILENT = "did not answer in time"


@pytest.fixture
def between(tmp_path: Path) -> Iterator[Proxy]:
    with proxy(tmp_path, SOCKET) as made:
        yield made


@pytest.fixture
def engine(between: Proxy) -> Iterator[DockerEngine]:
    """Through the proxy, not patient. Whatever it cannot remove itself is removed past it."""
    connected = connect(between.url)
    connected._api.timeout = SOON_S
    yield connected
    between.thaw()
    connected.close()
    api = APIClient(base_url=f"unix://{SOCKET}", version="auto")
    mine = {"label": f"{SESSION_LABEL}={connected._session}"}
    for left in api.containers(all=True, filters=mine):
        with suppress(APIError):  # what was asked of it while it was silent is done now
            api.remove_container(left["Id"], force=True)
    api.close()


@pytest.fixture(scope="module")
def base() -> Image:
    connected = connect(HERE)
    image, _ = base_image(connected, "3.12", settings=BuildSettings(), progress=print)
    connected.close()
    return image


def test_a_command_under_way_ends_soon_after_its_time(
    between: Proxy, engine: DockerEngine, base: Image
) -> None:
    with engine.run(base, LIMITS) as container:
        talk = container.begin(("sh", "-c", "echo '<on>'; sleep 60"), workdir="/")
        talk.until(b"<on>", stdin=b"", timeout_s=60)
        between.freeze()
        with pytest.raises(EngineUnavailableError, match=SILENT):
            talk.end(stdin=b"", timeout_s=SOON_S)


def test_much_input_that_nobody_takes_is_given_up(
    between: Proxy, engine: DockerEngine, base: Image
) -> None:
    with engine.run(base, LIMITS) as container:
        talk = container.begin(("sh", "-c", "echo '<on>'; cat >/dev/null"), workdir="/")
        talk.until(b"<on>", stdin=b"", timeout_s=60)
        between.freeze()
        with pytest.raises(EngineUnavailableError, match=SILENT):
            talk.until(b"<in>", stdin=bytes(64 << 20), timeout_s=SOON_S)


def test_a_kit_that_nobody_takes_is_given_up(
    between: Proxy, engine: DockerEngine, base: Image
) -> None:
    api = engine._api
    container = api.create_container(
        base.digest, ["sleep", "60"], stdin_open=True, labels={SESSION_LABEL: engine._session}
    )
    stream = Stream(api.attach_socket(container["Id"], params={"stdin": 1, "stream": 1}))
    between.freeze()
    with pytest.raises(EngineUnavailableError, match="took no input for 2 s"):
        stream.send_all(bytes(64 << 20), timeout_s=SOON_S)
    stream.close()


def test_a_report_that_does_not_come_is_the_machines_failure(
    between: Proxy, engine: DockerEngine, base: Image
) -> None:
    with engine.run(base, LIMITS) as container:
        container.drain_s = SOON_S
        between.freeze()
        with pytest.raises(EngineUnavailableError, match=SILENT):
            container.report()


def test_an_engine_that_is_silent_from_the_start_is_told(
    between: Proxy, engine: DockerEngine, base: Image
) -> None:
    between.freeze()
    with pytest.raises(EngineUnavailableError, match=SILENT), engine.run(base, LIMITS):
        pass
    with pytest.raises(EngineUnavailableError, match=SILENT):
        engine.sweep()


def test_an_engine_that_goes_away_is_told_at_once(
    between: Proxy, engine: DockerEngine, base: Image
) -> None:
    with engine.run(base, LIMITS) as container:
        talk = container.begin(("sh", "-c", "echo '<on>'; sleep 60"), workdir="/")
        talk.until(b"<on>", stdin=b"", timeout_s=60)
        between.cut()
        with pytest.raises(EngineUnavailableError, match="is gone"):
            talk.end(stdin=b"", timeout_s=60)


def test_a_silent_engine_keeps_nobody_from_going(
    between: Proxy, engine: DockerEngine, base: Image
) -> None:
    """Ctrl-C: with the usual patience this test would not end in its time."""
    engine._api.timeout = ANSWER_S
    engine.SILENT_S = SOON_S
    running = ExitStack()
    running.enter_context(engine.run(base, LIMITS))
    between.freeze()
    engine.close()
    with pytest.raises(EngineUnavailableError, match=SILENT):
        running.close()


def test_what_a_silent_engine_kept_is_removed_when_it_speaks_again(
    between: Proxy, engine: DockerEngine, base: Image
) -> None:
    with engine.run(base, LIMITS) as container:
        between.freeze()
        with pytest.raises(EngineUnavailableError):
            container.exec(("true",), timeout_s=SOON_S)
        between.thaw()
    engine.close()
    api = APIClient(base_url=f"unix://{SOCKET}", version="auto")
    assert api.containers(all=True, filters={"label": f"{SESSION_LABEL}={engine._session}"}) == []
    api.close()
