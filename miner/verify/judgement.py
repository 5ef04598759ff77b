"""An examination → instance or rejection. Pure."""

from datetime import datetime

from miner.errors import BadItemError
from miner.model import Candidate, Examined, Instance, Rejection, Stage
from validators.model import Examination, Flaw, Policy, Verdict


def judge(candidate: Candidate, examination: Examination, *, now: datetime) -> Examined:
    """What is stored for a candidate.

    BadItemError when the examination contradicts itself: accepted without an environment or
    without a single FAIL_TO_PASS. Nothing seen is never a pass.
    """
    verdict = examination.verdict
    if verdict.flaw is not None:
        return Examined(
            candidate=candidate,
            examination=examination,
            instance=None,
            rejection=_rejection(candidate, examination, verdict.flaw, now),
        )
    environment = examination.environment
    if environment is None or not verdict.fail_to_pass:
        missing = "environment" if environment is None else "FAIL_TO_PASS"
        raise BadItemError(f"{candidate.instance_id} was accepted without any {missing}.")
    return Examined(
        candidate=candidate,
        examination=examination,
        instance=Instance(
            candidate=candidate, environment=environment, verdict=verdict, verified_at=now
        ),
        rejection=None,
    )


def unusable(candidate: Candidate, why: str, *, policy: Policy) -> Examination:
    """The answer for a candidate whose tree no container can be given: trying again is no use."""
    verdict = Verdict(flaw=Flaw.BUILD_FAILED, detail=why, policy=policy.name)
    return Examination(instance_id=candidate.instance_id, attempts=(), verdict=verdict)


def outcome(examined: Examined) -> str:
    """The outcome in a few words: "accepted, 3 FAIL_TO_PASS" or "rejected: build_failed …"."""
    if examined.rejection is not None:
        return f"rejected: {examined.rejection.gate} ({examined.rejection.detail})"
    return f"accepted, {len(examined.examination.verdict.fail_to_pass)} FAIL_TO_PASS"


def _rejection(
    candidate: Candidate, examination: Examination, flaw: Flaw, now: datetime
) -> Rejection:
    return Rejection(
        repo=candidate.repo,
        pull_number=candidate.pull_number,
        stage=Stage.VERIFY,
        gate=flaw.value,
        detail=_detail(examination, flaw),
        made_at=now,
    )


def _detail(examination: Examination, flaw: Flaw) -> str:
    failures = [a.failure for a in examination.attempts if a.failure is not None]
    if flaw is Flaw.BUILD_FAILED and failures:
        last = failures[-1]
        return f"{last.failure_class}: {last.detail}" if last.detail else last.failure_class.value
    return examination.verdict.detail
