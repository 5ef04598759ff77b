"""What does an environment cost beside the bare install of the same lock?

    python -m benchmarks.environment_times [project …]

For each project's release of 2024-06-01, each time with an empty package cache: the bare `uv pip
install` of its lock in a container, start and end of the container included; the same with the
project itself; our environment of that lock; our environment when the recipe has still to be
resolved. Then another commit with the same environment key. Medians of three, in seconds.
"""

import argparse
import io
import json
import tarfile
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from statistics import median

from benchmarks.environments import Subject, released
from miner.demo.sdists import SdistCache
from validators import installation
from validators.base_images import base_image, trust
from validators.certificates import system_certificates
from validators.engine import TREE, ContainerEngine
from validators.engines import connect
from validators.environment import build_environment
from validators.languages import LANGUAGES
from validators.model import BuildSettings, Environment, Image, Limits, Maker, Recipe, Tree

PROJECTS = ("itsdangerous", "click", "jinja2")
DATE = datetime(2024, 6, 1, tzinfo=UTC)
REPEATS = 3
_LIMITS = Limits(memory_mb=4096, cpus=2.0, network=True)
_LOCK = "/tmp/lock/lock.txt"  # noqa: S108 - the container's


def main() -> None:
    """One JSON line a project."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("projects", nargs="*", default=PROJECTS)
    projects = parser.parse_args().projects
    settings = BuildSettings(ca_bundle=system_certificates())
    engine = connect()
    try:
        with SdistCache(Path(tempfile.gettempdir()) / "miner-benchmark-sdists") as cache:
            for project in projects:
                subject = released(project, DATE, cache)
                print(json.dumps(_measured(subject, engine, settings)), flush=True)
    finally:
        engine.close()


def _measured(
    subject: Subject, engine: ContainerEngine, settings: BuildSettings
) -> dict[str, object]:
    python = LANGUAGES["python"]
    texts = {path: subject.files[path] for path in python.manifest_paths(list(subject.files))}
    recipe = python.propose_recipes(texts, list(subject.files), DATE)[0]
    base, _ = base_image(engine, recipe.python, settings=settings, progress=_silent)
    bench = _Bench(engine, settings, subject.tree, base)
    first = bench.build(recipe, bench.fresh())
    engine.remove_image(first.image)
    locked = first.recipe
    bare = bench.median(lambda cache: bench.install(locked, cache, project=False))
    whole = bench.median(lambda cache: bench.install(locked, cache, project=True))
    cold = bench.median(lambda cache: bench.built(locked, cache))
    resolved = bench.median(lambda cache: bench.built(recipe, cache))
    name = bench.fresh()
    kept = bench.build(locked, name)
    other = replace(subject.tree, commit="0" * 40)
    started = time.monotonic()
    again = replace(bench, tree=other).build(locked, name)
    neighbour_s = time.monotonic() - started
    engine.remove_image(kept.image)
    bench.clean()
    return {
        "project": f"{subject.project} {subject.version}",
        "packages": len(first.packages),
        "bare_s": bare,
        "bare_with_project_s": whole,
        "environment_s": cold,
        "resolved_too_s": resolved,
        "to_bare": round(cold / bare, 2),
        "to_bare_with_project": round(cold / whole, 2),
        "neighbour_s": round(neighbour_s, 2),
        "neighbour_reuses": again.reused,
    }


@dataclass(frozen=True, slots=True)
class _Bench:
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
        """Seconds of one go."""
        taken = []
        for _ in range(REPEATS):
            cache = self.fresh()
            started = time.monotonic()
            doing(cache)
            taken.append(time.monotonic() - started)
        return round(median(taken), 2)

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

    def install(self, recipe: Recipe, cache: str, *, project: bool) -> None:
        """The bare install of a recipe's lock."""
        trusted = trust(self.settings.ca_bundle)
        with self.engine.install(self.base, _LIMITS, cache=cache, kit=trusted.kit) as container:
            env = trusted.env
            packed = io.BytesIO()
            with tarfile.open(fileobj=packed, mode="w") as tar:
                content = (recipe.lock or "").encode()
                member = tarfile.TarInfo("lock.txt")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
            container.put(PurePosixPath(_LOCK).parent.as_posix(), packed.getvalue())
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
