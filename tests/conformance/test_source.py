"""What every source must keep to, held against a forge that it can be pointed at."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from miner.crawl import SOURCES, Source
from miner.crawl.source import Fetched
from miner.crawl.tape import Player, Recorder
from miner.demo import Forge, ForgeData, made_forge, serve
from miner.errors import ConfigError
from miner.http import HttpClient, HttpxTransport
from miner.model import PullRequest
from miner.wire import Token, Transport

REPO = "demo/tally"
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> ForgeData:
    return made_forge(tmp_path_factory.mktemp("forge"))


@pytest.fixture
def forge(data: ForgeData) -> Iterator[Forge]:
    with serve(data) as running:
        yield running


@contextmanager
def opened(name: str, forge: Forge, transport: Transport | None = None) -> Iterator[Source]:
    with HttpClient(forge.base_url, tokens=[Token(forge.token)], transport=transport) as client:
        yield SOURCES[name](client)


def pulls_of(source: Source, *, since: datetime | None = None) -> list[PullRequest]:
    pages = source.pages(source.repo(REPO), since=since)
    items = [item for page in pages for item in page.items]
    fetched = [item for item in items if isinstance(item, Fetched)]
    assert len(fetched) == len(items)
    return [item.pull for item in fetched]


@pytest.mark.parametrize("name", SOURCES)
class TestSource:
    """Promises of `miner.crawl.source.Source`."""

    def test_it_bears_the_name_it_is_registered_by(self, name: str, forge: Forge) -> None:
        with opened(name, forge) as source:
            assert source.name == name
            assert source.repo(REPO).source == name

    def test_pulls_come_newest_update_first(self, name: str, forge: Forge) -> None:
        with opened(name, forge) as source:
            updates = [pull.updated_at for pull in pulls_of(source)]
        assert len(updates) > 1
        assert updates == sorted(updates, reverse=True)

    def test_since_is_respected_and_includes_its_own_moment(self, name: str, forge: Forge) -> None:
        with opened(name, forge) as source:
            everything = pulls_of(source)
            middle = everything[len(everything) // 2].updated_at
            later = pulls_of(source, since=middle)
            none = pulls_of(source, since=everything[0].updated_at + timedelta(seconds=1))
        wanted = [pull.number for pull in everything if pull.updated_at >= middle]
        assert [pull.number for pull in later] == wanted
        assert none == []

    def test_every_time_is_aware_and_utc(self, name: str, forge: Forge) -> None:
        with opened(name, forge) as source:
            for pull in pulls_of(source):
                times = [pull.created_at, pull.merged_at, pull.updated_at, pull.fetched_at]
                times += [commit.authored_at for commit in pull.commits]
                times += [issue.created_at for issue in pull.issues]
                assert all(moment.utcoffset() == timedelta(0) for moment in times)

    def test_a_pull_comes_with_what_a_base_is_checked_by(self, name: str, forge: Forge) -> None:
        with opened(name, forge) as source:
            for pull in pulls_of(source):
                assert pull.files
                assert pull.merge_commit
                assert pull.head_commit
                assert (pull.base.commit, pull.diff) == (None, b"")

    def test_the_same_pull_has_the_same_digest(self, name: str, forge: Forge) -> None:
        with opened(name, forge) as source:
            first = {pull.number: pull.raw_digest for pull in pulls_of(source)}
            second = {pull.number: pull.raw_digest for pull in pulls_of(source)}
        assert first == second

    def test_an_unchanged_repository_costs_no_quota(self, name: str, forge: Forge) -> None:
        with opened(name, forge) as source:
            repo = source.repo(REPO)
            _, mark = source.changed(repo, etag=None)
            before = forge.requests.counted()
            assert source.changed(repo, etag=mark)[0] is False
        assert forge.requests.counted() == before

    def test_an_unknown_repository_is_told_with_the_closest(self, name: str, forge: Forge) -> None:
        with opened(name, forge) as source, pytest.raises(ConfigError, match=REPO):
            source.repo("demo/tali")

    def test_live_equals_replay_and_no_secret_is_on_the_tape(
        self, name: str, forge: Forge, tmp_path: Path
    ) -> None:
        tape = tmp_path / "crawl.jsonl"
        token = Token(forge.token)
        network = HttpxTransport()
        recorder = Recorder(network, tape, base_url=forge.base_url, secrets=[token])
        with opened(name, forge, recorder) as source:
            live = pulls_of(source)
        player = Player(tape)
        with HttpClient(player.base_url, transport=player) as client:
            replayed = pulls_of(SOURCES[name](client))
        assert [replace(pull, fetched_at=EPOCH) for pull in replayed] == [
            replace(pull, fetched_at=EPOCH) for pull in live
        ]
        assert forge.token not in tape.read_text()
        assert "authorization" not in tape.read_text().lower()
        assert json.loads(tape.read_text().splitlines()[0])["base_url"] == forge.base_url
