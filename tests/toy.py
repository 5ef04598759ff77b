"""Toy projects for runs on a real engine: trees, patches made by git, an image with this pytest.

The image is made without any network: the pytest of this test run is copied into it.
"""

import io
import subprocess
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import distribution
from pathlib import Path

import pytest

from validators.engine import VENV
from validators.engines import DockerEngine
from validators.model import Environment, GradingTask, Image, Limits, Recipe, Task, Tree

WHEN = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
DISTRIBUTIONS = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
RECIPE = Recipe(language="python", python="3.12", lock="", timeout_s=60, memory_mb=512)

Files = Mapping[str, str | bytes]


@dataclass(frozen=True, kw_only=True)
class Toy:
    """A project at its base, what the fix's tests add, and the fix. None deletes a file."""

    base: Files
    tests: Mapping[str, str | None]
    gold: Mapping[str, str | bytes | None]
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    recipe: Recipe = RECIPE
    whole_suite: bool = False


def tar_of(folder: Path) -> bytes:
    """All files of a folder but git's, with one modification time."""

    def keep(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        if ".git" in member.name.split("/"):
            return None
        member.mtime = int(WHEN.timestamp())
        return member

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for path in sorted(folder.iterdir()):  # not ".": a work tree's own folder is the engine's
            tar.add(path, path.name, filter=keep)
    return buffer.getvalue()


class Repository:
    """A git folder that holds a toy's base; diffs are made against it."""

    def __init__(self, folder: Path, base: Files) -> None:
        self.folder = folder
        folder.mkdir()
        self._write(base)
        self._git("init", "-q")
        self._git("add", "-A", "-f")
        self._git("commit", "-q", "--allow-empty", "-m", "base")

    def tree(self) -> Tree:
        """The base as a run takes it."""
        return Tree(commit="0" * 40, committed_at=WHEN, tar=tar_of(self.folder))

    def diff(
        self, changes: Mapping[str, str | bytes | None], *, links: Mapping[str, str] | None = None
    ) -> bytes:
        """The patch that makes these changes; `links` are symbolic links to their targets."""
        self._write({path: text for path, text in changes.items() if text is not None})
        for path, text in changes.items():
            if text is None:
                (self.folder / path).unlink()
        for path, target in (links or {}).items():
            if (self.folder / path).is_dir():
                (self.folder / path).rmdir()
            (self.folder / path).symlink_to(target)
        self._git("add", "-A", "-f")
        patch = self._git("diff", "--cached", "--binary", "--full-index", "HEAD")
        self._git("reset", "-q", "--hard")
        self._git("clean", "-fdqx")
        return patch

    def _write(self, files: Files) -> None:
        for path, text in files.items():
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode() if isinstance(text, str) else text)

    def _git(self, *arguments: str) -> bytes:
        identity = (
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@localhost",
            "-c",
            "core.autocrlf=false",
        )
        command = ["git", *identity, "-C", str(self.folder), *arguments]
        return subprocess.run(command, check=True, capture_output=True).stdout


def task_of(toy: Toy, repository: Repository) -> Task:
    """What there is to verify of a toy."""
    return Task(
        instance_id="toy__toy-1",
        repo="toy/toy",
        tree=repository.tree(),
        patch=repository.diff(toy.gold),
        test_patch=repository.diff(toy.tests),
        merged_at=WHEN,
    )


def grading_task_of(toy: Toy, repository: Repository) -> GradingTask:
    """The published instance of a toy."""
    task = task_of(toy, repository)
    return GradingTask(
        instance_id=task.instance_id,
        repo=task.repo,
        tree=task.tree,
        patch=task.patch,
        test_patch=task.test_patch,
        fail_to_pass=toy.fail_to_pass,
        pass_to_pass=toy.pass_to_pass,
        recipe=toy.recipe,
        whole_suite=toy.whole_suite,
    )


def environment_of(image: Image, recipe: Recipe = RECIPE) -> Environment:
    """The environment that `toy_image` is."""
    packages = tuple(f"{name}=={distribution(name).version}" for name in DISTRIBUTIONS)
    return Environment(
        image=image,
        base_image=image,
        base_origin="built",
        recipe=replace(recipe, lock=""),
        key="toy",
        packages=packages,
    )


def _site_packages() -> bytes:
    """The pure Python distributions that pytest needs, as they are installed here."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name in DISTRIBUTIONS:
            found = distribution(name)
            for file in found.files or ():
                path = Path(str(found.locate_file(file)))
                if ".." not in file.parts and path.is_file() and path.suffix != ".pyc":
                    tar.add(path, str(file))
    return buffer.getvalue()


@pytest.fixture(scope="module")
def toy_image(engine: DockerEngine, base: Image) -> Image:
    """An environment image with this very pytest; found again by its version."""
    versions = "-".join(distribution(name).version for name in DISTRIBUTIONS)
    tag = f"miner-test-toy:{base.digest[-12:]}-{versions}"
    found = engine.find(tag)
    if found is not None:
        return found
    with engine.install(base, Limits()) as container:
        made = container.exec(
            ("/bin/bash", "-c", f"python3.12 -m venv --without-pip {VENV}"), timeout_s=60
        )
        assert made.ok, made
        container.put(f"{VENV}/lib/python3.12/site-packages", _site_packages())
        compiled = container.exec(
            ("/bin/bash", "-c", f"{VENV}/bin/python -m compileall -q {VENV}/lib"), timeout_s=60
        )
        assert compiled.ok, compiled
        sealed = container.exec(
            ("/bin/bash", "-c", f"chown -R root:root {VENV}"), timeout_s=60, root=True
        )
        assert sealed.ok, sealed
        return container.commit(tag, labels={"miner.test": "toy"})
