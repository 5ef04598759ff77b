"""The database's server goes away in the middle of a command: one sentence, 75, and the same again.

PostgreSQL is reached through a socket of ours, which cuts every connection when it is told to.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy.engine import make_url

from miner.demo import Forge, ForgeData, serve
from miner.publish.stage import plan
from miner.store import open_store, upgrade
from tests.e2e.conftest import Machine, machine
from tests.fakes.proxy import Proxy, tcp_proxy
from tests.miner.store.conftest import postgres_schema

pytestmark = [
    pytest.mark.docker,
    pytest.mark.network,
    pytest.mark.postgres,
    pytest.mark.timeout(600),
]

RUN = ("run", "--repo", "demo/tally", "--repo", "demo/parse", "--repo", "demo/xmltodict")


@pytest.fixture(scope="module")
def forge(forge_data: ForgeData) -> Iterator[Forge]:
    """All the demo's repositories, served."""
    with serve(forge_data) as served:
        yield served


@pytest.fixture
def url(postgres_url: str) -> Iterator[str]:
    """A migrated schema of its own."""
    with postgres_schema(postgres_url) as made:
        upgrade(made)
        yield made


@pytest.fixture
def between(postgres_url: str) -> Iterator[Proxy]:
    server = make_url(postgres_url)
    with tcp_proxy(str(server.host), server.port or 5432) as made:
        yield made


def home(folder: Path, forge: Forge, url: str) -> Machine:
    return machine(
        folder,
        MINER_DATABASE_URL=url,
        MINER_GITHUB_URL=forge.base_url,
        GITHUB_TOKEN=forge.token,
        MINER_POLICY="quick",
    )


def past(between: Proxy, url: str) -> str:
    """The same database, through the socket."""
    host, _, port = between.url.partition(":")
    return make_url(url).set(host=host, port=int(port)).render_as_string(hide_password=False)


def facts(url: str) -> tuple[object, ...]:
    """What the database holds, and what would be published."""
    with open_store(url) as store:
        drawn, _ = plan(
            store.publish,
            name="2026-01-01",
            window=(None, None),
            dockerfile=lambda instance: instance.environment.recipe.python,
            now=datetime(2026, 1, 1, tzinfo=UTC),
        )
        return store.admin.funnel(), drawn.content_hash, store.admin.status().work


@contextmanager
def cut_at(line: str, between: Proxy, home: Machine, *words: str) -> Iterator[str]:
    """The command loses its database when it says that; what it said after it ended with 75."""
    process = home.start(*words)
    assert process.stderr is not None
    for said in process.stderr:
        if said.startswith(line):
            between.cut()
            break
    _, rest = process.communicate(timeout=300)
    between.mend()
    assert process.returncode == 75, rest
    yield rest


def is_a_sentence(said: str) -> None:
    assert "Traceback" not in said
    last = said.splitlines()[-1]
    assert last.startswith("miner: ")
    assert "cannot be reached" in last or "ended a connection" in last


def test_a_run_that_loses_its_database_is_given_again(
    tmp_path: Path, forge: Forge, url: str, between: Proxy, postgres_url: str
) -> None:
    through = home(tmp_path / "a", forge, past(between, url))
    with cut_at("verify 1/", between, through, *RUN) as rest:
        is_a_sentence(rest)
    again = home(tmp_path / "a", forge, url).run(*RUN)
    assert again.code == 0, again.err
    with postgres_schema(postgres_url) as other:
        upgrade(other)
        quiet = home(tmp_path / "b", forge, other).run(*RUN)
        assert quiet.code == 0, quiet.err
        assert facts(url) == facts(other)


def test_an_evaluation_that_loses_its_database_is_given_again(
    tmp_path: Path, forge: Forge, url: str, between: Proxy
) -> None:
    here, through = home(tmp_path, forge, url), home(tmp_path, forge, past(between, url))
    assert here.run(*RUN).code == 0
    assert here.run("publish", "--name", "2026-01-01").code == 0
    with cut_at("evaluate begins", between, through, "evaluate", "--gold") as rest:
        is_a_sentence(rest)
    again = here.run("evaluate", "--gold", "--json")
    assert again.code == 0, again.err
    with open_store(url) as store:
        found = store.evaluate.evaluations(dataset="2026-01-01", run_id="gold")
    assert {each.state for each in found} == {"resolved"}
