"""An examination with all its evidence ↔ rows: attempts, runs, logs, per-test results."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from sqlalchemy import Connection, Row

from miner.errors import FatalError
from miner.model import Examined
from miner.store import documents, results
from miner.store.blobs import Bundle
from miner.store.connection import Sql
from miner.store.tables import ATTEMPTS, EXAMINATIONS, INSTANCES, RUNS
from validators.model import Attempt, BuildFailure, Run, Verdict

INSTANCE = "instance"
"""An examination's outcome when nothing said no."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """Rows ready to be written, compressed before the transaction begins.

    `attempts`: the columns of each attempt, and those of each of its runs.
    """

    bundle: Bundle
    outcome: str
    verdict: str
    instance: dict[str, object] | None
    attempts: list[tuple[dict[str, object], list[dict[str, object]]]] = field(default_factory=list)

    def save(
        self,
        sql: Sql,
        connection: Connection,
        *,
        task: str,
        lease: Row[*tuple[object, ...]],
        now: datetime,
    ) -> int | None:
        """Append all; the examination's id, or None when these inputs have an answer already."""
        examination_id = sql.add_new(
            connection,
            EXAMINATIONS,
            task_digest=task,
            version=lease.version,
            policy=lease.policy,
            recipe_id=lease.recipe_id,
            request_id=lease.request_id,
            candidate_id=lease.candidate_id,
            lease_id=lease.id,
            outcome=self.outcome,
            verdict=self.verdict,
            examined_at=now,
        )
        if examination_id is None:
            return None
        if self.instance is not None:
            sql.add(connection, INSTANCES, examination_id=examination_id, **self.instance)
        for number, (attempt, runs) in enumerate(self.attempts, start=1):
            attempt_id = sql.add(
                connection, ATTEMPTS, examination_id=examination_id, number=number, **attempt
            )
            for run in runs:
                sql.add(connection, RUNS, attempt_id=attempt_id, **run)
        return examination_id


def pack(examined: Examined) -> Packed:
    """Split an examination into rows and blobs. FatalError when it says neither yes nor no."""
    bundle = Bundle()
    examination = examined.examination
    packed = Packed(
        bundle=bundle,
        outcome=_outcome(examined),
        verdict=_verdict(examination.verdict),
        instance=_instance(examined),
    )
    for attempt in examination.attempts:
        verdict = attempt.verdict
        if attempt is examination.attempts[-1] and examination.verdict.runs:
            verdict = examination.verdict  # the deciding one may know more runs, such as probes
        runs = verdict.runs if verdict is not None else ()
        packed.attempts.append((_attempt(attempt, bundle), [_run(run, bundle) for run in runs]))
    return packed


def _outcome(examined: Examined) -> str:
    if examined.instance is not None:
        return INSTANCE
    if examined.rejection is not None:
        return examined.rejection.gate
    raise FatalError(f"{examined.candidate.instance_id}: an examination without an outcome.")


def _verdict(verdict: Verdict) -> str:
    return documents.VERDICT.dump(replace(verdict, runs=()))


def _instance(examined: Examined) -> dict[str, object] | None:
    instance = examined.instance
    if instance is None:
        return None
    return {
        "instance_id": instance.candidate.instance_id,
        "fail_to_pass": len(instance.verdict.fail_to_pass),
        "pass_to_pass": len(instance.verdict.pass_to_pass),
        "environment_key": instance.environment.key,
        "image_digest": instance.environment.image.digest,
        "environment": documents.ENVIRONMENT.dump(instance.environment),
    }


def _attempt(attempt: Attempt, bundle: Bundle) -> dict[str, object]:
    failure = attempt.failure
    environment = attempt.environment
    return {
        "reason": attempt.reason,
        "recipe": documents.RECIPE.dump(attempt.recipe),
        "environment": None if environment is None else documents.ENVIRONMENT.dump(environment),
        "failure_class": None if failure is None else failure.failure_class.value,
        "failure": None if failure is None else _failure(failure),
        "log": None if failure is None else bundle.add(failure.outcome.output),
        "verdict": None if attempt.verdict is None else _verdict(attempt.verdict),
        "started_at": attempt.started_at,
        "ended_at": attempt.ended_at,
    }


def _failure(failure: BuildFailure) -> str:
    return documents.FAILURE.dump(replace(failure, outcome=replace(failure.outcome, output=b"")))


def _run(run: Run, bundle: Bundle) -> dict[str, object]:
    outcome = run.outcome
    return {
        "phase": run.phase.value,
        "repeat": run.attempt,
        "variant": run.variant,
        "flaw": None if run.flaw is None else run.flaw.value,
        "detail": run.detail,
        "exit_code": outcome.exit_code,
        "timed_out": outcome.timed_out,
        "truncated": outcome.truncated,
        "out_of_memory": outcome.out_of_memory,
        "duration_s": outcome.duration_s,
        "image_digest": run.image_digest,
        "started_at": run.started_at,
        "log": bundle.add(outcome.output),
        "results": bundle.add(results.dump(run.results)),
    }
