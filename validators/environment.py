"""A recipe becomes an environment image: an install run in a limited container, then a commit.

Why the repository is in the key: an install runs code of the tree, of which the key names the
build files alone. Another repository with the same build files could make another environment.

Why the tree is not in the image: one environment serves every instance whose dependencies are the
same, and every run brings its own tree. What the install left in the tree beside its files
(egg-info, generated versions, built extensions) is kept in `/opt/miner/generated.tar`.
"""

import hashlib
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from validators.base_images import base_image
from validators.certificates import system_certificates, trust
from validators.engine import ContainerEngine, Progress
from validators.errors import UnknownRecipeError
from validators.install import Install
from validators.install_steps import StepFailedError, Steps
from validators.languages.python.build_inputs import build_inputs, packages_of
from validators.languages.python.interpreters import RELEASED_AT, UNTESTED
from validators.locks import without_tools
from validators.model import (
    BuildFailure,
    BuildSettings,
    Environment,
    Image,
    Limits,
    Maker,
    ProjectInstall,
    Recipe,
    Tree,
)
from validators.plural import counted
from validators.tree import read_tree

ENVIRONMENT_LABEL = "miner.environment"
"""Carried by every environment image: its key."""

PACKAGES_LABEL = "miner.packages"
"""The freeze of what is in it, one a line."""

LAYOUT_LABEL = "miner.layout"
"""The layout it was made in: one of another layout is found no more."""

LAYOUT = 3
"""Part of every key: changes with the layout of an environment image, and with what a key holds."""

FAMILY = "miner-environment"
"""The repository in the tag of every environment image."""

_INSTALL_PIDS = 512
_INSTALL_CPUS = 2.0
_HARMLESS = re.compile(r"(.*/)?[^/]+\.egg-info(/.*)?|(.*/)?_?_?version_?_?\.py")


def build_environment(  # noqa: PLR0913 - all but tree and recipe say with what
    tree: Tree,
    recipe: Recipe,
    *,
    patches: Sequence[bytes],
    repository: str,
    maker: Maker,
    engine: ContainerEngine,
    settings: BuildSettings,
    progress: Progress,
) -> Environment | BuildFailure:
    """The environment of a recipe, made or found.

    `patches` (test and gold) are used only where they touch files that declare dependencies: then
    those of both states are in the environment. `repository` ("owner/name") says whose tree it is:
    neither environments nor package caches are shared with another's. What a grader makes serves
    graders alone, and leaves no cache. Raises EngineUnavailableError when the machine or the
    package index failed, UnknownRecipeError for a Python we do not know.
    """
    if recipe.python not in (known := RELEASED_AT | UNTESTED):
        raise UnknownRecipeError(
            f"The recipe asks for Python {recipe.python}; known are {', '.join(known)}."
        )
    base, origin = base_image(engine, recipe.python, settings=settings, progress=progress)
    shelf = _Shelf(engine, KeyedTree.of(tree), repository, maker, base, origin)
    if recipe.lock is not None and (found := shelf.find(recipe)):
        return found
    limits = Limits(
        memory_mb=recipe.memory_mb, cpus=_INSTALL_CPUS, pids=_INSTALL_PIDS, network=True
    )
    cache = repository.lower() if maker is Maker.MINER else None
    trusted = trust(settings.ca_bundle or system_certificates())
    with engine.install(base, limits, cache=cache, kit=trusted.kit) as container:
        steps = Steps(container=container, recipe=recipe, settings=settings, trust=trusted.env)
        install = Install(steps=steps, tree=tree, progress=progress)
        try:
            return _made(install, shelf, patches)
        except StepFailedError as failed:
            return failed.failure


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedTree:
    """What a key takes from a tree, read once."""

    commit: str
    tag: str | None
    inputs: Mapping[str, str]  # path of a file that an install reads → sha256
    packages: Sequence[str]

    @classmethod
    def of(cls, tree: Tree) -> "KeyedTree":
        """Of this tree."""
        files = read_tree(tree)
        return cls(
            commit=tree.commit,
            tag=tree.nearest_tag,
            inputs={p: hashlib.sha256(files[p]).hexdigest() for p in build_inputs(files)},
            packages=packages_of(files),
        )


def environment_key(
    tree: KeyedTree, recipe: Recipe, *, base: str, repository: str, maker: Maker, own: bool
) -> str:
    """The name of an environment: what it is made of, and nothing it is not.

    `base`: the base image's digest. `repository`: "owner/name", in which case does not count. `own`
    environments hold something of this very commit (a plain install's copy, a built extension) and
    are no other's.
    """
    parts: dict[str, object] = {
        "layout": LAYOUT,
        "repository": repository.lower(),
        "maker": maker,
        "base": base,
        "python": recipe.python,
        "apt": recipe.apt,
        "pre_install": recipe.pre_install,
        "project_install": recipe.project_install,
        "build_requirements": recipe.build_requirements,
        "env_vars": recipe.env_vars,
        "lock": recipe.lock,
        "tag": tree.tag,
        "inputs": dict(tree.inputs),
        "packages": tree.packages,
    }
    if own:
        parts["commit"] = tree.commit
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Shelf:
    """The environments of a repository that this engine has on one base image."""

    engine: ContainerEngine
    tree: KeyedTree
    repository: str
    maker: Maker
    base: Image
    base_origin: str

    def find(self, locked: Recipe) -> Environment | None:
        """A made environment of a recipe with its lock: shared by many commits, or this one's.

        A grader takes what a miner made, never the other way: of a repository's name a row may hold
        a commit that was never merged there.
        """
        makers = (Maker.MINER,) if self.maker is Maker.MINER else (Maker.MINER, Maker.GRADER)
        for maker, own in itertools.product(makers, (False, True)):
            key = self.key(locked, maker=maker, own=own)
            image = self.engine.find(_tag(key))
            if image is not None:
                return replace(
                    self.environment(image, locked, key, self._packages(image)), reused=True
                )
        return None

    def key(self, locked: Recipe, *, maker: Maker, own: bool) -> str:
        """See `environment_key`."""
        return environment_key(
            self.tree,
            locked,
            base=self.base.digest,
            repository=self.repository,
            maker=maker,
            own=own,
        )

    def environment(
        self, image: Image, locked: Recipe, key: str, packages: tuple[str, ...]
    ) -> Environment:
        """The value that says all of it."""
        return Environment(
            image=image,
            base_image=self.base,
            base_origin=self.base_origin,
            recipe=locked,
            key=key,
            packages=packages,
        )

    def _packages(self, image: Image) -> tuple[str, ...]:
        for other in self.engine.images(label=ENVIRONMENT_LABEL):
            if other.image.digest == image.digest:
                return tuple(other.labels.get(PACKAGES_LABEL, "").splitlines())
        return ()


def _made(install: Install, shelf: _Shelf, patches: Sequence[bytes]) -> Environment:
    """Installed and committed, or found after all once the lock is known.

    Raises StepFailedError for what the guest failed.
    """
    recipe = install.recipe
    install.prepare()
    locked = recipe.with_lock(install.lock(patches))
    if recipe.lock is None and (found := shelf.find(locked)):
        return found
    number = without_tools(locked.lock or "").count("==")
    install.progress(f"installing {counted(number, 'package')}")
    installed = install.finish(locked.lock or "")
    locked = recipe.with_lock(installed.lock)
    own = not _is_shareable(locked, installed.generated)
    key = shelf.key(locked, maker=shelf.maker, own=own)
    install.seal()
    labels = {
        ENVIRONMENT_LABEL: key,
        PACKAGES_LABEL: "\n".join(installed.packages),
        LAYOUT_LABEL: str(LAYOUT),
    }
    image = install.steps.container.commit(_tag(key), labels=labels)
    return shelf.environment(image, locked, key, installed.packages)


def _is_shareable(recipe: Recipe, generated: Sequence[str]) -> bool:
    """Whether nothing in the environment is of one commit alone.

    An editable install of pure Python leaves its metadata and a version in the tree. Whatever else
    is generated may have been made from the sources, which differ between commits.
    """
    if recipe.project_install is ProjectInstall.PLAIN or recipe.build_cmd is not None:
        return False
    return all(_HARMLESS.fullmatch(path.removesuffix("/")) for path in generated)


def _tag(key: str) -> str:
    return f"{FAMILY}:{key[:24]}"
