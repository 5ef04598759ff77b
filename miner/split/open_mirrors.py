"""The mirrors of the repositories met last, kept open while pulls are judged."""

from collections.abc import Sequence
from contextlib import ExitStack

from miner.git import Mirror, Mirrors
from miner.model import PullRequest

MIRRORS_KEPT_OPEN = 8


class OpenMirrors:
    """Opens mirrors by name; the one met longest ago is closed for another."""

    def __init__(self, mirrors: Mirrors) -> None:
        self._mirrors = mirrors
        self._open: dict[str, tuple[Mirror, ExitStack]] = {}
        self._expected: dict[str, list[str]] = {}

    def open(self, name: str) -> Mirror:
        """See Mirrors.open."""
        known = self._open.pop(name) if name in self._open else self._opened(name)
        self._open[name] = known
        if name in self._expected:
            known[0].expect(self._expected.pop(name))
        return known[0]

    def expect(self, pulls: Sequence[PullRequest]) -> None:
        """These come next: what one run of git can say of all their bases is asked at once."""
        self._expected.clear()
        for pull in pulls:
            if pull.base.commit is not None:
                self._expected.setdefault(pull.repo, []).append(pull.base.commit)

    def close(self) -> None:
        """End their git processes."""
        for _, stack in self._open.values():
            stack.close()
        self._open.clear()

    def _opened(self, name: str) -> tuple[Mirror, ExitStack]:
        if len(self._open) >= MIRRORS_KEPT_OPEN:
            _, oldest = self._open.pop(next(iter(self._open)))
            oldest.close()
        stack = ExitStack()
        return stack.enter_context(self._mirrors.open(name).kept_open()), stack
