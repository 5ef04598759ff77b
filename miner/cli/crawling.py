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
from miner.crawl.depth import lacks
from miner.crawl.gharchive import ADDRESS, archived_hints, check_read, gathered, hour_range
from miner.crawl.stage import crawl as crawl_stage
from miner.crawl.storing import MirrorKeeper
from miner.crawl.tape import Player, Recorder
from miner.crawl.taped_git import PlayedMirrors, TapedMirrors
from miner.errors import ConfigError
from miner.given import check_place
from miner.http import HttpClient, HttpxTransport
from miner.model import Stage, StageReport
from miner.progress import Progress
from miner.store import Database
from validators.plural import counted

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
WIDER_TOLD = 3
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
            _tell_plan(store, names, first, as_json=as_json)
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
    _tell_wider(store, repos, first)
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
        complain(f"{hour.hour}: {hour.error} ({counted(hour.hints, 'hint')} read)")
    if len(found.bad) > BAD_HOURS_TOLD:
        complain(
            f"and {counted(len(found.bad) - BAD_HOURS_TOLD, 'more hour')} missing or broken, "
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
    check_place(tapes.record, option="--record")
    tokens = house.tokens()
    recorder = Recorder(
        HttpxTransport(ca_bundle=house.settings.ca_bundle),
        tapes.record,
        base_url=house.settings.github_url,
        secrets=tokens,
    )
    with HttpClient(house.settings.github_url, tokens=tokens, transport=recorder) as client:
        yield client, TapedMirrors(mirrors, recorder)


def _tell_plan(store: Database, names: list[str], first: datetime | None, *, as_json: bool) -> None:
    rows = []
    for name in names:
        mark, back_to = _watermark(store, name), _back_to(store, name, first)
        start = str(mark) if mark else f"{first:%Y-%m-%d %H:%M}" if first else "the first pull"
        rows.append([name, start, f"{back_to:%Y-%m-%d %H:%M}" if back_to else None])
    columns = ["repository", "since", "back_to"]
    if as_json:
        say_json([dict(zip(columns, row, strict=True)) for row in rows])
    elif not rows:
        say(f"nothing to crawl: {UNWATCHED}")
    elif any(back_to for *_, back_to in rows):
        table("Would crawl", ["repository", "since", "then back to"], rows)
    else:
        table("Would crawl", columns[:2], [row[:2] for row in rows])


def _tell_wider(store: Database, names: list[str], first: datetime | None) -> None:
    """Say on stderr which repositories are read further back than ever before."""
    wider = [name for name in dict.fromkeys(names) if _back_to(store, name, first)]
    if wider:
        rest = len(wider) - WIDER_TOLD
        more = f" and {rest} more" if rest > 0 else ""
        complain(
            f"after what is new, reading back to {first:%Y-%m-%d %H:%M} UTC what earlier crawls "
            f"left out: {', '.join(wider[:WIDER_TOLD])}{more}"
        )


def _back_to(store: Database, name: str, first: datetime | None) -> datetime | None:
    """How far back a repository that was crawled before is read now; None: no further."""
    known = store.crawl.known(name)
    if known is None or store.crawl.watermark(known) is None:
        return None
    return first if lacks(store.crawl, known, since=first) else None


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
