"""What may go from a real engine: our housekeeping, on every engine there is."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast

import pytest

from validators.engine import ContainerEngine
from validators.engines import DockerEngine
from validators.images import Bounds, Kind, foreseen, gc, images
from validators.model import Cache, Image, Limits, StoredImage

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.timeout(300)]


class Only:
    """A real engine of which one image is seen: others may be at work on it."""

    def __init__(self, engine: DockerEngine, image: Image) -> None:
        self.engine = engine
        self.image = image

    def images(self, *, label: str) -> Sequence[StoredImage]:
        """The one image."""
        return [each for each in self.engine.images(label=label) if each.image == self.image]

    def caches(self) -> Sequence[Cache]:
        """None: they are others'."""
        return ()

    def remove_cache(self, cache: Cache) -> bool:
        """Never asked for."""
        raise AssertionError(cache)

    def remove_image(self, image: Image) -> bool:
        """For real."""
        return self.engine.remove_image(image)


def test_what_a_container_uses_stays_and_a_dry_run_removes_nothing(
    engine: DockerEngine, base: Image
) -> None:
    with engine.install(base, Limits(network=True)) as container:
        container.exec(("sh", "-c", "head -c 3000000 /dev/urandom >/opt/venv/x"), timeout_s=20)
        made = container.commit("miner-environment:gc-test", labels={"miner.environment": "gc"})
    there = {each.image: each for each in images(engine)}
    assert there[made].kind is Kind.ENVIRONMENT
    assert there[made].python == "3.12"
    assert 3_000_000 <= there[made].own_bytes < 30_000_000
    only = cast("ContainerEngine", Only(engine, made))
    allowed = Bounds(keep=(), now=datetime.now(UTC), budget_mb=0)
    with engine.run(made, Limits()):
        used = gc(only, allowed)
    assert (used.removed, [each.image for each in used.in_use]) == ((), [made])
    assert [each.image for each in foreseen(only, allowed).removed] == [made]
    assert engine.find(made.tag) == made
    freed = gc(only, allowed)
    assert [each.image for each in freed.removed] == [made]
    assert engine.find(made.tag) is None
    assert engine.find(base.tag) == base
