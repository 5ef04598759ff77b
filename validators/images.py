"""The images of ours that lie on an engine: what there is, and what may go.

Environments are cheap to make again from their lock, and what is in a package cache can be fetched
again: so both go by age and by a disk budget, caches first, the oldest first. Base images of this
version stay: they are few, and everything shares their layers. What another version made and this
one no longer finds goes with them, unless it is an instance's own: that one is never touched.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from validators import base_images, environment
from validators.engine import ContainerEngine
from validators.environment import ENVIRONMENT_LABEL, LAYOUT, LAYOUT_LABEL
from validators.model import Cache, Image, StoredImage


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
    parent: str = ""  # the digest of the image it stands on, "" when that is not known
    outdated: bool = False  # made by another version: this one does not find it


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What may go. `keep`: digests never to be touched, as they are the instances' own."""

    keep: Collection[str]
    now: datetime
    older_than: timedelta | None = None
    budget_mb: int | None = None

    def too_old(self, made_at: datetime) -> bool:
        """Made longer ago than is asked for."""
        return self.older_than is not None and self.now - made_at > self.older_than


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What a collection did, or would do. `in_use`: wanted to go, but a container has them."""

    caches: tuple[Cache, ...] = ()
    removed: tuple[Kept, ...] = ()
    in_use: tuple[Kept, ...] = ()

    @property
    def freed_bytes(self) -> int:
        """The space of all that went."""
        images = sum(each.own_bytes for each in self.removed)
        return images + sum(each.size_bytes for each in self.caches)


def images(engine: ContainerEngine) -> tuple[Kept, ...]:
    """All images of ours, the oldest first. What a person made of one has its labels too, but
    another name.

    Raises EngineUnavailableError when the engine does not answer.
    """
    labels = (ENVIRONMENT_LABEL, base_images.BASE_LABEL, base_images.PARENT_LABEL)
    found = {each.image.digest: each for label in labels for each in engine.images(label=label)}
    kept = [_kept(each, found) for each in found.values() if _is_ours(each)]
    return tuple(sorted(kept, key=lambda each: (each.created_at, each.image.tag)))


def gc(engine: ContainerEngine, bounds: Bounds) -> Collected:
    """Remove what is older than `older_than`, then the oldest until the rest fits `budget_mb`.

    That is caches, then environments; those of `keep` count for the budget all the same. Images of
    earlier versions of this program always go, as nothing finds them any more, but for those of
    `keep` and what an image that stays stands on. What a container uses stays, and is told.
    Raises EngineUnavailableError when the engine does not answer.
    """
    return _collect(engine, bounds, engine.remove_cache, engine.remove_image)


def foreseen(engine: ContainerEngine, bounds: Bounds) -> Collected:
    """What `gc` would do if no container used anything; nothing is removed.

    Raises EngineUnavailableError when the engine does not answer.
    """
    return _collect(engine, bounds, lambda _: True, lambda _: True)


def _collect(
    engine: ContainerEngine,
    bounds: Bounds,
    remove_cache: Callable[[Cache], bool],
    remove_image: Callable[[Image], bool],
) -> Collected:
    there = images(engine)
    environments = [each for each in there if each.kind is Kind.ENVIRONMENT]
    own_bytes = sum(each.own_bytes for each in environments)
    caches = _collect_caches(engine.caches(), bounds, remove_cache, beside_bytes=own_bytes)
    removed, in_use = _collect_environments(environments, bounds, remove_image)
    gone = {each.image.digest for each in removed}
    stay = [each for each in there if each.image.digest not in gone]
    for each in reversed(stay):  # the newest first: what stands on another is younger
        needed = any(each.image.digest == other.parent for other in stay)
        if each.kind is Kind.ENVIRONMENT or needed or not each.outdated:
            continue
        if remove_image(each.image):
            removed.append(each)
            stay = [other for other in stay if other is not each]
        else:
            in_use.append(each)
    return Collected(caches=tuple(caches), removed=tuple(removed), in_use=tuple(in_use))


def _collect_caches(
    there: Sequence[Cache],
    bounds: Bounds,
    remove: Callable[[Cache], bool],
    *,
    beside_bytes: int,
) -> list[Cache]:
    """Those that went, of which the budget holds as many as fit beside `beside_bytes`.

    One that a container uses stays.
    """
    gone: list[Cache] = []
    excess = sum(each.size_bytes for each in there) - max(_budget(bounds) - beside_bytes, 0)
    for each in there:
        too_much = bounds.budget_mb is not None and excess > 0
        if (bounds.too_old(each.created_at) or too_much) and remove(each):
            gone.append(each)
            excess -= each.size_bytes
    return gone


def _collect_environments(
    there: Sequence[Kept], bounds: Bounds, remove: Callable[[Image], bool]
) -> tuple[list[Kept], list[Kept]]:
    """Those that went, and those that a container uses."""
    gone: list[Kept] = []
    in_use: list[Kept] = []
    excess = sum(each.own_bytes for each in there) - _budget(bounds)
    for each in there:
        too_much = bounds.budget_mb is not None and excess > 0
        wanted = each.outdated or bounds.too_old(each.created_at) or too_much
        if each.image.digest in bounds.keep or not wanted:
            continue
        if remove(each.image):
            gone.append(each)
            excess -= each.own_bytes
        else:
            in_use.append(each)
    return gone, in_use


def _budget(bounds: Bounds) -> int:
    return (bounds.budget_mb or 0) << 20


def _is_ours(stored: StoredImage) -> bool:
    """An environment that lost its name to one that was made at the same time is ours still."""
    family = stored.image.tag.partition(":")[0]
    if _kind(stored.labels) is Kind.ENVIRONMENT:
        return family in {"", environment.FAMILY}
    return family == base_images.FAMILY


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
        parent=stored.parent,
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
