"""Attempts as an examination leaves them."""

from datetime import UTC, datetime

from validators.model import Attempt, BuildFailure, FailureClass, Outcome, Recipe

_AT = datetime(2024, 5, 6, tzinfo=UTC)


def failed_attempt(log: bytes) -> Attempt:
    """A recipe whose environment could not be built."""
    failure = BuildFailure(
        outcome=Outcome(exit_code=1, output=log),
        failure_class=FailureClass.OTHER,
        detail="it broke",
        step="install",
    )
    return Attempt(
        recipe=Recipe(language="python", python="3.12", requirements=(".",)),
        environment=None,
        failure=failure,
        verdict=None,
        started_at=_AT,
        ended_at=_AT,
    )
