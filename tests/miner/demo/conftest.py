"""A forge without a package index, one with it, and a caller for both."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
import stamina

from miner.demo import Forge, ForgeData, build_forge, made_forge, serve
from miner.demo.graph import Graph
from miner.demo.objects import Objects
from miner.demo.quota import Quota
from miner.demo.world import World
from tests.fakes.progress import SilentProgress

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> ForgeData:
    """The two made projects: nothing is fetched."""
    return made_forge(tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> ForgeData:
    """The whole demo, from the package index; for tests marked `network`."""
    return build_forge(tmp_path_factory.mktemp("demo"), progress=SilentProgress())


@pytest.fixture
def forge(made: ForgeData) -> Iterator[Forge]:
    """The made projects, served."""
    with serve(made) as running:
        yield running


@dataclass(frozen=True)
class Asked:
    """An HTTP answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    @property
    def json(self) -> object:
        return json.loads(self.body)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """A 301 is an answer here."""


def ask(
    forge: Forge,
    path: str,
    *,
    token: str | None = "",
    headers: Mapping[str, str] | None = None,
    body: object = None,
) -> Asked:
    """One call. `token` "" is the forge's own, None sends none."""
    sent = dict(headers or {})
    if token is not None:
        sent["Authorization"] = f"Bearer {token or forge.token}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(forge.base_url + path, data=data, headers=sent)  # noqa: S310  loopback
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect)
    try:
        with opener.open(request, timeout=20) as answer:
            got = {name.lower(): value for name, value in answer.headers.items()}
            return Asked(answer.status, got, answer.read())
    except urllib.error.HTTPError as error:
        with error:
            got = {name.lower(): value for name, value in error.headers.items()}
            return Asked(error.code, got, error.read())


Query = Callable[..., Mapping[str, object]]


@pytest.fixture
def query(made: ForgeData) -> Query:
    """Runs a GraphQL text over the made projects; gives the whole answer."""
    return querier(World(made))


def querier(world: World, *, limits: Mapping[str, int] | None = None) -> Query:
    """A runner of GraphQL texts over a world, with a budget of its own."""
    graph = Graph(Objects(world, web_url="https://github.com"))
    quota = Quota(lambda: NOW, limits=limits)

    def run(text: str, **variables: object) -> Mapping[str, object]:
        answer = graph.answer(
            text, variables, charge=lambda points: quota.charge("t", "graphql", points)
        )
        return answer.body

    return run


def dig(value: object, *path: str | int) -> object:
    """A value deep in an answer."""
    for step in path:
        if isinstance(step, int):
            assert isinstance(value, list)
            value = value[step]
        else:
            assert isinstance(value, Mapping)
            value = value[step]
    return value


@pytest.fixture
def quick_retries() -> Iterator[None]:
    """stamina retries without waiting."""
    with stamina.set_testing(True, attempts=4):
        yield
