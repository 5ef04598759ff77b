"""What a run says: report, exit code and what the runner itself counted must agree. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from validators.errors import UnknownRecipeError
from validators.languages import LANGUAGES
from validators.languages.python.report import printed_counts
from validators.model import Environment, Flaw, Outcome, Phase, Run, TestResult, TestStatus
from validators.plural import counted
from validators.transcript import DIED, Transcript, events, read_transcript

PROCESS_DIED = "the process died"
"""What the detail of a run begins with whose test process ended without saying so."""

_DETAIL = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """What the test process left: JSON lines of its report, and how many forged lines came too."""

    outcome: Outcome
    report: bytes
    foreign: int = 0


def judge(executed: Executed, environment: Environment, *, phase: Phase) -> Run:
    """What a run says, from its report, its exit code and what the runner itself counted."""
    recipe = environment.recipe
    read = LANGUAGES[recipe.language].read_report.get(recipe.runner)
    if read is None:
        raise UnknownRecipeError(f"Nothing reads the reports of the runner {recipe.runner!r}.")
    records = events(executed.report)
    transcript, results = read_transcript(records), read(records)
    if executed.outcome.timed_out:
        results = {key: _stopped(result) for key, result in results.items()}
    flaw, detail = _flaw(executed, transcript, results, phase=phase, runner=recipe.runner)
    return Run(
        phase=phase,
        attempt=1,
        results=results,
        outcome=executed.outcome,
        image_digest=environment.image.digest,
        started_at=datetime.now(UTC),
        flaw=flaw,
        detail=detail,
    )


def _stopped(result: TestResult) -> TestResult:
    """The test that was running at the deadline timed out; it did not die by itself."""
    if result.message != DIED:
        return result
    return replace(result, status=TestStatus.TIMED_OUT, message="running at the run's deadline")


def _flaw(
    executed: Executed,
    transcript: Transcript,
    results: Mapping[str, TestResult],
    *,
    phase: Phase,
    runner: str,
) -> tuple[Flaw | None, str]:
    """Why this run says nothing, with the evidence; or no flaw, and how it ended."""
    outcome = executed.outcome
    if outcome.timed_out:
        return _timed_out(phase), f"the run's deadline passed; {_last_started(transcript)}"
    if not transcript.begun:
        if phase is Phase.BASE and outcome.ok:
            return None, "none of the selected tests exists in this state"
        return Flaw.NO_TESTS_SEEN, tail(outcome.output)
    decided = any(result.status is not TestStatus.NOT_RUN for result in results.values())
    if not decided and phase not in {Phase.BASE, Phase.BEFORE}:
        return Flaw.NO_TESTS_SEEN, tail(outcome.output)
    if transcript.ended_with is None:
        killed = "out of memory" if outcome.out_of_memory else f"exit {outcome.exit_code}"
        return None, f"{PROCESS_DIED} ({killed}); {_last_started(transcript)}"
    disagreement = _disagreement(outcome, transcript, runner=runner)
    inside = "".join(f"inside the runner: {each}" for each in transcript.internal_errors[:1])
    return (Flaw.COUNTS_DISAGREE, disagreement) if disagreement else (None, inside)


def _timed_out(phase: Phase) -> Flaw:
    match phase:
        case Phase.BASE | Phase.BEFORE:
            return Flaw.TIMED_OUT_BEFORE
        case Phase.AFTER | Phase.PROBE:
            return Flaw.TIMED_OUT_AFTER
        case Phase.MODEL:
            return Flaw.TIMED_OUT


def _last_started(transcript: Transcript) -> str:
    return f"last started: {transcript.started[-1]}" if transcript.started else "no test started"


def _disagreement(outcome: Outcome, transcript: Transcript, *, runner: str) -> str:
    """Where exit code, the runner's own counts, its printed summary and the report differ."""
    seen = transcript.seen
    bad = sum(seen.get(name, 0) for name in ("failed", "error", "subtests failed"))
    if outcome.exit_code != transcript.ended_with:
        return f"exit code {outcome.exit_code}, but the runner ended with {transcript.ended_with}"
    if transcript.collected is not None and transcript.collected != len(transcript.ids):
        return f"{counted(transcript.collected, 'test')} collected, {len(transcript.ids)} reported"
    if not transcript.counts_agree:
        return f"the runner counted {dict(transcript.counts or {})}, reported are {dict(seen)}"
    if bad and outcome.exit_code == 0:
        return f"{counted(bad, 'test')} failed, but the exit code is 0"
    printed = printed_counts(runner, outcome.output) or seen
    printed_bad = printed.get("failed", 0) + printed.get("error", 0)
    passed = seen.get("passed", 0)
    if (printed_bad > 0) != (bad > 0) or printed.get("passed", passed) != passed:
        return f"the summary says {dict(printed)}, reported are {dict(seen)}"
    return ""


def tail(output: bytes) -> str:
    """The end of an output, for a person; whole lines when there are any."""
    end = output[-_DETAIL:]
    if len(output) > _DETAIL and b"\n" in end[:-1]:
        end = end.partition(b"\n")[2]
    return end.decode("utf-8", "replace").strip()
