"""Which tests run here: services by flag, sockets closed to all but loopback.

A test marked `docker`, `postgres` or `network` is deselected without `--run-docker`,
`--run-postgres` or `--run-network`; with the flag a missing service fails the whole run, so that a
gate never passes because its machine lost a daemon.
"""

import os
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import hypothesis
import psycopg
import pytest
import pytest_socket

from miner.store import Database, open_store, upgrade
from tests.leftovers import no_process_left, pytest_unconfigure
from validators.engines import connect
from validators.errors import ValidatorError

# a busy machine takes longer than hypothesis' 200 ms over an example, and that is no fault
hypothesis.settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("untimed")

__all__ = ["no_process_left", "pytest_unconfigure"]

SERVICES = ("docker", "postgres", "network")
LOOPBACK = ["127.0.0.1", "::1", "localhost"]
ENGINE_ENV = "MINER_ENGINE"
POSTGRES_ENV = "MINER_TEST_POSTGRES_URL"


def pytest_configure() -> None:
    """Ctrl-C works for the commands that tests start, even when we run behind `&` or nohup.

    There a shell has it ignored, and what is ignored is inherited.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """One flag a service."""
    group = parser.getgroup("services")
    for service in SERVICES:
        group.addoption(
            f"--run-{service}",
            action="store_true",
            default=False,
            help=f"also run the tests marked `{service}`; fails when it is missing",
        )
    group.addoption(
        "--postgres-url",
        default=os.environ.get(POSTGRES_ENV),
        help=f"database in which each test makes a schema of its own (default: ${POSTGRES_ENV})",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests whose service was not asked for."""
    off = {name for name in SERVICES if not config.getoption(f"--run-{name}")}
    left_out = [item for item in items if any(item.get_closest_marker(name) for name in off)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        dropped = set(left_out)
        items[:] = [item for item in items if item not in dropped]


def pytest_sessionstart(session: pytest.Session) -> None:
    """Stop at once when a service that was asked for does not answer."""
    probes: Mapping[str, Callable[[pytest.Config], str | None]] = {
        "docker": _docker_trouble,
        "postgres": _postgres_trouble,
    }
    for name, trouble in probes.items():
        if session.config.getoption(f"--run-{name}") and (why := trouble(session.config)):
            pytest.exit(
                f"--run-{name} was given, but {why}", returncode=pytest.ExitCode.USAGE_ERROR
            )


def _docker_trouble(config: pytest.Config) -> str | None:
    try:
        connect(os.environ.get(ENGINE_ENV) or None).close()
    except ValidatorError as error:
        return str(error)
    return None


def _postgres_trouble(config: pytest.Config) -> str | None:
    url = config.getoption("--postgres-url")
    if not url:
        return f"no database is named; give --postgres-url or set {POSTGRES_ENV}"
    try:
        psycopg.connect(
            url.replace("postgresql+psycopg://", "postgresql://"), connect_timeout=5
        ).close()
    except psycopg.OperationalError as error:
        return f"the database does not answer: {str(error).splitlines()[0]}"
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Close the network to tests that do not name a service (pytest-socket opens it again)."""
    if not any(item.get_closest_marker(name) for name in SERVICES):
        pytest_socket.socket_allow_hosts(LOOPBACK, allow_unix_socket=True)


@pytest.fixture(scope="session")
def postgres_url(pytestconfig: pytest.Config) -> str:
    """SQLAlchemy URL of the test server's database: `postgresql+psycopg://…`."""
    url: str = pytestconfig.getoption("--postgres-url")
    return url.replace("postgresql://", "postgresql+psycopg://", 1)


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file made by the migrations, to be copied."""
    path = tmp_path_factory.mktemp("migrated") / "miner.db"
    upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture
def url(migrated_file: Path, tmp_path: Path) -> str:
    """URL of a migrated SQLite database. Store tests have it on every database."""
    return f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'miner.db')}"


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    """It, open and empty."""
    with open_store(url) as opened:
        yield opened
