"""Recipes, the environments they build, and why one could not be built."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from validators.model.containers import Image, Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildSettings:
    """How images are made here. None of it may end up in an exported artefact."""

    base_images: str = "auto"  # "auto" | "pull" | "build"
    ca_bundle: Path | None = None  # for installs behind a TLS proxy; None: what the machine trusts
    index_url: str | None = None  # another package index
    attempts: int = 6  # recipes tried for one task at the most


class Maker(StrEnum):
    """Who makes an environment, and so who may use it."""

    MINER = "miner"  # of a merged pull: serves whatever has its key
    GRADER = "grader"  # of a row, which may be a stranger's: serves grading alone


class ProjectInstall(StrEnum):
    """How the project itself gets into its environment."""

    EDITABLE = "editable"
    PLAIN = "plain"  # a copy: the sources stand before it, or `build_cmd` makes it again
    NONE = "none"  # only the source path


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How to build and test a project. Exported as `install_config`.

    `requirements` are PEP 508 strings or `-r FILE` / `-c FILE` / `.[extra]` / `--group NAME` lines,
    resolved as of `cutoff_at` unless `lock` (requirements text with hashes) is given: then exactly
    the lock is installed. `cutoff_exempt` names packages resolved at a later date. Shell commands
    (`pre_install`, `build_cmd`) run in the container only; `build_cmd` runs offline after patching
    in every run. `source_paths` are put on the import path, relative to the tree.
    """

    language: str
    python: str  # "3.12"
    apt: tuple[str, ...] = ()
    pre_install: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    project_install: ProjectInstall = ProjectInstall.EDITABLE
    build_requirements: tuple[str, ...] = ()
    source_paths: tuple[str, ...] = ()
    env_vars: tuple[tuple[str, str], ...] = ()
    build_cmd: str | None = None
    test_cmd: str = "python -m pytest"
    runner: str = "pytest"  # "pytest" | "unittest" | "django"
    cutoff_at: datetime | None = None
    cutoff_exempt: tuple[tuple[str, datetime], ...] = ()
    lock: str | None = None
    timeout_s: int = 900
    memory_mb: int = 4096
    origin: str = "proposed"  # "proposed" | "repaired" | "stored" | "maintainer" | "advisor"

    def with_lock(self, lock: str) -> "Recipe":
        """The same recipe, installing exactly `lock`."""
        return replace(self, lock=lock)


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """A built environment. `recipe` carries the lock; `packages` is the freeze of what is in it."""

    image: Image
    base_image: Image
    base_origin: str  # how the base image came about: "pulled" | "built"
    recipe: Recipe
    key: str
    packages: tuple[str, ...] = ()
    reused: bool = False


class FailureClass(StrEnum):
    """Why an environment could not be built, or what its tests miss; the key of every repair."""

    PACKAGE_NOT_FOUND = "package_not_found"
    NO_MATCHING_VERSION = "no_matching_version"
    MISSING_SYSTEM_LIBRARY = "missing_system_library"
    WRONG_PYTHON = "wrong_python"
    BUILD_ISOLATION = "build_isolation"
    EDITABLE_IMPOSSIBLE = "editable_impossible"
    REUPLOADED = "reuploaded"  # an ancient version was chosen without a word
    OUTSIDE_TREE = "outside_tree"
    RESOURCE_LIMIT = "resource_limit"
    TIMED_OUT = "timed_out"
    OTHER = "other"
    # told by runs only
    MISSING_MODULE = "missing_module"
    MISSING_PLUGIN = "missing_plugin"
    MISSING_TEST_DATA = "missing_test_data"  # a file or a submodule that is not in the tree
    LOCALE = "locale"
    TIME_ZONE = "time_zone"
    OWN_RUNNER = "own_runner"  # tests that only a script of the project's own can run
    NETWORK = "network"  # tests that want what no run has


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildFailure:
    """The guest's own failure to build: a value with its evidence."""

    outcome: Outcome
    failure_class: FailureClass
    detail: str  # e.g. the module or package that is missing
    step: str  # "apt" | "resolve" | "install" | "project" | "pre_install"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the tests of an environment miss, by their own messages."""

    failure_class: FailureClass
    detail: str  # e.g. the module, the folder

    def __str__(self) -> str:
        return f"{self.failure_class}: {self.detail}"
