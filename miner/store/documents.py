"""Frozen values ↔ ASCII JSON. Bytes are not in documents: they are blobs.

ASCII, because paths and guests' words may hold what no database's text can: lone surrogates (bytes
that are no UTF-8) and NUL stay escapes here and come back as they were.
"""

import json
from functools import cached_property
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from miner.errors import FatalError
from miner.model import Candidate, Evaluation, PullRequest, Repo, StageReport
from validators.model import BuildFailure, Environment, Recipe, Verdict

T = TypeVar("T")


class Document(Generic[T]):
    """How one kind of value is written. The adapter is made when first used."""

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind

    @cached_property
    def _adapter(self) -> TypeAdapter[T]:
        return TypeAdapter(self._kind)

    def dump(self, value: T) -> str:
        """Canonical: sorted keys, no spaces. Equal values give equal text."""
        plain = self._adapter.dump_python(value, mode="json")
        return json.dumps(plain, sort_keys=True, separators=(",", ":"))

    def load(self, text: str) -> T:
        """The value again. FatalError when `dump` of a fitting version did not write it."""
        try:
            return self._adapter.validate_python(json.loads(text))
        except ValueError as error:
            raise FatalError(
                f"A stored {self._kind.__name__} cannot be read by this version; "
                "run the version that wrote it or restore the database."
            ) from error


REPO = Document(Repo)
PULL = Document(PullRequest)
CANDIDATE = Document(Candidate)
RECIPE = Document(Recipe)
ENVIRONMENT = Document(Environment)
FAILURE = Document(BuildFailure)
VERDICT = Document(Verdict)
EVALUATION = Document(Evaluation)
REPORT = Document(StageReport)
