"""`miner repos discover`: find repositories worth watching by GitHub's search."""

from typing import Annotated

import typer

from miner.cli.options import NO_LIMIT, DryRunOption, JsonOption, LimitOption, ago
from miner.cli.repos import GROUP
from miner.cli.speech import progress, say, say_json, table
from miner.cli.wiring import House, now
from miner.crawl.github.discovery import PERMISSIVE, Found, Wish
from miner.crawl.github.discovery import discover as search
from validators.plural import counted

LanguageOption = Annotated[
    str, typer.Option("--language", help="Main language, as GitHub spells it.")
]
ShareOption = Annotated[
    float, typer.Option("--min-share", help="Least share of the language, 0 to 1.")
]
StarsOption = Annotated[int, typer.Option("--min-stars", help="Least stars.")]
MostStarsOption = Annotated[
    int | None, typer.Option("--max-stars", help="Most stars.", show_default=False)
]
ActiveOption = Annotated[
    int, typer.Option("--active-days", min=1, help="Pushed to within so many days.")
]
LicenseOption = Annotated[
    list[str] | None,
    typer.Option(
        "--license",
        metavar="SPDX",
        help="A licence that will do, e.g. MIT; may be repeated. Else: permissive ones.",
        show_default=False,
    ),
]


@GROUP.command("discover")
def discover(
    language: LanguageOption = "Python",
    *,
    min_share: ShareOption = 0.5,
    min_stars: StarsOption = 100,
    max_stars: MostStarsOption = None,
    active_days: ActiveOption = 180,
    licenses: LicenseOption = None,
    limit: LimitOption = NO_LIMIT,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Search for repositories and watch the fit ones; each is told with the reason."""
    house = House.of_environment()
    wish = Wish(
        language=language,
        min_share=min_share,
        min_stars=min_stars,
        max_stars=max_stars,
        licenses=frozenset(licenses or PERMISSIVE),
        pushed_since=ago(now(), f"--active-days {active_days}", days=active_days).date(),
    )
    bars, found = progress(), list[Found]()
    with house.store() as store:
        bars.start("discover", total=None)
        try:
            with house.token_client() as client:
                for repository in search(client, wish, now=now()):
                    if sum(each.wanted for each in found) >= limit:
                        break
                    found.append(repository)
                    bars.advance("discover", f"{repository.name}: {repository.reason}")
                    if dry_run:
                        continue
                    keep = store.admin.watch if repository.wanted else store.admin.leave_out
                    keep(repository.name, reason=repository.reason)
        finally:
            bars.end("discover")
    _tell(found, wish, as_json=as_json)


def _tell(found: list[Found], wish: Wish, *, as_json: bool) -> None:
    if as_json:
        say_json([_plain(each) for each in found])
        return
    if not found:
        stars = f"{counted(wish.min_stars, 'star')} or more"
        if wish.max_stars is not None:
            stars = f"{wish.min_stars} to {counted(wish.max_stars, 'star')}"
        say(
            f"nothing found: no {wish.language} repository with {stars} was pushed to since "
            f"{wish.pushed_since}; widen --min-stars or --active-days"
        )
        return
    table(
        "Found",
        ["repository", "stars", "licence", "watch", "reason"],
        [[f.name, f.stars, f.license, "yes" if f.wanted else "no", f.reason] for f in found],
    )
    say(f"{sum(f.wanted for f in found)} of {len(found)} are worth watching")


def _plain(found: Found) -> dict[str, object]:
    return {
        "name": found.name,
        "stars": found.stars,
        "license": found.license,
        "share": round(found.share, 3),
        "wanted": found.wanted,
        "reason": found.reason,
    }
