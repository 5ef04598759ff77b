"""Settings → store, source, mirrors, workshop, executor. Nobody below `cli` sees the settings."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pydantic import SecretStr

from miner import config
from miner.crawl.github.app import installation_token
from miner.errors import ConfigError
from miner.executors import executor as make_executor
from miner.git import Mirrors
from miner.http import HttpClient
from miner.split.policy import GatePolicy, policy_from_json
from miner.store import Database, check, open_store
from miner.verify.advisor import EndpointAdvisor
from miner.wire import Token
from validators.engine import ContainerEngine
from validators.engines import connect
from validators.model import POLICIES, BuildSettings, Policy
from validators.workshop import Workshop


def now() -> datetime:
    """The clock of every command."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class House:
    """The rooms of one program run, opened as they are needed."""

    settings: config.Settings

    @classmethod
    def of_environment(cls) -> "House":
        """As the environment says."""
        return cls(config.load())

    @contextmanager
    def store(self) -> Iterator[Database]:
        """The database, when it fits this version of the code."""
        if self.data_dir.exists() and not self.data_dir.is_dir():
            raise ConfigError(f"MINER_DATA_DIR: {self.data_dir} is a file; name a folder.")
        check(self.settings.database)
        self.data_dir.mkdir(parents=True, exist_ok=True)
        with open_store(self.settings.database) as database:
            yield database

    @property
    def data_dir(self) -> Path:
        """Where mirrors, caches and the SQLite file are."""
        return self.settings.data_dir.resolve()

    def mirrors(self) -> Mirrors:
        """The git mirrors."""
        return Mirrors(self.data_dir / "mirrors", ca_bundle=self.settings.ca_bundle)

    def client(self) -> HttpClient:
        """The one way to the API."""
        return HttpClient(
            self.settings.github_url, tokens=self.tokens(), ca_bundle=self.settings.ca_bundle
        )

    def tokens(self) -> tuple[Token, ...]:
        """The tokens of the settings, then those of App installations, which renew themselves."""
        given = [Token(token.get_secret_value()) for token in self.settings.github_tokens]
        apps = [
            installation_token(
                app.app_id,
                app.private_key,
                app.installation_id,
                base_url=self.settings.github_url,
                ca_bundle=self.settings.ca_bundle,
            )
            for app in self.settings.apps()
        ]
        return (*given, *apps)

    def need_token(self) -> None:
        """ConfigError without a token: GraphQL answers nobody else."""
        if not self.settings.github_tokens and not self.settings.github_apps:
            raise ConfigError(
                "Crawling needs a GitHub token; set GITHUB_TOKEN or MINER_GITHUB_TOKENS "
                "(read access to public repositories is enough)."
            )

    @contextmanager
    def token_client(self) -> Iterator[HttpClient]:
        """The API with a token. ConfigError without one."""
        self.need_token()
        with self.client() as client:
            yield client

    def workshop(self) -> Workshop:
        """What any worker needs to examine and grade."""
        settings = BuildSettings(
            base_images=self.settings.base_images,
            ca_bundle=self.settings.named_bundle,
            index_url=self.settings.index_url,
        )
        here = self.settings.executor == "threads"
        return Workshop(
            engine_url=self.settings.engine,
            settings=settings,
            advisor=self._advisor(),
            tests_at_once=self.settings.workers if here else None,
        )

    def _advisor(self) -> EndpointAdvisor | None:
        """Whom to ask for a recipe where inference is spent; nobody unless one is named."""
        url, model, key = (
            self.settings.advisor_url,
            self.settings.advisor_model,
            self.settings.advisor_key,
        )
        if url is None or model is None:
            return None
        return EndpointAdvisor(
            url=url,
            model=model,
            key=None if key is None else key.get_secret_value(),
            ca_bundle=self.settings.ca_bundle,
        )

    @contextmanager
    def engine(self) -> Iterator[ContainerEngine]:
        """The container engine; closed, its containers are gone."""
        engine = connect(self.settings.engine)
        try:
            yield engine
        finally:
            engine.close()

    def ready_engine(self) -> None:
        """See that an engine answers where work runs here, and end what a killed miner left."""
        if self.settings.executor == "threads":
            with self.engine() as engine:
                engine.sweep()

    def executor(self) -> AbstractContextManager[Executor]:
        """Where verification and grading run; leaving it waits for what still runs.

        Here there is one thread more than workers, for what is made ready before its turn.
        """
        return make_executor(
            self.settings.executor,
            workers=self.settings.workers + 1,
            address=self.settings.dask_address,
        )

    def policy(self, name: str | None, *, p2p: str = "files") -> Policy:
        """The named verification policy, else the settings'; `p2p` is "files" or "suite"."""
        if p2p not in {"files", "suite"}:
            raise ConfigError(f"PASS_TO_PASS is looked for in files or suite, not in {p2p!r}.")
        wanted = (name or self.settings.policy) + ("-suite" if p2p == "suite" else "")
        if wanted not in POLICIES:
            raise ConfigError(
                f"There is no verification policy {name!r}; known are quick and full."
            )
        return POLICIES[wanted]


def gate_policy(store: Database) -> GatePolicy:
    """The gate policy in force: the newest that was set, else the default."""
    stored = store.admin.gate_policy()
    return GatePolicy() if stored is None else policy_from_json(stored.document)


def demo_house(house: House, *, data_dir: Path, github_url: str, token: str) -> House:
    """The same machine, but the demo's forge and the demo's own folder: nobody else is asked."""
    settings = house.settings.model_copy(
        update={
            "data_dir": data_dir,
            "database_url": None,
            "github_url": github_url,
            "github_tokens": (SecretStr(token),),
            "github_apps": (),
            "advisor_url": None,
            "advisor_model": None,
            "advisor_key": None,
            "policy": "quick",
        }
    )
    return replace(house, settings=settings)
