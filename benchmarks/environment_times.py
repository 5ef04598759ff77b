"""What does an environment cost beside the bare install of the same lock?

    python -m benchmarks.environment_times [project …]

For each project's release of 2024-06-01, each time with an empty package cache: the bare `uv pip
install` of its lock in a container, start and end of the container included; the same with the
project itself; our environment of that lock; our environment when the recipe has still to be
resolved. Then another commit with the same environment key: its seconds, and what it adds to the
engine's disk, in its source tree. Medians of three, in seconds.

One JSON line a project, then one of figures (the worst of the projects): figure → value, goal, ok.
"""

import argparse
import json
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from statistics import median

from benchmarks.environments import Subject, released
from benchmarks.verification import told
from miner.demo.sdists import SdistCache
from validators import installation
from validators.archive import pack
from validators.base_images import base_image
from validators.certificates import system_certificates, trust
from validators.engine import TREE, ContainerEngine
from validators.engines import connect
from validators.environment import ENVIRONMENT_LABEL, build_environment
from validators.languages import LANGUAGES
from validators.model import BuildSettings, Environment, Image, Limits, Maker, Recipe, Tree

PROJECTS = ("itsdangerous", "click", "jinja2")
DATE = datetime(2024, 6, 1, tzinfo=UTC)
REPEATS = 3
_LIMITS = Limits(memory_mb=4096, cpus=2.0, network=True)
_LOCK = "/tmp/lock/lock.txt"  # noqa: S108 - the container's


def main() -> None:
    """One JSON line a project, and one of figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("projects", nargs="*", default=PROJECTS)
    projects = parser.parse_args().projects
    settings = BuildSettings(ca_bundle=system_certificates())
    engine = connect()
    try:
        with SdistCache(Path(tempfile.gettempdir()) / "miner-benchmark-sdists") as cache:
            rows = []
            for project in projects:
                rows.append(_measured(released(project, DATE, cache), engine, settings))
                print(json.dumps(asdict(rows[-1])), flush=True)
    finally:
        engine.close()
    figures = {
        "cold_to_lock": (max(row.to_bare for row in rows), 1.5),
        "cold_to_lock_and_project": (max(row.to_bare_with_project for row in rows), 1.5),
        "neighbour_s": (max(row.neighbour_s for row in rows), 2.0),
        "neighbour_disk": (max(row.neighbour_disk for row in rows), 1.2),
    }
    print(json.dumps({name: told(*figure) for name, figure in figures.items()}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one project took, in seconds; disk in source trees."""

    project: str
    packages: int
    container_s: float
    bare_s: float
    bare_with_project_s: float
    environment_s: float
    resolved_too_s: float
    to_bare: float
    to_bare_with_project: float
    neighbour_s: float
    neighbour_disk: float
    neighbour_reuses: bool


def _measured(subject: Subject, engine: ContainerEngine, settings: BuildSettings) -> Row:
    python = LANGUAGES["python"]
    texts = {path: subject.files[path] for path in python.manifest_paths(list(subject.files))}
    recipe = python.propose_recipes(texts, list(subject.files), DATE)[0]
    base, _ = base_image(engine, recipe.python, settings=settings, progress=_silent)
    bench = BuildBench(engine, settings, subject.tree, base)
    first = bench.build(recipe, bench.fresh())
    engine.remove_image(first.image)
    locked = first.recipe
    empty = bench.median(bench.start)
    bare = bench.median(lambda cache: bench.install(locked, cache, project=False))
    whole = bench.median(lambda cache: bench.install(locked, cache))
    cold = bench.median(lambda cache: bench.built(locked, cache))
    resolved = bench.median(lambda cache: bench.built(recipe, cache))
    name = bench.fresh()
    kept = bench.build(locked, name)
    before = _disk(engine)
    started = time.monotonic()
    again = replace(bench, tree=replace(subject.tree, commit="0" * 40)).build(locked, name)
    neighbour_s = time.monotonic() - started
    added = _disk(engine) - before
    engine.remove_image(kept.image)
    bench.clean()
    return Row(
        project=f"{subject.project} {subject.version}",
        packages=len(first.packages),
        container_s=empty,
        bare_s=bare,
        bare_with_project_s=whole,
        environment_s=cold,
        resolved_too_s=resolved,
        to_bare=round(cold / bare, 2),
        to_bare_with_project=round(cold / whole, 2),
        neighbour_s=round(neighbour_s, 2),
        neighbour_disk=round(added / len(subject.tree.tar), 2),
        neighbour_reuses=again.reused,
    )


def _disk(engine: ContainerEngine) -> int:
    """Bytes of all environment images, without the layers they share."""
    return sum(each.size_bytes for each in engine.images(label=ENVIRONMENT_LABEL))


@dataclass(frozen=True, slots=True)
class BuildBench:
    """Builds and bare installs of one tree on one base image, each in a cache of its own."""

    engine: ContainerEngine
    settings: BuildSettings
    tree: Tree
    base: Image
    run: str = field(default_factory=lambda: f"bench-{uuid.uuid4().hex[:8]}")

    def fresh(self) -> str:
        """The name of an empty cache."""
        return f"{self.run}-{uuid.uuid4().hex[:8]}"

    def median(self, doing: Callable[[str], None]) -> float:
        """Seconds of one go, the middle one of several."""
        return round(median(self.seconds(doing) for _ in range(REPEATS)), 2)

    def seconds(self, doing: Callable[[str], None]) -> float:
        """Seconds of one go, with an empty cache, until its container is gone."""
        cache = self.fresh()
        started = time.monotonic()
        doing(cache)
        self.engine.sweep()
        return time.monotonic() - started

    def start(self, cache: str) -> None:
        """A container is started and removed."""
        with self.engine.install(self.base, _LIMITS, cache=cache):
            pass

    def build(self, recipe: Recipe, cache: str) -> Environment:
        """Our environment of a recipe; the cache is that of a repository of this name."""
        built = build_environment(
            self.tree,
            recipe,
            patches=(),
            repository=cache,
            maker=Maker.MINER,
            engine=self.engine,
            settings=self.settings,
            progress=_silent,
        )
        if not isinstance(built, Environment):
            raise SystemExit(f"{built.step}: {built.failure_class}: {built.detail}")
        return built

    def built(self, recipe: Recipe, cache: str) -> None:
        """The same, and it is taken away again."""
        self.engine.remove_image(self.build(recipe, cache).image)

    def install(self, recipe: Recipe, cache: str, *, project: bool = True) -> None:
        """The bare install of a recipe's lock, and of the project."""
        trusted = trust(self.settings.ca_bundle)
        with self.engine.install(self.base, _LIMITS, cache=cache, kit=trusted.kit) as container:
            # the tree is no repository here, and some backends ask git for the version
            env = {**trusted.env, "SETUPTOOLS_SCM_PRETEND_VERSION": "1.0", "PBR_VERSION": "1.0"}
            lock = pack({PurePosixPath(_LOCK).name: (recipe.lock or "").encode()})
            container.put(PurePosixPath(_LOCK).parent.as_posix(), lock)
            lines = [installation.venv_line(recipe), installation.install_line(recipe, _LOCK)]
            if project:
                container.put(TREE, self.tree.tar)
                lines.append(f"find {TREE} -exec touch {{}} +")  # zip knows nothing before 1980
                lines.append(installation.project_line(recipe) or "true")
            script = " && ".join(lines)
            done = container.exec(("/bin/bash", "-c", script), timeout_s=600, env=env, workdir=TREE)
            if not done.ok:
                raise SystemExit(done.output.decode("utf-8", "replace")[-500:])

    def clean(self) -> None:
        """No cache of this benchmark is left."""
        for each in self.engine.caches():
            if self.run in each.volume:
                self.engine.remove_cache(each)


def _silent(line: str) -> None:
    del line


if __name__ == "__main__":
    main()
