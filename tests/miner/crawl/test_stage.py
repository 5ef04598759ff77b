"""The crawl's loop: watermarks, mirrors, failures, and being killed."""

import json
import random
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from miner.crawl.github import GitHub
from miner.crawl.stage import crawl
from miner.errors import (
    ConfigError,
    NoPermissionError,
    RateLimitedError,
    SourceUnavailableError,
)
from miner.git import Mirrors
from miner.http import HttpClient
from miner.model import EVER, Gate, IncompleteError, MergeMethod, Place, PullRequest, StageReport
from miner.progress import Progress
from miner.wire import Request, Response, Token
from tests.fakes.progress import SilentProgress
from tests.miner.crawl.fake_github import BASE_URL, FakeGitHub, answered, at, pull, repository
from tests.miner.crawl.memory_store import KilledError, MemoryStore
from tests.miner.crawl.scene import merged_repository
from tests.miner.git.repository import Repository

NOW = datetime(2024, 2, 1, tzinfo=UTC)
SECRET = "ghp_verysecret"
Node = dict[str, Any]


class Scene:
    """A fake API, mirrors and a store."""

    def __init__(self, folder: Path, fake: FakeGitHub) -> None:
        self.fake = fake
        self.mirrors = Mirrors(folder / "mirrors")
        self.store = MemoryStore(names=[repo["name"] for repo in fake.repos])
        self.progress: Progress = SilentProgress()

    def crawl(self, *repos: str, since: datetime | None = None) -> StageReport:
        """One crawl, by a process of its own: nothing is remembered but store and mirrors."""
        client = HttpClient(
            BASE_URL, tokens=[Token(SECRET)], transport=self.fake, clock=lambda: NOW,
            sleep=lambda _: pytest.fail("it slept"), max_wait_s=0,
        )  # fmt: skip
        return crawl(
            self.store,
            source=GitHub(client, now=lambda: NOW),
            mirrors=self.mirrors,
            repos=repos,
            since=since,
            now=lambda: NOW,
            progress=self.progress,
        )


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Node]:
    """Three repositories, made once; tests change copies of what the API tells of them."""
    folder = tmp_path_factory.mktemp("upstream")
    return (
        merged_repository(folder / "r", pulls=6),
        merged_repository(folder / "one", pulls=2, name="o/one"),
        merged_repository(folder / "two", pulls=2, name="o/two", database_id=2),
    )


@pytest.fixture
def scene(tmp_path: Path, upstream: Sequence[Node]) -> Scene:
    return Scene(tmp_path, FakeGitHub(deepcopy(upstream[0])))


@pytest.fixture
def two(tmp_path: Path, upstream: Sequence[Node]) -> Scene:
    return Scene(tmp_path, FakeGitHub(*deepcopy(upstream[1:])))


def test_every_merge_method_gets_its_base_and_diff(scene: Scene) -> None:
    report = scene.crawl()
    stored = {p.number: p for p in scene.store.pulls.values()}
    assert report.done == 6
    assert {n: p.base.method for n, p in stored.items()} == {
        n: (MergeMethod.MERGE, MergeMethod.SQUASH, MergeMethod.REBASE)[n % 3] for n in range(1, 7)
    }
    assert all(b"+x = " in p.diff and b"other" not in p.diff for p in stored.values())
    assert report.counts["base_unresolved"] == 0


def test_the_watermark_is_the_newest_update(scene: Scene) -> None:
    scene.crawl()
    assert scene.store.marks[1][0] == datetime(2024, 1, 7, 6, tzinfo=UTC)


def test_a_second_crawl_of_unchanged_repositories_costs_nothing(scene: Scene) -> None:
    scene.crawl()
    before, counted = scene.store.content(), scene.fake.counted
    report = scene.crawl()
    assert scene.fake.counted == counted
    assert scene.store.content() == before
    assert report.counts == {"repositories_unchanged": 1}


def test_only_what_moved_is_read_again(scene: Scene) -> None:
    scene.crawl()
    first = dict(scene.store.pulls)
    scene.fake.repos[0]["pulls"][1] |= {"body": "later text", "updatedAt": at(20)}
    report = scene.crawl()
    new = [scene.store.pulls[key] for key in scene.store.pulls if key not in first]
    assert [(p.number, p.body) for p in new] == [(2, "later text")]
    assert report.done == 1
    assert report.counts["known"] == 1  # by the overlap, without git work


def test_what_the_index_told_late_is_found_by_the_overlap(scene: Scene) -> None:
    pulls = scene.fake.repos[0]["pulls"]
    pulls[0] |= {"updatedAt": at(25)}
    scene.crawl()
    pulls[1] |= {"updatedAt": at(24, 23), "body": "told late"}
    pulls[2] |= {"updatedAt": at(26)}
    scene.crawl()
    assert "told late" in {p.body for p in scene.store.pulls.values() if p.number == 2}


def test_a_later_since_leaves_nothing_out(scene: Scene) -> None:
    scene.crawl(since=datetime(2024, 1, 6, tzinfo=UTC))
    assert {p.number for p in scene.store.pulls.values()} == {5, 6}
    scene.fake.repos[0]["pulls"][0] |= {"updatedAt": at(25)}
    scene.crawl(since=datetime(2024, 1, 30, tzinfo=UTC))
    assert {p.number for p in scene.store.pulls.values()} == {1, 5, 6}


def test_an_earlier_since_counts_where_a_later_one_found_nothing(scene: Scene) -> None:
    scene.progress = notes = Notes()
    scene.crawl(since=datetime(2024, 1, 30, tzinfo=UTC))
    assert notes.told == ["o/r: 0 new pulls updated since 2024-01-30 00:00 UTC"]
    scene.crawl(since=datetime(2024, 1, 6, tzinfo=UTC))
    assert {p.number for p in scene.store.pulls.values()} == {5, 6}


def test_a_kept_place_is_gone_on_from_though_nothing_moved(scene: Scene) -> None:
    scene.crawl()
    scene.store.pulls.clear()
    scene.store.places[1] = Place(after=json.dumps([at(28), 999]), newest=NOW)
    scene.crawl()
    assert {p.number for p in scene.store.pulls.values()} == {6}  # up to the watermark
    assert scene.store.places == {}


def test_what_an_earlier_since_asks_for_is_read_back_once(scene: Scene) -> None:
    scene.crawl(since=datetime(2024, 1, 6, tzinfo=UTC))
    assert {p.number for p in scene.store.pulls.values()} == {5, 6}
    earlier = datetime(2024, 1, 4, tzinfo=UTC)
    scene.progress = notes = Notes()
    report = scene.crawl(since=earlier)
    assert {p.number for p in scene.store.pulls.values()} == {3, 4, 5, 6}
    assert report.done == 2
    assert notes.told == ["o/r: 2 new pulls updated since 2024-01-04 00:00 UTC"]
    assert scene.store.depths[1].back_to == earlier
    assert scene.store.marks[1][0] == datetime(2024, 1, 7, 6, tzinfo=UTC)
    counted = scene.fake.counted
    for again in (earlier, datetime(2024, 1, 5, tzinfo=UTC), None):
        assert scene.crawl(since=again).counts == {"repositories_unchanged": 1}
    assert scene.fake.counted == counted
    scene.crawl(since=datetime(2020, 1, 1, tzinfo=UTC))
    assert {p.number for p in scene.store.pulls.values()} == {1, 2, 3, 4, 5, 6}


def test_what_is_new_and_what_is_missing_are_read_by_one_crawl(scene: Scene) -> None:
    scene.crawl(since=datetime(2024, 1, 6, tzinfo=UTC))
    scene.fake.repos[0]["pulls"][0] |= {"body": "later text", "updatedAt": at(20)}
    scene.crawl(since=datetime(2024, 1, 5, tzinfo=UTC))
    assert {p.number for p in scene.store.pulls.values()} == {1, 4, 5, 6}
    assert scene.store.marks[1][0] == datetime(2024, 1, 20, tzinfo=UTC) + timedelta(
        hours=int(at(20)[11:13])
    )


def test_a_whole_history_lacks_nothing(scene: Scene) -> None:
    scene.crawl()
    assert scene.store.depths[1].back_to == EVER
    report = scene.crawl(since=datetime(2000, 1, 1, tzinfo=UTC))
    assert report.counts == {"repositories_unchanged": 1}


def test_of_what_an_earlier_version_read_only_the_newest_is_known(scene: Scene) -> None:
    scene.crawl(since=datetime(2024, 1, 6, tzinfo=UTC))
    scene.store.depths.clear()
    scene.crawl(since=datetime(2024, 1, 30, tzinfo=UTC))
    assert {p.number for p in scene.store.pulls.values()} == {5, 6}
    assert scene.store.depths == {}
    scene.crawl(since=datetime(2024, 1, 5, tzinfo=UTC))
    assert {p.number for p in scene.store.pulls.values()} == {4, 5, 6}


def test_a_first_crawl_that_found_nothing_is_gone_on_from_without_since(scene: Scene) -> None:
    scene.crawl(since=datetime(2024, 1, 30, tzinfo=UTC))
    scene.fake.repos[0]["pulls"][0] |= {"updatedAt": at(31)}
    scene.crawl()
    assert {p.number for p in scene.store.pulls.values()} == {1}


class Notes(SilentProgress):
    """Remembers how items ended."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def advance(self, what: str, note: str, *, by: int = 1) -> None:  # noqa: ARG002 - a protocol's
        """Remember the note of an item that is done."""
        if by:
            self.told.append(note)


def test_a_pull_whose_numbers_do_not_fit_is_kept_unresolved(scene: Scene) -> None:
    scene.fake.repos[0]["pulls"][0]["files"][0]["additions"] = 99
    report = scene.crawl()
    (odd,) = [p for p in scene.store.pulls.values() if p.number == 1]
    assert (odd.base.commit, odd.diff) == (None, b"")
    assert odd.base.detail
    assert report.counts["base_unresolved"] == 1


@pytest.mark.parametrize("merge", [None, {"oid": "z", "message": "", "committedDate": at(1)}])
def test_a_pull_without_a_usable_merge_commit_is_kept_unresolved(
    scene: Scene, merge: dict[str, str] | None
) -> None:
    scene.fake.repos[0]["pulls"][0]["mergeCommit"] = merge
    assert scene.crawl().done == 6
    (odd,) = [p for p in scene.store.pulls.values() if p.number == 1]
    assert odd.base.commit is None


def test_a_malformed_pull_is_rejected_and_the_rest_stored(scene: Scene) -> None:
    scene.fake.repos[0]["pulls"][0]["title"] = None
    report = scene.crawl()
    (rejection,) = scene.store.rejections.values()
    assert (rejection.pull_number, rejection.gate) == (1, Gate.MALFORMED_PAYLOAD)
    assert "title" in rejection.detail
    assert (report.done, report.rejected) == (5, 1)
    assert scene.store.marks[1][0] is not None


def test_a_repository_that_fails_is_recorded_and_the_rest_goes_on(
    two: Scene, tmp_path: Path
) -> None:
    scene = two
    scene.fake.repos[0]["clone_url"] = str(tmp_path / "nowhere")
    scene.store.names = ["o/one", "o/two"]
    with pytest.raises(IncompleteError, match="o/one") as caught:
        scene.crawl()
    assert caught.value.report.done == 2
    assert [name for name, _ in scene.store.failures] == ["o/one"]
    assert 1 not in scene.store.marks  # still due


def test_an_unknown_repository_alone_is_a_persons_mistake(scene: Scene) -> None:
    with pytest.raises(ConfigError, match="did you mean o/r"):
        scene.crawl("o/rr")


def test_a_repository_without_permission_is_told_as_such(two: Scene) -> None:
    no = {"message": "Resource not accessible by personal access token"}

    def refuse(request: Request) -> Response | None:
        return answered(request, no, status=403) if "/o/one" in request.url else None

    two.fake.faults.append(refuse)
    with pytest.raises(NoPermissionError, match=r"may not read .*o/one.*not accessible") as caught:
        two.crawl("o/one")
    assert caught.value.exit_code == 2
    with pytest.raises(IncompleteError, match="not accessible"):
        two.crawl("o/one", "o/two")
    assert {pull.repo for pull in two.store.pulls.values()} == {"o/two"}


def test_an_unknown_repository_among_others_does_not_stop_them(scene: Scene) -> None:
    with pytest.raises(IncompleteError, match="o/gone"):
        scene.crawl("o/gone", "o/r")
    assert len(scene.store.pulls) == 6


def test_a_deleted_repository_is_buried_and_rises_when_it_is_back(scene: Scene) -> None:
    scene.crawl()
    repo = scene.fake.repos.pop()
    assert scene.crawl("o/r").counts == {"repositories_gone": 1}
    assert scene.store.tombs == {1: "deleted"}
    assert len(scene.store.pulls) == 6
    scene.fake.repos.append(repo)
    repo["pulls"].append(pull(9, mergedAt=None, updatedAt=at(28)))
    scene.crawl("o/r")
    assert scene.store.tombs == {}


@pytest.mark.parametrize(("status", "reason"), [(451, "dmca"), (403, "tos")])
def test_a_blocked_repository_is_buried(scene: Scene, status: int, reason: str) -> None:
    scene.crawl()
    block = {"message": "Repository access blocked", "block": {"reason": reason}}
    scene.fake.faults.append(lambda r: answered(r, block, status=status))
    assert scene.crawl().counts == {"repositories_gone": 1}
    assert scene.store.tombs == {1: reason}


def test_a_revoked_token_stops_everything(two: Scene) -> None:
    scene = two
    calls = 0

    def revoked(request: Request) -> Response | None:
        nonlocal calls
        calls += 1
        bad = {"message": "Bad credentials"}
        return answered(request, bad, status=401) if calls > 6 else None

    scene.fake.faults.append(revoked)
    with pytest.raises(ConfigError, match="refuses the token"):
        scene.crawl()
    assert calls == 7
    scene.fake.faults.clear()
    scene.crawl()
    assert len(scene.store.pulls) == 4


def test_a_limit_past_all_waiting_stops_everything(two: Scene) -> None:
    scene = two
    scene.fake.faults.append(
        lambda r: answered(r, {"message": "API rate limit exceeded"}, status=403,
                           headers={"x-ratelimit-remaining": "0"})
    )  # fmt: skip
    with pytest.raises(RateLimitedError):
        scene.crawl()
    assert len(scene.fake.requests) == 1


def test_a_renamed_repository_keeps_its_rows(scene: Scene) -> None:
    scene.crawl()
    scene.fake.repos[0] |= {"name": "o/new", "former": ["o/r"]}
    scene.fake.repos[0]["pulls"][0] |= {"updatedAt": at(25)}
    scene.crawl("o/r")
    assert scene.store.repos[1].name == "o/new"
    assert {key[0] for key in scene.store.pulls} == {1}
    counted = scene.fake.counted
    scene.crawl("o/r")
    assert scene.fake.counted == counted  # asked by its present name


def test_a_merge_into_a_branch_that_is_gone_gets_its_base(tmp_path: Path) -> None:
    git = Repository(tmp_path / "up")
    base = git.commit({"a.py": "x = 0\n"}, "Begin")
    git.git("config", "uploadpack.allowAnySHA1InWant", "true")
    git.git("checkout", "--quiet", "-b", "release")
    merge = git.commit({"a.py": "x = 1\n"}, "Fix (#1)")
    git.git("checkout", "--quiet", "main")
    git.git("branch", "-D", "release")
    changed = [{"path": "a.py", "additions": 1, "deletions": 1, "changeType": "MODIFIED"}]
    told = {"oid": merge, "message": "Fix (#1)", "committedDate": at(11)}
    node = pull(1, mergeCommit=told, headRefOid=merge, files=changed, baseRefName="release")
    fake = FakeGitHub(repository(pulls=[node], clone_url=str(tmp_path / "up")))
    scene = Scene(tmp_path, fake)
    scene.crawl()
    (stored,) = scene.store.pulls.values()
    assert (stored.base.commit, stored.base.merge_tree) == (base, merge)


def test_a_lost_mirror_is_made_again(scene: Scene, tmp_path: Path) -> None:
    scene.crawl()
    scene.mirrors = Mirrors(tmp_path / "elsewhere")
    scene.crawl()
    (kept,) = {p.merge_commit for p in scene.store.pulls.values() if p.number == 1}
    assert scene.mirrors.open("o/r").has(kept)


def test_pulls_merged_and_updated_while_paging_are_found_by_the_next_crawl(
    tmp_path: Path, upstream: Sequence[Node]
) -> None:
    def many() -> Node:
        repo = deepcopy(upstream[0])
        repo["pulls"] += [pull(n, updatedAt=at(10, n % 24)) for n in range(100, 125)]
        return repo

    def later(repo: Node) -> None:
        repo["pulls"].append(pull(200, updatedAt=at(27)))
        repo["pulls"][0] |= {"body": "fixes #1", "updatedAt": at(28)}

    calm = Scene(tmp_path / "calm", FakeGitHub(many()))
    later(calm.fake.repos[0])
    calm.crawl()
    wild = Scene(tmp_path / "wild", FakeGitHub(many()))

    def meanwhile(request: Request) -> Response | None:
        if len(wild.fake.page_sizes) == 1:  # the first page is out
            later(wild.fake.repos[0])
            wild.fake.faults.clear()
        return None

    wild.fake.faults.append(meanwhile)
    wild.crawl()
    wild.crawl()
    newest = {p.number: p for p in wild.store.pulls.values() if p.number in (1, 200)}
    assert newest[1].body == "fixes #1"
    assert set(calm.store.pulls) <= set(wild.store.pulls)
    assert wild.store.marks == calm.store.marks


def many_pulls(count: int) -> list[Node]:
    """Pulls that git knows nothing of: to be paged through."""
    first = datetime(2024, 1, 1, tzinfo=UTC)
    return [
        pull(n, mergeCommit=None, updatedAt=f"{first + timedelta(minutes=n):%Y-%m-%dT%H:%M:%SZ}")
        for n in range(100, 100 + count)
    ]


def limit_after(fake: FakeGitHub, pages: int) -> None:
    """After so many pages of pulls the hour is spent."""

    def limit(request: Request) -> Response | None:
        if len(fake.page_sizes) < pages or not request.body:
            return None
        spent = {"x-ratelimit-remaining": "0"}
        return answered(request, {"message": "spent"}, status=403, headers=spent)

    fake.faults.append(limit)


@pytest.mark.parametrize("again", [1, 2])
def test_a_first_crawl_that_was_ended_goes_on_where_it_stopped(
    tmp_path: Path, upstream: Sequence[Node], again: int
) -> None:
    def vast() -> Node:
        repo = deepcopy(upstream[0])
        repo["pulls"] += many_pulls(300)
        return repo

    calm = Scene(tmp_path / "calm", FakeGitHub(vast()))
    calm.crawl()
    whole = len(calm.fake.page_sizes)
    ended = Scene(tmp_path / "ended", FakeGitHub(vast()))
    for turn in range(1, again + 1):
        limit_after(ended.fake, turn * whole // 3)
        with pytest.raises(RateLimitedError):
            ended.crawl()
        assert ended.store.places[1].newest == calm.store.marks[1][0]
        assert 1 not in ended.store.marks
        ended.fake.faults.clear()
    ended.crawl()
    assert ended.store.content() == calm.store.content()
    assert ended.store.places == {}
    once, paid = sum(calm.fake.page_sizes), sum(ended.fake.page_sizes)
    assert once > 300
    assert paid - once < 40 * again  # the overlap's page and the end of the last one, each time


def test_what_was_updated_while_a_first_crawl_lay_still_is_found(
    tmp_path: Path, upstream: Sequence[Node]
) -> None:
    repo = deepcopy(upstream[0])
    repo["pulls"] += many_pulls(300)
    scene = Scene(tmp_path, FakeGitHub(repo))
    limit_after(scene.fake, 12)
    with pytest.raises(RateLimitedError):
        scene.crawl()
    stored = {p.number for p in scene.store.pulls.values()}
    assert 100 not in stored  # far down
    scene.fake.faults.clear()
    by_number = {node["number"]: node for node in scene.fake.repos[0]["pulls"]}
    by_number[100] |= {"body": "moved up", "updatedAt": at(28)}
    by_number[max(stored)] |= {"body": "changed", "updatedAt": at(29)}
    scene.fake.repos[0]["pulls"].append(pull(999, mergeCommit=None, updatedAt=at(27)))
    scene.crawl()
    newest = {p.number: p.body for p in scene.store.pulls.values()}
    assert set(newest) == set(by_number) | {999}
    assert (newest[100], newest[max(stored)]) == ("moved up", "changed")
    assert scene.store.marks[1][0] == datetime(2024, 1, 29, tzinfo=UTC)


def test_what_was_told_before_a_failure_is_stored(scene: Scene) -> None:
    scene.fake.repos[0]["pulls"] += many_pulls(30)
    limit_after(scene.fake, 2)
    with pytest.raises(RateLimitedError):
        scene.crawl()
    assert len(scene.store.pulls) == 20


@dataclass
class FullQueue(SilentProgress):
    """Says when the fourth batch is handed over, and notes what was read."""

    full: threading.Event = field(default_factory=threading.Event)
    notes: list[str] = field(default_factory=list)

    def advance(self, what: str, note: str, *, by: int = 1) -> None:  # noqa: ARG002
        """See Progress."""
        self.notes += [note] if "pulls read" in note else []
        if len(self.notes) == 4:
            self.full.set()


@dataclass
class FailingStore(MemoryStore):
    """Fails at the first pulls, once as much is waiting as may."""

    full: threading.Event = field(default_factory=threading.Event)

    def save_pulls(self, pulls: Sequence[tuple[PullRequest, bytes]]) -> None:  # noqa: ARG002
        """See Store."""
        self.full.wait()
        raise SourceUnavailableError("the disk is full")


def test_a_failed_store_ends_the_asking_also_where_a_place_is_kept(
    tmp_path: Path, upstream: Sequence[Node]
) -> None:
    repo = deepcopy(upstream[0])
    repo["pulls"] += many_pulls(450)
    scene = Scene(tmp_path, FakeGitHub(repo))
    place = Place(after=json.dumps([at(28), 999]), newest=datetime(2023, 1, 1, tzinfo=UTC))
    progress = FullQueue()
    scene.progress = progress
    scene.store = FailingStore(names=["o/r"], places={1: place}, full=progress.full)
    with pytest.raises(IncompleteError, match="the disk is full"):
        scene.crawl()
    assert len(progress.notes) == 4  # nothing behind the place was read
    assert scene.store.places == {1: place}
    assert [name for name, _ in scene.store.failures] == ["o/r"]


def test_interrupted_it_ends_at_once_and_goes_on_later(two: Scene) -> None:
    threads = threading.active_count()

    def interrupt(request: Request) -> Response | None:
        if "o/two" in request.url:
            raise KeyboardInterrupt
        return None

    two.fake.faults.append(interrupt)
    with pytest.raises(KeyboardInterrupt):
        two.crawl()
    assert threading.active_count() == threads
    two.fake.faults.clear()
    two.crawl()
    assert len(two.store.pulls) == 4


def test_the_same_name_twice_is_one_crawl(scene: Scene) -> None:
    assert scene.crawl("o/r", "o/r").counts["repositories_changed"] == 1


def killed_by_store(scene: Scene, rng: random.Random) -> None:
    scene.store.kill_at = scene.store.writes + rng.randint(1, 9)


def killed_by_request(scene: Scene, rng: random.Random) -> None:
    left = rng.randint(1, 6)

    def kill(request: Request) -> Response | None:
        nonlocal left
        left -= 1
        if left == 0:
            raise KilledError
        return None

    scene.fake.faults.append(kill)


def deep(upstream: Node, *, count: int = 250) -> Node:
    """A repository of several batches, most of them before the first crawl's --since."""
    repo = deepcopy(upstream)
    first = datetime(2023, 1, 1, tzinfo=UTC)
    times = [first + timedelta(hours=n) for n in range(count)]
    repo["pulls"] += [
        pull(100 + n, mergeCommit=None, updatedAt=f"{moment:%Y-%m-%dT%H:%M:%SZ}")
        for n, moment in enumerate(times)
    ]
    return repo


LATE, EARLY = datetime(2024, 1, 4, tzinfo=UTC), datetime(2023, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize("seed", range(12))
def test_killed_while_reading_back_and_run_again_ends_the_same(
    tmp_path: Path, upstream: Sequence[Node], seed: int
) -> None:
    rng = random.Random(seed)  # noqa: S311 - a seeded fault point
    scenes = [Scene(tmp_path / each, FakeGitHub(deep(upstream[0]))) for each in ("calm", "wild")]
    calm, wild = scenes
    for scene in scenes:
        scene.crawl(since=LATE)
    calm.crawl(since=EARLY)
    assert len(calm.store.pulls) == 6 + 250 - 24
    for _ in range(2):
        (killed_by_store, killed_by_request)[rng.randint(0, 1)](wild, rng)
        with suppress(KilledError):
            wild.crawl(since=EARLY)
        wild.store.kill_at = None
        wild.fake.faults.clear()
    for since in (EARLY, datetime(2022, 1, 1, tzinfo=UTC)):
        for scene in scenes:
            scene.crawl(since=since)
        assert wild.store.content() == calm.store.content()
    assert len(wild.store.pulls) == 256


def test_reading_back_goes_on_where_it_was_ended_and_pays_once(
    tmp_path: Path, upstream: Sequence[Node]
) -> None:
    calm = Scene(tmp_path / "calm", FakeGitHub(deep(upstream[0])))
    ended = Scene(tmp_path / "ended", FakeGitHub(deep(upstream[0])))
    for scene in (calm, ended):
        scene.crawl(since=LATE)
        scene.fake.page_sizes.clear()
    calm.crawl(since=EARLY)
    limit_after(ended.fake, len(calm.fake.page_sizes) * 2 // 3)
    with pytest.raises(RateLimitedError):
        ended.crawl(since=EARLY)
    assert ended.store.depths[1].back_to == LATE
    ended.fake.faults.clear()
    ended.crawl()  # asks for nothing, and loses nothing
    ended.crawl(since=EARLY)
    assert ended.store.content() == calm.store.content()
    assert sum(ended.fake.page_sizes) - sum(calm.fake.page_sizes) < 60


@pytest.fixture(scope="module")
def undisturbed(upstream: Sequence[Node], tmp_path_factory: pytest.TempPathFactory) -> MemoryStore:
    calm = Scene(tmp_path_factory.mktemp("calm"), FakeGitHub(upstream[0]))
    calm.crawl()
    return calm.store


@pytest.mark.parametrize("seed", range(20))
def test_killed_anywhere_and_run_again_ends_the_same(
    tmp_path: Path, upstream: Sequence[Node], undisturbed: MemoryStore, seed: int
) -> None:
    rng = random.Random(seed)  # noqa: S311 - a seeded fault point
    disturbed = Scene(tmp_path, FakeGitHub(upstream[0]))
    kill: Sequence[Callable[[Scene, random.Random], None]] = (killed_by_store, killed_by_request)
    for _ in range(2):
        kill[rng.randint(0, 1)](disturbed, rng)
        with suppress(KilledError):
            disturbed.crawl()
        disturbed.store.kill_at = None
        disturbed.fake.faults.clear()
    disturbed.crawl()
    assert disturbed.store.content() == undisturbed.content()
    told = repr(disturbed.store.failures) + repr(disturbed.store.content())
    assert SECRET not in told
