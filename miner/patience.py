"""Whether going on makes sense when the machinery fails: the one rule of verifying and grading."""

from miner.errors import BadItemError, told
from validators.errors import EnvironmentGoneError, PythonUnavailableError, UnknownRecipeError

FAILURES_IN_A_ROW = 3
"""After so many failures of the machinery without one result between them a stage gives up."""

_ONES_OWN = (
    BadItemError,
    UnknownRecipeError,
    PythonUnavailableError,
    EnvironmentGoneError,
)


class Patience:
    """What of one stage's work failed, by no fault of the work. `given_up`: why nothing more is
    begun; what is under way is still waited for."""

    def __init__(self) -> None:
        self._row = 0
        self.given_up: str | None = None

    def renew(self) -> None:
        """There was a result, whatever failed before it."""
        self._row = 0

    def failed(self, error: BaseException) -> None:
        """Not graded or verified; unless that says nothing of the others, they may fare no better.

        What fails once more after a failure counts once more: each is a try of the machinery.
        """
        if isinstance(error, _ONES_OWN):
            return
        self._row += 1
        if self._row >= FAILURES_IN_A_ROW:
            self.given_up = told(error)

    def end(self, why: str) -> None:
        """Give up at once."""
        self.given_up = why
