"""The values that flow through verification and grading. No behaviour beyond small properties."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path


class TestStatus(StrEnum):
    """What one run says of one test."""

    __test__ = False

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"  # `TestResult.phase` tells setup, teardown and collection apart
    SKIPPED = "skipped"
    XFAIL = "xfail"
    XPASS = "xpass"
    TIMED_OUT = "timed_out"
    NOT_COLLECTED = "not_collected"
    NOT_RUN = "not_run"  # collected, but the process died first


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """One test's result in one run. `ambiguous`: several tests share the id."""

    __test__ = False

    status: TestStatus
    phase: str = "call"
    duration_s: float = 0.0
    message: str = ""
    ambiguous: bool = False


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


class Phase(StrEnum):
    """Which state of the tree a run saw."""

    BASE = "base"  # nothing applied
    BEFORE = "before"  # test patch
    AFTER = "after"  # test patch and gold patch
    PROBE = "probe"  # as after, under another clock, seed, order …
    MODEL = "model"  # model patch, tests restored


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


class Flaw(StrEnum):
    """Why a candidate is no instance, or why a grade says nothing about the model."""

    BUILD_FAILED = "build_failed"
    TEST_PATCH_DOES_NOT_APPLY = "test_patch_does_not_apply"
    GOLD_PATCH_DOES_NOT_APPLY = "gold_patch_does_not_apply"
    NO_TESTS_SEEN = "no_tests_seen"
    COUNTS_DISAGREE = "counts_disagree"
    TIMED_OUT_BEFORE = "timed_out_before"
    TIMED_OUT_AFTER = "timed_out_after"
    NO_FAIL_TO_PASS = "no_fail_to_pass"
    PASS_TO_FAIL = "pass_to_fail"
    FLAKY = "flaky"
    # grading only
    EMPTY_PATCH = "empty_patch"
    MISSING_PREDICTION = "missing_prediction"
    PATCH_DOES_NOT_APPLY = "patch_does_not_apply"
    PATCH_REFUSED = "patch_refused"  # touches .git, leaves the tree, absolute path …
    TIMED_OUT = "timed_out"
    TESTS_TAMPERED = "tests_tampered"  # test files changed while the tests ran


class ProjectInstall(StrEnum):
    """How the project itself gets into its environment."""

    EDITABLE = "editable"
    PLAIN = "plain"  # a copy is installed: `build_cmd` must repeat it after patching
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
class Limits:
    """What a container may use. Installs have the network, runs never."""

    memory_mb: int = 4096
    cpus: float = 1.0
    pids: int = 512
    disk_mb: int = 4096
    output_mb: int = 16
    network: bool = False
    uid: int | None = None  # in a run: another user than `guest`, one without a name


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One command in a container. `output` is head and tail when `truncated`."""

    exit_code: int
    output: bytes
    truncated: bool = False
    timed_out: bool = False
    duration_s: float = 0.0
    out_of_memory: bool = False

    @property
    def ok(self) -> bool:
        """The command ended by itself with status 0."""
        return self.exit_code == 0 and not self.timed_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image of the engine: `digest` is its content id ("sha256:…"), `tag` how it is found."""

    digest: str
    tag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredImage:
    """An image that lies on the engine. `size_bytes` counts the layers it shares with `parent`."""

    image: Image
    labels: Mapping[str, str]
    size_bytes: int
    created_at: datetime
    parent: str = ""  # digest; unknown for imported and pulled ones


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """A uv cache on the engine: what is in it can always be fetched again."""

    volume: str
    size_bytes: int
    created_at: datetime


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution of the tests in a fresh container. `attempt` counts repeats from 1."""

    phase: Phase
    attempt: int
    results: Mapping[str, TestResult]
    outcome: Outcome
    image_digest: str
    started_at: datetime
    variant: str = ""  # which probe
    flaw: Flaw | None = None  # why this run says nothing, e.g. NO_TESTS_SEEN
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the runs together say. Test ids are sorted; a test is in at most one list."""

    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    fail_to_fail: tuple[str, ...] = ()
    pass_to_fail: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    missing_before: tuple[str, ...] = ()  # of fail_to_pass: not even collected in any before-run
    left_out: tuple[tuple[str, str], ...] = ()  # (test id, reason)
    marks: tuple[str, ...] = ()  # e.g. "all_fail_to_pass_missing_before"
    flake_rates: tuple[tuple[str, float], ...] = ()  # (test id, rate) where above 0
    run_flake_rates: tuple[tuple[str, float], ...] = ()  # ("before 1", rate)
    flaw: Flaw | None = None
    detail: str = ""
    policy: str = ""
    diagnosis: Diagnosis | None = None  # what the tests of a verdict with a flaw miss, if known
    runs: tuple[Run, ...] = ()

    @property
    def accepted(self) -> bool:
        """The candidate is an instance."""
        return self.flaw is None


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
class Attempt:
    """One recipe tried: it built or not, and its tests were seen or not. Stored as a row."""

    recipe: Recipe
    environment: Environment | None
    failure: BuildFailure | None
    verdict: Verdict | None
    started_at: datetime
    ended_at: datetime

    @property
    def reason(self) -> str:
        """Why the next recipe was tried, or "accepted"."""
        if self.failure is not None:
            return f"{self.failure.failure_class}: {self.failure.detail}"
        if self.verdict is not None and self.verdict.flaw is not None:
            missing = self.verdict.diagnosis
            return f"{self.verdict.flaw}" + ("" if missing is None else f": {missing}")
        return "accepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """The answer to "what do the tests of this task say?": every attempt, the last one decides."""

    instance_id: str
    attempts: tuple[Attempt, ...]
    verdict: Verdict

    @property
    def environment(self) -> Environment | None:
        """The environment of the deciding attempt, when one was built."""
        return self.attempts[-1].environment if self.attempts else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many of the required tests passed."""

    passed: int
    failed: int


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
class Grade:
    """What a model's patch is worth on one instance. `flags` name in-process tricks it touches."""

    resolved: bool
    applied: bool
    fail_to_pass: Tally
    pass_to_pass: Tally
    flaw: Flaw | None = None
    detail: str = ""
    flags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # files restored or removed, by rule
    run: Run | None = None
