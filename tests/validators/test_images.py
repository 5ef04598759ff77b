"""What may go from an engine, and what never."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from validators.engine import ContainerEngine
from validators.environment import LAYOUT
from validators.images import Bounds, Kind, foreseen, gc, images
from validators.model import Cache, Image, StoredImage

NOW = datetime(2026, 6, 30, tzinfo=UTC)
MB = 1 << 20


def environment(name: str, *, days: int, own_mb: int, layout: int = LAYOUT) -> StoredImage:
    """An environment on the base below."""
    return StoredImage(
        image=Image(digest=f"sha256:{name}", tag=f"miner-environment:{name}"),
        labels={
            "miner.environment": name,
            "miner.base": "3.12",
            "miner.parent": "x",
            "miner.layout": str(layout),
        },
        size_bytes=(600 + own_mb) * MB,
        created_at=NOW - timedelta(days=days),
        parent="sha256:base",
    )


def base(digest: str, tag: str, *, days: int = 900, parent: str = "") -> StoredImage:
    """A base image."""
    return StoredImage(
        image=Image(digest=f"sha256:{digest}", tag=tag),
        labels={"miner.base": "3.12", "miner.parent": "x"},
        size_bytes=600 * MB,
        created_at=NOW - timedelta(days=days),
        parent=parent,
    )


class Shelf:
    """An engine that only keeps images and caches; those in `used` cannot be removed."""

    def __init__(
        self,
        stored: Sequence[StoredImage],
        used: frozenset[str] = frozenset(),
        cached: Sequence[Cache] = (),
    ) -> None:
        self.stored = list(stored)
        self.used = used
        self.cached = list(cached)

    def caches(self) -> Sequence[Cache]:
        """All of them, the oldest first."""
        return sorted(self.cached, key=lambda each: each.created_at)

    def remove_cache(self, cache: Cache) -> bool:
        """Unless it is used."""
        if cache.volume in self.used:
            return False
        self.cached.remove(cache)
        return True

    def images(self, *, label: str) -> Sequence[StoredImage]:
        """Those that carry the label."""
        return [each for each in self.stored if label in each.labels]

    def remove_image(self, image: Image) -> bool:
        """Unless it is used."""
        if image.digest in self.used:
            return False
        self.stored = [each for each in self.stored if each.image != image]
        return True

    @property
    def names(self) -> set[str]:
        """What is left."""
        return {each.image.digest.removeprefix("sha256:") for each in self.stored}


STORED = (
    environment("new", days=1, own_mb=30),
    environment("old", days=40, own_mb=20),
    environment("older", days=50, own_mb=10),
    base("base", "miner-base:py3.12-built-3"),
)


def bounds(
    *, keep: frozenset[str] = frozenset(), days: int | None = None, budget_mb: int | None = None
) -> Bounds:
    """What may go, as of NOW."""
    older_than = None if days is None else timedelta(days=days)
    return Bounds(keep=keep, now=NOW, older_than=older_than, budget_mb=budget_mb)


def collect(
    shelf: Shelf,
    *,
    keep: frozenset[str] = frozenset(),
    days: int | None = None,
    budget_mb: int | None = None,
) -> tuple[set[str], set[str], int]:
    """Names removed, names in use, megabytes freed."""
    allowed = bounds(keep=keep, days=days, budget_mb=budget_mb)
    collected = gc(cast("ContainerEngine", shelf), allowed)
    names = [
        {each.image.digest.removeprefix("sha256:") for each in group}
        for group in (collected.removed, collected.in_use)
    ]
    return names[0], names[1], collected.freed_bytes // MB


def test_what_there_is_is_told_with_its_own_size() -> None:
    found = images(cast("ContainerEngine", Shelf(STORED)))
    assert [(each.image.digest, each.kind, each.own_bytes // MB) for each in found] == [
        ("sha256:base", Kind.BASE, 600),
        ("sha256:older", Kind.ENVIRONMENT, 10),
        ("sha256:old", Kind.ENVIRONMENT, 20),
        ("sha256:new", Kind.ENVIRONMENT, 30),
    ]


def test_without_age_and_budget_nothing_current_goes() -> None:
    assert collect(Shelf(STORED)) == (set(), set(), 0)


def test_environments_go_by_age() -> None:
    shelf = Shelf(STORED)
    assert collect(shelf, days=45) == ({"older"}, set(), 10)
    assert shelf.names == {"new", "old", "base"}


def test_the_oldest_go_until_the_rest_fits() -> None:
    assert collect(Shelf(STORED), budget_mb=60)[0] == set()
    assert collect(Shelf(STORED), budget_mb=59)[0] == {"older"}
    assert collect(Shelf(STORED), budget_mb=35)[0] == {"older", "old"}
    assert collect(Shelf(STORED), budget_mb=0)[0] == {"older", "old", "new"}


def test_the_published_and_the_used_stay() -> None:
    shelf = Shelf(STORED, used=frozenset({"sha256:new"}))
    keep = frozenset({"sha256:older"})
    assert collect(shelf, keep=keep, days=0, budget_mb=0) == ({"old"}, {"new"}, 20)
    assert shelf.names == {"new", "older", "base"}


def test_what_stays_anyway_does_not_fill_the_budget_of_those_that_may_go() -> None:
    oldest = frozenset({"sha256:older"})
    assert collect(Shelf(STORED), keep=oldest, budget_mb=50) == ({"old"}, set(), 20)
    assert collect(Shelf(STORED), keep=oldest, budget_mb=40) == ({"old"}, set(), 20)
    assert collect(Shelf(STORED), keep=oldest, budget_mb=39) == ({"old", "new"}, set(), 50)
    busy = Shelf(STORED, used=frozenset({"sha256:older"}))
    assert collect(busy, budget_mb=50) == ({"old"}, {"older"}, 20)


def test_base_images_of_earlier_versions_go() -> None:
    shelf = Shelf([*STORED, base("past", "miner-base:py3.12-built-1")])
    assert collect(shelf)[0] == {"past"}


def test_what_a_person_made_of_ours_is_neither_listed_nor_removed() -> None:
    theirs = environment("theirs", days=99, own_mb=9, layout=LAYOUT - 1)
    theirs = replace(theirs, image=Image(digest="sha256:theirs", tag="experiment:1"))
    built = [base("instance", "instance:latest"), base("step", ""), theirs]
    shelf = Shelf([*STORED, *built])
    names = {each.image.digest for each in images(cast("ContainerEngine", shelf))}
    assert names == {"sha256:new", "sha256:old", "sha256:older", "sha256:base"}
    assert collect(shelf, days=0, budget_mb=0)[0] == {"new", "old", "older"}
    assert shelf.names == {"base", "instance", "step", "theirs"}


def test_an_environment_that_lost_its_name_goes_by_age() -> None:
    nameless = environment("nameless", days=46, own_mb=1)
    nameless = replace(nameless, image=replace(nameless.image, tag=""))
    assert collect(Shelf([*STORED, nameless]), days=45)[0] == {"older", "nameless"}


def past_environment(name: str, *, own_mb: int) -> StoredImage:
    """One of an earlier version, younger than all others."""
    return environment(name, days=0, own_mb=own_mb, layout=LAYOUT - 1)


def test_environments_that_no_key_names_any_more_go_however_young() -> None:
    bare = past_environment("bare", own_mb=5)
    bare = replace(bare, labels={"miner.environment": "bare"})
    shelf = Shelf([*STORED, past_environment("past", own_mb=5), bare])
    assert collect(shelf)[0] == {"past", "bare"}


def test_an_instance_keeps_its_image_whichever_version_made_it() -> None:
    shelf = Shelf([*STORED, past_environment("past", own_mb=5), past_environment("own", own_mb=5)])
    keep = frozenset({"sha256:own", "sha256:older"})
    assert collect(shelf, keep=keep, days=0, budget_mb=0)[0] == {"past", "old", "new"}
    assert shelf.names == {"own", "older", "base"}


def test_a_base_image_of_an_earlier_version_stays_under_what_stays() -> None:
    parent = base("raw", "miner-base:py3.12-built-1-raw", days=901)
    parent = replace(parent, labels={"miner.parent": "x"})
    past = base("past", "miner-base:py3.12-built-1", parent="sha256:raw")
    own = replace(past_environment("own", own_mb=5), parent="sha256:past")
    shelf = Shelf([*STORED, parent, past, own])
    assert collect(shelf, keep=frozenset({"sha256:own"})) == (set(), set(), 0)
    busy = Shelf([*STORED, parent, past, own], used=frozenset({"sha256:own"}))
    assert collect(busy) == (set(), {"own"}, 0)
    assert collect(shelf)[0] == {"own", "past", "raw"}
    assert shelf.names == {"new", "old", "older", "base"}


def cache(name: str, *, days: int, mb: int) -> Cache:
    """A package cache."""
    return Cache(volume=name, size_bytes=mb * MB, created_at=NOW - timedelta(days=days))


CACHED = (cache("young", days=1, mb=5), cache("aged", days=50, mb=7), cache("busy", days=60, mb=1))


@pytest.mark.parametrize(
    ("days", "budget_mb", "gone", "left", "environments"),
    [
        (None, None, 0, {"young", "aged", "busy"}, 0),
        (45, None, 1, {"young", "busy"}, 1),
        (None, 73, 0, {"young", "aged", "busy"}, 0),
        (None, 72, 1, {"young", "busy"}, 0),
        (None, 60, 2, {"busy"}, 0),
        (None, 59, 2, {"busy"}, 1),
    ],
)
def test_caches_go_by_age_and_before_any_environment(
    days: int | None, budget_mb: int | None, gone: int, left: set[str], environments: int
) -> None:
    shelf = Shelf(STORED, used=frozenset({"busy"}), cached=CACHED)
    collected = gc(cast("ContainerEngine", shelf), bounds(days=days, budget_mb=budget_mb))
    assert len(collected.caches) == gone
    assert {each.volume for each in shelf.cached} == left
    assert len(collected.removed) == environments


def test_what_would_go_is_told_and_stays() -> None:
    shelf = Shelf(STORED, cached=CACHED)
    engine, allowed = cast("ContainerEngine", shelf), bounds(days=45, budget_mb=35)
    told = foreseen(engine, allowed)
    assert [each.volume for each in told.caches] == ["busy", "aged", "young"]
    assert [each.image.digest for each in told.removed] == ["sha256:older", "sha256:old"]
    assert told.freed_bytes // MB == 13 + 30
    assert (len(shelf.stored), len(shelf.cached)) == (len(STORED), len(CACHED))
    assert gc(engine, allowed) == told
    assert foreseen(engine, allowed).freed_bytes == 0
