"""Which issues a pull closes, and why a link does not count."""

from collections.abc import Iterator
from dataclasses import dataclass

from miner.model import Gate, Issue, Link, LinkStrength, PullRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """A closing link that does not count. `detail` is half a sentence about its target."""

    gate: Gate
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """The issues that count, by number, and what is wrong with the other links."""

    issues: tuple[Issue, ...] = ()
    misfits: tuple[Misfit, ...] = ()


def closing(pull: PullRequest) -> Closing:
    """Judge the pull's closing links; each issue counts once, however often it is named.

    An issue counts when it is in the pull's own repository (histories taken over from another
    project bring that project's numbers with them), is no pull, and is older than the pull.
    """
    read = {(issue.repo.lower(), issue.number): issue for issue in pull.issues}
    found: dict[int, Issue] = {}
    misfits = []
    for link in _targets(pull):
        issue = read.get((link.repo.lower(), link.number))
        misfit = _misfit(pull, link, issue)
        if misfit is not None:
            misfits.append(misfit)
        elif issue is not None:
            found[issue.number] = issue
    return Closing(issues=tuple(found[number] for number in sorted(found)), misfits=tuple(misfits))


def _targets(pull: PullRequest) -> Iterator[Link]:
    """The closing links, one a target, in the order they were found."""
    seen = set()
    for link in pull.links:
        target = (link.repo.lower(), link.number)
        if link.strength is LinkStrength.CLOSES and target not in seen:
            seen.add(target)
            yield link


def _misfit(pull: PullRequest, link: Link, issue: Issue | None) -> Misfit | None:
    name = f"{link.repo}#{link.number}"
    if issue is None:
        if link.repo.lower() != pull.repo.lower():
            return _elsewhere(name, link.repo, pull.repo)
        return Misfit(gate=Gate.NO_LINKED_ISSUE, detail=f"{name} could not be read")
    if issue.repo.lower() != pull.repo.lower():
        return _elsewhere(name, issue.repo, pull.repo)
    if issue.is_pull:
        return Misfit(gate=Gate.LINKED_NUMBER_IS_PULL, detail=f"{name} is itself a pull")
    if issue.created_at >= pull.created_at:
        detail = (
            f"{name} was opened at {issue.created_at.isoformat()}, the pull at "
            f"{pull.created_at.isoformat()}"
        )
        return Misfit(gate=Gate.LINKED_ISSUE_YOUNGER, detail=detail)
    return None


def _elsewhere(name: str, there: str, here: str) -> Misfit:
    return Misfit(
        gate=Gate.LINKED_ISSUE_ELSEWHERE, detail=f"{name} belongs to {there}, the pull to {here}"
    )
