"""Why a pull is no candidate: an ordered tuple of small pure functions.

The first gate that says no names the reason, so the order is that of a maintainer's answer to "what
is wrong with it?": who made it, is it a fix at all, what does it change, what does it close, and
only then how large it is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from miner.model import Gate, PullRequest
from miner.split.closing import Closing
from miner.split.licence import is_allowed
from miner.split.patch import Section
from miner.split.people import is_bot, merges_alone
from miner.split.policy import GatePolicy
from validators.languages import FileClass
from validators.plural import counted

_PLAIN = (FileClass.TEST, FileClass.SOURCE)
_UNCOUNTED = (FileClass.DOCS, FileClass.LOCK, FileClass.CI)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A gate's no: its name and a sentence with the facts."""

    gate: Gate
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What the gates look at. `license`: at the base commit. `sections`: not for PULL_GATES."""

    pull: PullRequest
    policy: GatePolicy
    closing: Closing
    sections: Sequence[Section] = ()
    reverted_by: int | None = None
    license: str | None = None
    problem_statement: str = ""


GateFunction = Callable[[Context], Refusal | None]


def bot_author(context: Context) -> Refusal | None:
    """Programs bump versions; that is no task."""
    pull = context.pull
    if context.policy.bots_may_write or not is_bot(pull.author):
        return None
    login = pull.author.login if pull.author else "ghost"
    return Refusal(gate=Gate.BOT_AUTHOR, detail=f"The pull was written by the bot {login}.")


def revert(context: Context) -> Refusal | None:
    """What takes a change back is told by no issue."""
    pull = context.pull
    if not pull.reverts:
        return None
    undone = ", ".join(f"#{number}" for number in pull.reverts)
    return Refusal(gate=Gate.REVERT, detail=f"The pull undoes {undone}.")


def reverted(context: Context) -> Refusal | None:
    """A fix that was taken back was none."""
    if context.reverted_by is None:
        return None
    return Refusal(gate=Gate.REVERTED, detail=f"The pull was undone by #{context.reverted_by}.")


def language(context: Context) -> Refusal | None:
    """Enough of the repository is in a language that can be verified."""
    pull = context.pull
    if main_language(pull.languages, context.policy) is not None:
        return None
    shares = language_shares(pull.languages)
    told = ", ".join(f"{name} {share:.0%}" for name, share in [*shares.items()][:3])
    wanted = ", ".join(context.policy.languages)
    return Refusal(
        gate=Gate.LANGUAGE_NOT_SUPPORTED,
        detail=f"The repository is in {told or 'no language the source names'}; wanted is at "
        f"least {context.policy.language_share_min:.0%} of {wanted}.",
    )


def license_allowed(context: Context) -> Refusal | None:
    """The code's licence lets others use it."""
    if is_allowed(context.license, context.policy.licenses):
        return None
    found = context.license or "no licence that was recognised"
    return Refusal(
        gate=Gate.LICENSE_NOT_ALLOWED,
        detail=f"The project has {found}; the policy allows {', '.join(context.policy.licenses)}.",
    )


def default_branch(context: Context) -> Refusal | None:
    """Release branches get copies of what the default branch has."""
    pull = context.pull
    if not context.policy.default_branch_only or pull.base_branch == pull.default_branch:
        return None
    return Refusal(
        gate=Gate.NOT_DEFAULT_BRANCH,
        detail=f"The pull went to {pull.base_branch}; the default branch is {pull.default_branch}.",
    )


def merged_by_bot(context: Context) -> Refusal | None:
    """A person agreed to the change; merge queues act on a person's word."""
    pull = context.pull
    if context.policy.bots_may_merge or not merges_alone(pull.merged_by):
        return None
    login = pull.merged_by.login if pull.merged_by else "ghost"
    return Refusal(gate=Gate.MERGED_BY_BOT, detail=f"The pull was merged by the bot {login}.")


def base_resolved(context: Context) -> Refusal | None:
    """Without the state before the fix there is no task."""
    pull = context.pull
    if pull.base.commit is not None:
        return None
    return Refusal(gate=Gate.BASE_UNRESOLVED, detail=pull.base.detail or "No base was found.")


def not_only_docs(context: Context) -> Refusal | None:
    """Texts have no tests."""
    kinds = {section.kind for section in context.sections}
    if FileClass.DOCS not in kinds or kinds & set(_PLAIN):
        return None
    return Refusal(
        gate=Gate.DOCS_ONLY, detail=f"No test and no source changed, only {_told(context)}."
    )


def linked_issue(context: Context) -> Refusal | None:
    """At least one closing link holds."""
    pull = context.pull
    if context.closing.issues:
        return None
    misfits = context.closing.misfits
    if not misfits:
        mentioned = sorted({f"#{link.number}" for link in pull.links})
        tail = f" (it mentions {', '.join(mentioned[:5])})" if mentioned else ""
        return Refusal(gate=Gate.NO_LINKED_ISSUE, detail=f"The pull closes no issue{tail}.")
    first = min(misfits, key=lambda misfit: _MISFITS.index(misfit.gate))
    facts = "; ".join(misfit.detail for misfit in misfits[:5])
    return Refusal(gate=first.gate, detail=f"No closing link holds: {facts}.")


_MISFITS = (
    Gate.LINKED_NUMBER_IS_PULL,
    Gate.LINKED_ISSUE_ELSEWHERE,
    Gate.LINKED_ISSUE_YOUNGER,
    Gate.NO_LINKED_ISSUE,
)
"""Which of several misfits names the reason."""


def one_issue(context: Context) -> Refusal | None:
    """Some sets want one issue a task."""
    issues = context.closing.issues
    if context.policy.several_issues or len(issues) < 2:
        return None
    numbers = ", ".join(f"#{issue.number}" for issue in issues)
    return Refusal(gate=Gate.SEVERAL_ISSUES, detail=f"The pull closes {numbers}.")


def issue_text(context: Context) -> Refusal | None:
    """There is something to read for a solver."""
    length, least = len(context.problem_statement), context.policy.text_chars_min
    if length >= least:
        return None
    return Refusal(
        gate=Gate.ISSUE_TEXT_TOO_SHORT,
        detail=f"The issue has {length} characters; at least {least} are wanted.",
    )


def test_change(context: Context) -> Refusal | None:
    """Tests were added or changed; a removed one shows nothing."""
    if any(section.is_test and section.change.status != "D" for section in context.sections):
        return None
    return Refusal(
        gate=Gate.NO_TEST_CHANGE, detail=f"No test was added or changed, only {_told(context)}."
    )


test_change.__test__ = False  # type: ignore[attr-defined]  # pytest would collect it where imported


def source_change(context: Context) -> Refusal | None:
    """Source was changed."""
    if any(section.kind is FileClass.SOURCE for section in context.sections):
        return None
    return Refusal(gate=Gate.NO_SOURCE_CHANGE, detail=f"No source changed, only {_told(context)}.")


def file_count(context: Context) -> Refusal | None:
    """A task has a size one can work on."""
    count = sum(section.kind not in _UNCOUNTED for section in context.sections)
    least, most = context.policy.files_min, context.policy.files_max
    if least <= count <= most:
        return None
    return Refusal(
        gate=Gate.TOO_MANY_FILES if count > most else Gate.TOO_FEW_FILES,
        detail=f"{counted(count, 'file')} besides documentation, lock files and CI changed; "
        f"{least} to {most} are wanted.",
    )


def patch_size(context: Context) -> Refusal | None:
    """Patches fit into a prompt and a row."""
    size_kb = sum(len(section.text) for section in context.sections) / 1024
    if size_kb <= context.policy.patch_kb_max:
        return None
    return Refusal(
        gate=Gate.PATCH_TOO_LARGE,
        detail=f"The patches have {size_kb:.0f} KB; {context.policy.patch_kb_max} KB is the most.",
    )


def own_content(context: Context) -> Refusal | None:
    """Everything the fix changes is in the repository itself."""
    for section in context.sections:
        if section.change.is_submodule or section.is_lfs:
            what = "a submodule" if section.change.is_submodule else "a pointer to Git LFS"
            return Refusal(gate=Gate.SUBMODULE_OR_LFS, detail=f"{section.change.path!r} is {what}.")
    return None


PULL_GATES: tuple[GateFunction, ...] = (
    bot_author,
    revert,
    reverted,
    language,
    default_branch,
    merged_by_bot,
    base_resolved,
)
"""Need no look into the mirror."""

CHANGE_GATES: tuple[GateFunction, ...] = (
    license_allowed,
    not_only_docs,
    linked_issue,
    one_issue,
    issue_text,
    test_change,
    source_change,
    file_count,
    patch_size,
    own_content,
)
"""Come after all PULL_GATES: the base is known."""


def refusal(gates: Sequence[GateFunction], context: Context) -> Refusal | None:
    """What the first gate says that says no."""
    for gate in gates:
        found = gate(context)
        if found is not None:
            return found
    return None


def language_shares(languages: Sequence[tuple[str, int]]) -> Mapping[str, float]:
    """Language name → share of the repository's bytes of code."""
    total = sum(size for _, size in languages)
    return {name: size / total for name, size in languages} if total else {}


def main_language(languages: Sequence[tuple[str, int]], policy: GatePolicy) -> str | None:
    """The wanted language with the largest share, if that is enough."""
    shares = {name.lower(): share for name, share in language_shares(languages).items()}
    best = max(policy.languages, key=lambda name: shares.get(name, 0.0), default=None)
    if best is None or shares.get(best, 0.0) < max(policy.language_share_min, 1e-9):
        return None
    return best


def _told(context: Context) -> str:
    """The changed files in a few words: "2 docs and 1 ci files"."""
    kinds = [section.kind for section in context.sections]
    counts = [f"{kinds.count(kind)} {kind}" for kind in FileClass if kind in kinds]
    return " and ".join(counts) + (" file" if len(kinds) == 1 else " files") if kinds else "nothing"
