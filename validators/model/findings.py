"""What runs together say: verdicts and grades, and the recipes tried on the way."""

from dataclasses import dataclass
from datetime import datetime

from validators.model.environments import BuildFailure, Diagnosis, Environment, Recipe
from validators.model.runs import Flaw, Run


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
