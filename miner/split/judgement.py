"""One pull → candidate, or the first reason for a no: gates, the cut, the sum of both patches."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from miner.errors import BadItemError
from miner.git import Mirror
from miner.model import Candidate, Gate, PullRequest
from miner.split import gates, licence, patch, proof, version
from miner.split.closing import closing
from miner.split.gates import Context, Refusal
from miner.split.policy import GatePolicy
from miner.split.statement import Statement, statement
from validators.languages import LANGUAGES


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    """A candidate in the making: what passed the gates."""

    sections: Sequence[patch.Section]
    told: Statement
    context: Context
    texts: Mapping[str, str]  # licence and metadata files of the base


def judge(
    pull: PullRequest,
    *,
    mirror_of: Callable[[str], Mirror],
    policy: GatePolicy,
    reverted_by: int | None,
) -> Candidate | Refusal:
    """Cut one pull. `mirror_of` finds its repository's mirror by "owner/name", when git is needed.

    BadItemError when git cannot read it, RetryableError when not now.
    """
    found = closing(pull)
    told = statement(pull, found.issues)
    context = Context(
        pull=pull,
        policy=policy,
        closing=found,
        reverted_by=reverted_by,
        problem_statement=told.problem_statement,
    )
    refused = gates.refusal(gates.PULL_GATES, context)
    if refused is not None:
        return refused
    mirror, base = mirror_of(pull.repo), _base_commit(pull)
    sections = _sections(pull, mirror, base, _language(context))
    texts = _decoded(mirror.read_all(base, licence.PATHS))
    context = replace(context, sections=sections, license=licence.license_of(texts) or pull.license)
    refused = gates.refusal(gates.CHANGE_GATES, context) or _sum(mirror, base, sections)
    if refused is not None:
        return refused
    return _candidate(
        mirror, base, _Cut(sections=sections, told=told, context=context, texts=texts)
    )


def _sections(
    pull: PullRequest, mirror: Mirror, base: str, language: str
) -> tuple[patch.Section, ...]:
    """The pull's stored diff, cut; compared anew without renames where one crosses the border."""
    classify = LANGUAGES[language].classify
    changes = mirror.changes(base, pull.base.merge_tree)
    if not patch.crosses_border(changes, classify):
        return patch.cut(pull.diff, changes, classify)
    apart = mirror.compare(base, pull.base.merge_tree, renames=False)
    return patch.cut(apart.diff, apart.changes, classify)


def _sum(mirror: Mirror, base: str, sections: Sequence[patch.Section]) -> Refusal | None:
    """Is base + test patch + gold patch the fixed state, to the last byte of every file?"""
    if _adds_up(mirror, sections):
        return None
    return Refusal(
        gate=Gate.PATCHES_DO_NOT_ADD_UP,
        detail=f"Test patch and gold patch on {base} do not give the merged files.",
    )


def _adds_up(mirror: Mirror, sections: Sequence[patch.Section]) -> bool:
    """Told here for plain text, by git where anything else is among the changes."""
    changes = [section.change for section in sections]
    if not all(proof.is_plain(change) for change in changes):
        patches = [patch.test_patch(sections), patch.gold_patch(sections)]
        return mirror.adds_up(changes, patches)
    old = mirror.blobs([change.old_blob for change in changes if change.status != "A"])
    return all(
        proof.is_proven(section, old.get(section.change.old_blob, b"")) for section in sections
    )


def _candidate(mirror: Mirror, base: str, cut: _Cut) -> Candidate:
    context, pull = cut.context, cut.context.pull
    issues = context.closing.issues
    return Candidate(
        instance_id=f"{pull.repo.replace('/', '__')}-{pull.number}",
        repo=pull.repo,
        repo_id=pull.repo_id,
        pull_number=pull.number,
        raw_digest=pull.raw_digest,
        policy=context.policy.digest,
        issue_numbers=tuple(issue.number for issue in issues),
        base_commit=base,
        base_committed_at=pull.base.committed_at or mirror.committed_at(base),
        nearest_tag=mirror.nearest_tag(base),
        merge_tree=pull.base.merge_tree,
        patch=patch.gold_patch(cut.sections),
        test_patch=patch.test_patch(cut.sections),
        patch_hash=patch.patch_hash(cut.sections),
        problem_statement=cut.told.problem_statement,
        hints_text=cut.told.hints_text,
        statement_marks=cut.told.marks,
        issue_created_at=min(issue.created_at for issue in issues),
        created_at=pull.created_at,
        merged_at=pull.merged_at,
        language=_language(context),
        version=_version(mirror, base, cut.texts),
        license=context.license,
        file_classes=tuple((section.change.path, section.kind) for section in cut.sections),
    )


def _version(mirror: Mirror, base: str, texts: Mapping[str, str]) -> str:
    """Of the nearest tag, else as the project's files say; `texts` are those read already."""
    tag = mirror.nearest_tag(base)
    tagged = None if tag is None else version.version_of_tag(tag)
    if tagged is not None:
        return tagged
    told = version.version_of_files(texts, paths=version.METADATA_PATHS)
    if told != version.UNKNOWN:
        return told
    modules = version.module_paths(mirror.paths(base))
    return version.version_of_files(_decoded(mirror.read_all(base, modules)), paths=modules)


def _decoded(files: Mapping[str, bytes]) -> Mapping[str, str]:
    return {path: content.decode("utf-8", "replace") for path, content in files.items()}


def _language(context: Context) -> str:
    """The language of the candidate; its gate has let it through."""
    found = gates.main_language(context.pull.languages, context.policy)
    if found is None or found not in LANGUAGES:
        raise BadItemError(f"{context.pull.repo} is in no language this version knows.")
    return found


def _base_commit(pull: PullRequest) -> str:
    if pull.base.commit is None:
        raise BadItemError(f"The base commit of {pull.repo}#{pull.number} is not resolved.")
    return pull.base.commit
