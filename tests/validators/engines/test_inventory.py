"""What an engine says of its images, as engines say it."""

from collections.abc import Mapping
from typing import cast

import pytest
from docker import APIClient

from validators.engines.inventory import images


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
