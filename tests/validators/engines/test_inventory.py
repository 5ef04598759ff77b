"""What an engine says of its images, as engines say it."""

from collections.abc import Mapping
from typing import cast

import pytest
from docker import APIClient
from docker.errors import APIError

from validators.engines.inventory import caches, images
from validators.errors import EngineUnavailableError


class Listing:
    """An engine that lists one image."""

    def __init__(self, tags: list[str] | None, parent: str = "") -> None:
        self._tags = tags
        self._parent = parent

    def images(self, *, filters: Mapping[str, str]) -> list[dict[str, object]]:
        labels = {filters["label"]: "x"}
        said = {"Id": "sha256:1", "RepoTags": self._tags, "ParentId": self._parent}
        return [said | {"Labels": labels, "Size": 1, "Created": 0}]


@pytest.mark.parametrize(
    ("tags", "tag"),
    [
        (["miner-env:abc"], "miner-env:abc"),
        (["localhost/miner-env:abc"], "miner-env:abc"),
        (["docker.io/library/python:3.12"], "python:3.12"),
        (["localhost/miner-base:latest", "localhost/miner-base:x-raw"], "miner-base:x-raw"),
        (["<none>:<none>"], ""),  # Docker 20.10
        ([], ""),
        (None, ""),
    ],
)
def test_a_tag_is_the_short_one_or_none(tags: list[str] | None, tag: str) -> None:
    (found,) = images(cast("APIClient", Listing(tags)), "miner.environment")
    assert (found.image.digest, found.image.tag) == ("sha256:1", tag)


@pytest.mark.parametrize("said", [64 * "a", "sha256:" + 64 * "a"])
def test_a_parent_is_named_by_its_digest_as_the_parent_itself_is(said: str) -> None:
    (found,) = images(cast("APIClient", Listing([], said)), "miner.environment")
    assert found.parent == "sha256:" + 64 * "a"
    (first,) = images(cast("APIClient", Listing([])), "miner.environment")
    assert first.parent == ""


class Measuring:
    """An engine with one cache that measures for somebody else, so many times that it is asked."""

    def __init__(
        self, busy: int, *, why: str = "a disk usage operation is already running"
    ) -> None:
        self.busy = busy
        self._why = why

    def volumes(self, *, filters: Mapping[str, str]) -> dict[str, object]:
        name = filters["name"] + "x"
        return {"Volumes": [{"Name": name, "CreatedAt": "2026-05-04T00:00:00Z"}]}

    def df(self) -> dict[str, object]:
        if self.busy:
            self.busy -= 1
            raise APIError(self._why)
        return {"Volumes": [{"Name": "miner-uv-cache-x", "UsageData": {"Size": 7}}]}


@pytest.mark.parametrize(
    "engine",
    [
        Measuring(busy=3),
        Measuring(busy=3, why="failed to get state: container 51d0 does not exist in database: "),
    ],
)
def test_an_engine_that_cannot_measure_just_then_is_waited_for(engine: Measuring) -> None:
    waited: list[float] = []
    (cache,) = caches(cast("APIClient", engine), pause=waited.append)
    assert (cache.size_bytes, waited) == (7, [1, 1, 1])


@pytest.mark.parametrize(
    ("engine", "asked"),
    [(Measuring(busy=999), 121), (Measuring(busy=9, why="no room"), 1)],
)
def test_what_goes_on_for_ever_or_is_another_trouble_is_told(engine: Measuring, asked: int) -> None:
    there = engine.busy
    with pytest.raises(EngineUnavailableError, match="failed to list caches"):
        caches(cast("APIClient", engine), pause=lambda _: None)
    assert there - engine.busy == asked
