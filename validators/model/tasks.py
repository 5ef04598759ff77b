"""What there is to verify or to grade, and how hard verification looks."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from validators.model.environments import Recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """The files of a commit as an uncompressed tar, written by the host from its mirror.

    `nearest_tag` is the newest tag reachable from the commit, or None: version plug-ins need it.
    """

    commit: str
    committed_at: datetime
    tar: bytes = field(repr=False)
    nearest_tag: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What there is to verify. `merged_at` is the date dependencies are resolved at."""

    instance_id: str
    repo: str  # "owner/name"
    tree: Tree
    patch: bytes = field(repr=False)
    test_patch: bytes = field(repr=False)
    merged_at: datetime
    language: str = "python"


@dataclass(frozen=True, slots=True, kw_only=True)
class GradingTask:
    """A published instance as the grader needs it. `recipe.lock` must be set."""

    instance_id: str
    repo: str  # "owner/name"
    tree: Tree
    patch: bytes = field(repr=False)
    test_patch: bytes = field(repr=False)
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    recipe: Recipe
    whole_suite: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How hard verification looks. The name is stored with every verdict."""

    name: str
    repeats: int
    probes: bool
    whole_suite: bool = False
    probes_s: float = 1800.0  # probes begin within so many seconds; a mark names what is left


QUICK = Policy(name="quick", repeats=2, probes=False)
FULL = Policy(name="full", repeats=3, probes=True)
SUITES = tuple(
    replace(policy, name=f"{policy.name}-suite", whole_suite=True) for policy in (QUICK, FULL)
)
"""The same over the project's whole suite: for longer lists of PASS_TO_PASS, at its price."""

POLICIES: Mapping[str, Policy] = {policy.name: policy for policy in (QUICK, FULL, *SUITES)}
