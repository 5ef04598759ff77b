"""The images of ours that lie on an engine: what there is, and what may go.

Environments are cheap to make again from their lock, and what is in a package cache can be fetched
again: so both go by age and by a disk budget, caches first, the oldest first. Base images of this
version stay: they are few, and everything shares their layers. What another version made and this
one no longer finds goes with them.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from validators import base_images
from validators.engine import ContainerEngine
from validators.environment import ENVIRONMENT_LABEL, LAYOUT, LAYOUT_LABEL
from validators.model import Image, StoredImage


class Kind(StrEnum):
    """What an image of ours is."""

    PARENT = "parent"  # Debian without Python
    BASE = "base"
    ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One image of ours on the engine. `own_bytes`: without the layers of its parent."""

    image: Image
    kind: Kind
    python: str
    own_bytes: int
    created_at: datetime
    outdated: bool = False  # made by another version: this one does not find it


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What a collection did. `in_use`: wanted to go, but a container has them."""

    removed: tuple[Image, ...]
    in_use: tuple[Image, ...]
    freed_bytes: int
    caches: int = 0  # how many package caches went


def images(engine: ContainerEngine) -> tuple[Kept, ...]:
    """All images of ours, the oldest first.

    Raises EngineUnavailableError when the engine does not answer.
    """
    labels = (ENVIRONMENT_LABEL, base_images.BASE_LABEL, base_images.PARENT_LABEL)
    found = {each.image.digest: each for label in labels for each in engine.images(label=label)}
    kept = [_kept(each, found) for each in found.values()]
    return tuple(sorted(kept, key=lambda each: (each.created_at, each.image.tag)))


def gc(
    engine: ContainerEngine,
    *,
    keep: Collection[str],
    now: datetime,
    older_than: timedelta | None = None,
    budget_mb: int | None = None,
) -> Collected:
    """Remove what is older than `older_than`, then the oldest until the rest fits `budget_mb`.

    That is caches, then environments. `keep` are digests never to be touched: the instances' own;
    they count for the budget all the same. Images of earlier versions of this program always go,
    as nothing finds them any more. What a container uses stays, and is told.
    """
    there = images(engine)
    environments = [each for each in there if each.kind is Kind.ENVIRONMENT]
    own_mb = sum(each.own_bytes for each in environments) >> 20
    caches, freed = _collect_caches(
        engine,
        now=now,
        older_than=older_than,
        budget_mb=None if budget_mb is None else max(budget_mb - own_mb, 0),
    )
    excess = sum(each.own_bytes for each in environments) - ((budget_mb or 0) << 20)
    removed: list[Image] = []
    in_use: list[Image] = []
    for each in there:
        too_old = older_than is not None and now - each.created_at > older_than
        too_much = budget_mb is not None and excess > 0
        free = each.kind is Kind.ENVIRONMENT and each.image.digest not in keep
        if not (each.outdated or (free and (too_old or too_much))):
            continue
        if not engine.remove_image(each.image):
            in_use.append(each.image)
            continue
        removed.append(each.image)
        freed += each.own_bytes
        excess -= each.own_bytes if each.kind is Kind.ENVIRONMENT else 0
    return Collected(removed=tuple(removed), in_use=tuple(in_use), freed_bytes=freed, caches=caches)


def _collect_caches(
    engine: ContainerEngine, *, now: datetime, older_than: timedelta | None, budget_mb: int | None
) -> tuple[int, int]:
    """How many went, and their bytes. One that a container uses stays."""
    gone, freed = 0, 0
    there = engine.caches()
    excess = sum(each.size_bytes for each in there) - ((budget_mb or 0) << 20)
    for each in there:
        too_old = older_than is not None and now - each.created_at > older_than
        too_much = budget_mb is not None and excess > 0
        if (too_old or too_much) and engine.remove_cache(each):
            gone, freed, excess = gone + 1, freed + each.size_bytes, excess - each.size_bytes
    return gone, freed


def _kept(stored: StoredImage, found: Mapping[str, StoredImage]) -> Kept:
    parent = found.get(stored.parent)
    shared = parent.size_bytes if parent is not None else 0
    kind = _kind(stored.labels)
    return Kept(
        image=stored.image,
        kind=kind,
        python=stored.labels.get(base_images.BASE_LABEL, ""),
        own_bytes=max(stored.size_bytes - shared, 0),
        created_at=stored.created_at,
        outdated=_is_outdated(kind, stored),
    )


def _kind(labels: Mapping[str, str]) -> Kind:
    """Labels are inherited: the most special one counts."""
    if ENVIRONMENT_LABEL in labels:
        return Kind.ENVIRONMENT
    return Kind.BASE if base_images.BASE_LABEL in labels else Kind.PARENT


def _is_outdated(kind: Kind, stored: StoredImage) -> bool:
    if kind is Kind.ENVIRONMENT:
        return stored.labels.get(LAYOUT_LABEL) != str(LAYOUT)
    return not base_images.is_current(stored.image.tag)
