"""`miner crawl`: from the API, from a tape, or only where GH Archive saw merges."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from miner.cli.options import DryRunOption, JsonOption, ReposOption, SinceOption, since
from miner.cli.reports import reported
from miner.cli.repos import check_name
from miner.cli.speech import complain, progress, say, say_json, say_report, table
from miner.cli.wiring import House, now
from miner.crawl import SOURCES
from miner.crawl.gharchive import ADDRESS, archived_hints, check_read, gathered, hour_range
from miner.crawl.keeping import MirrorKeeper
from miner.crawl.stage import crawl as crawl_stage
from miner.crawl.tape import Player, Recorder
from miner.crawl.taped_git import PlayedMirrors, TapedMirrors
from miner.errors import ConfigError
from miner.http import HttpClient, HttpxTransport
from miner.model import Stage, StageReport
from miner.progress import Progress
from miner.store import Database

ArchiveOption = Annotated[
    str | None,
    typer.Option(
        "--gharchive",
        metavar="FROM..TO",
        help="Only watched repositories in which GH Archive saw merges on these days.",
    ),
]
ArchivePlaceOption = Annotated[
    str, typer.Option("--archive", help="Address or folder of the archive's hourly files.")
]
RecordOption = Annotated[
    Path | None,
    typer.Option(
        "--record", help="Tape all that is fetched to this file and FILE.files, without secrets."
    ),
]
ReplayOption = Annotated[
    Path | None,
    typer.Option("--replay", help="Crawl from a tape, without a network."),
]
UNWATCHED_TOLD = 20
IGNORED_TOLD = 3
BAD_HOURS_TOLD = 5
UNWATCHED = "no repository is watched; add one: miner repos add owner/name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tapes:
    """What to record to or replay from."""

    record: Path | None = None
    replay: Path | None = None

    def __post_init__(self) -> None:
        if self.record and self.replay:
            raise ConfigError("A crawl is either recorded or replayed; give one of the options.")


def crawl(
    repo: ReposOption = None,
    *,
    since_text: SinceOption = None,
    gharchive: ArchiveOption = None,
    archive: ArchivePlaceOption = ADDRESS,
    record: RecordOption = None,
    replay: ReplayOption = None,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Fetch what was merged in the watched (or the named) repositories since the last crawl."""
    for name in repo or ():
        check_name(name)
    first = since(since_text, now=now())
    house = House.of_environment()
    tapes = Tapes(record=None if dry_run else record, replay=replay)
    with house.store() as store, _opened(house, tapes) as (client, mirrors):
        names = list(repo or store.crawl.watched())
        if gharchive is not None:
            names = hinted(client, gharchive, archive, watched=names)
        if dry_run:
            _tell_plan(store, names, since_text, as_json=as_json)
            return
        if gharchive is not None and not names:
            _tell_nothing("the archive hints at no watched repository", as_json=as_json)
            return
        if replay is None:
            house.need_token()
        if not names:
            _tell_nothing(UNWATCHED, as_json=as_json)
            return
        report = _crawl(store, client, mirrors, repos=names, first=first, bars=progress())
    say_report(report, as_json=as_json)


def run_crawl(
    house: House, store: Database, *, repos: list[str], first: datetime | None, bars: Progress
) -> StageReport:
    """The crawl stage with this house's source and mirrors; its report is kept, also of a crawl
    in which some repositories failed."""
    with house.token_client() as client:
        return _crawl(store, client, house.mirrors(), repos=repos, first=first, bars=bars)


def _crawl(
    store: Database,
    client: HttpClient,
    mirrors: MirrorKeeper,
    *,
    repos: list[str],
    first: datetime | None,
    bars: Progress,
) -> StageReport:
    if first is not None:
        _tell_ignored(store, repos, first)
    return reported(
        store,
        lambda: crawl_stage(
            store.crawl,
            source=SOURCES["github"](client),
            mirrors=mirrors,
            repos=repos,
            since=first,
            now=now,
            progress=bars,
        ),
    )


def hinted(client: HttpClient, days: str, archive: str, *, watched: list[str]) -> list[str]:
    """Those of `watched` in which the archive saw merges; the others are told on stderr."""
    start, end = hour_range(days, now=now())
    where = archive if "://" in archive else Path(archive)
    found = gathered(archived_hints(client, start, end, where=where), watched=watched)
    for hour in found.bad[:BAD_HOURS_TOLD]:
        complain(f"{hour.hour}: {hour.error} ({hour.hints} hints were read)")
    if len(found.bad) > BAD_HOURS_TOLD:
        complain(
            f"and {len(found.bad) - BAD_HOURS_TOLD} more hours that are missing or broken, "
            f"the last being {found.bad[-1].hour}"
        )
    check_read(found.bad, start=start, end=end)
    if found.others:
        most = ", ".join(f"{name} {count}" for name, count in found.others[:UNWATCHED_TOLD])
        complain(f"merges in repositories that are not watched: {most}")
    return list(found.watched)


@contextmanager
def _opened(house: House, tapes: Tapes) -> Iterator[tuple[HttpClient, MirrorKeeper]]:
    """The API and the mirrors: live, recorded or replayed."""
    mirrors = house.mirrors()
    if tapes.replay is not None:
        player = Player(tapes.replay)
        with HttpClient(player.base_url, transport=player) as client:
            yield client, PlayedMirrors(mirrors, player)
        return
    if tapes.record is None:
        with house.client() as client:
            yield client, mirrors
        return
    tokens = house.tokens()
    recorder = Recorder(
        HttpxTransport(ca_bundle=house.settings.ca_bundle),
        tapes.record,
        base_url=house.settings.github_url,
        secrets=tokens,
    )
    with HttpClient(house.settings.github_url, tokens=tokens, transport=recorder) as client:
        yield client, TapedMirrors(mirrors, recorder)


def _tell_plan(store: Database, names: list[str], since_text: str | None, *, as_json: bool) -> None:
    rows = [[name, _watermark(store, name) or since_text or "the first pull"] for name in names]
    if as_json:
        say_json([{"repository": name, "since": moment} for name, moment in rows])
    elif not rows:
        say(f"nothing to crawl: {UNWATCHED}")
    else:
        table("Would crawl", ["repository", "since"], rows)


def _tell_ignored(store: Database, names: list[str], first: datetime) -> None:
    """Say on stderr which repositories are read from their watermark and not from `--since`."""
    marks = [(name, _watermark(store, name)) for name in dict.fromkeys(names)]
    crawled = [f"{name} at {mark:%Y-%m-%d %H:%M} UTC" for name, mark in marks if mark]
    if not crawled:
        return
    rest = len(crawled) - IGNORED_TOLD
    more = f"; and {rest} more" if rest > 0 else ""
    complain(
        f"--since {first:%Y-%m-%d} is ignored where pulls were read before, since a crawl goes on "
        f"from its watermark: {'; '.join(crawled[:IGNORED_TOLD])}{more}. "
        "What is older than the first crawl went back comes by a first crawl into another "
        "database (MINER_DATABASE_URL)."
    )


def _tell_nothing(why: str, *, as_json: bool) -> None:
    if as_json:
        complain(f"nothing to crawl: {why}")
        moment = now()
        say_report(StageReport(stage=Stage.CRAWL, started_at=moment, ended_at=moment), as_json=True)
    else:
        say(f"nothing to crawl: {why}")


def _watermark(store: Database, name: str) -> datetime | None:
    known = store.crawl.known(name)
    return store.crawl.watermark(known) if known else None
