"""What of ours lies on an engine: images by label, uv's caches by the names of their volumes."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from docker.api.client import APIClient
from docker.errors import APIError, NotFound

from validators.engines.confinement import CACHE_PREFIX
from validators.engines.faults import machinery
from validators.engines.labels import read
from validators.model import Cache, Image, StoredImage

_MEASURED_S = 120
"""How long a measurement of somebody else's is waited for."""

_LATER = ("already running", "does not exist in database")


def images(api: APIClient, label: str) -> Sequence[StoredImage]:
    """The images that carry a label."""
    with machinery("list images"):
        found = api.images(filters={"label": label})
    return tuple(_stored(each) for each in found)


def _stored(found: Mapping[str, Any]) -> StoredImage:
    return StoredImage(
        image=Image(digest=_digest(found["Id"]), tag=_tag(found.get("RepoTags") or ())),
        labels=read(found.get("Labels")),
        size_bytes=int(found["Size"]),
        created_at=datetime.fromtimestamp(int(found["Created"]), UTC),
        parent=_digest(found.get("ParentId") or ""),
    )


def _digest(name: object) -> str:
    """Podman leaves out the kind of a digest where it names an image's parent."""
    text = str(name)
    return f"sha256:{text}" if re.fullmatch(r"[0-9a-f]{64}", text) else text


def _tag(tags: Sequence[str]) -> str:
    """The one it was made under: none of ours ends so, but podman gives such a one besides."""
    own = sorted(tags, key=lambda tag: tag.endswith(":latest"))
    return _short(own[0]) if own else ""


def _short(tag: str) -> str:
    """Podman writes out what a short tag stands for; Docker that there is none."""
    if tag.startswith("<none>"):
        return ""
    return tag.rpartition("/library/")[2].removeprefix("localhost/")


def caches(api: APIClient, *, pause: Callable[[float], object] = time.sleep) -> Sequence[Cache]:
    """All caches, the oldest first. An engine that measures no volumes says size 0.

    Docker measures for one at a time: others are waited for. Podman stumbles over a container that
    somebody removes meanwhile, and is asked again.
    """
    with machinery("list caches"):
        volumes = api.volumes(filters={"name": CACHE_PREFIX}).get("Volumes") or []
        measured = _measured(api, pause).get("Volumes") or []  # podman's have no dates
    sizes = {each["Name"]: (each.get("UsageData") or {}).get("Size") for each in measured}
    found = [
        Cache(
            volume=str(each["Name"]),
            size_bytes=max(int(sizes.get(each["Name"]) or 0), 0),
            created_at=datetime.fromisoformat(str(each["CreatedAt"])),
        )
        for each in volumes
        if str(each["Name"]).startswith(CACHE_PREFIX)  # the filter takes it anywhere in a name
    ]
    return tuple(sorted(found, key=lambda each: (each.created_at, each.volume)))


def _measured(api: APIClient, pause: Callable[[float], object]) -> dict[str, Any]:
    for waited_s in range(_MEASURED_S + 1):
        try:
            return dict(api.df())
        except APIError as error:
            for_now = any(mark in str(error) for mark in _LATER)
            if not for_now or waited_s == _MEASURED_S:
                raise
            pause(1)
    raise AssertionError


def remove_cache(api: APIClient, cache: Cache) -> bool:
    """Whether it is gone; not while a container uses it."""
    with machinery("remove a cache"):
        return removed(api.remove_volume, cache.volume)


def removed(remove: Callable[[str], object], name: str) -> bool:
    """Remove what the engine may have lost already; False when something still uses it."""
    try:
        remove(name)
    except NotFound:
        return True
    except APIError as error:
        if error.status_code == 409:
            return False
        raise
    return True
