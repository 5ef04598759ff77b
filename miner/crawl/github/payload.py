"""A raw payload → PullRequest with its issues and links. Pure."""

from collections.abc import Mapping
from datetime import datetime

from pydantic import ValidationError

from miner.crawl.github.evidence import links_of
from miner.crawl.github.nodes import (
    CommentNode,
    EditsNode,
    Envelope,
    FileNode,
    TargetNode,
    Who,
    begun_at,
)
from miner.crawl.github.versions import comment_text, renames_of, text_versions
from miner.crawl.links import reverted_pulls
from miner.errors import MalformedPayloadError
from miner.model import (
    Actor,
    ActorKind,
    Base,
    ChangedFile,
    ChangeType,
    Comment,
    Commit,
    Issue,
    PullRequest,
    Repo,
)

UNRESOLVED = "not looked for yet"
_ACTOR_KINDS: Mapping[str, ActorKind] = {kind.value: kind for kind in ActorKind}
_CHANGE_TYPES: Mapping[str, ChangeType] = {kind.name: kind for kind in ChangeType}


def malformed(error: ValidationError, *, what: str) -> MalformedPayloadError:
    """What is wrong with a payload, without quoting from it."""
    first = error.errors(include_url=False, include_input=False)[0]
    path = ".".join(str(step) for step in first["loc"]) or "payload"
    return MalformedPayloadError(f"{what} is malformed: {path}: {first['msg'].lower()}.")


def pull_request(
    envelope: Envelope, *, repo: Repo, host: str, fetched_at: datetime, raw_digest: str
) -> PullRequest:
    """The pull as told: base unresolved, diff empty. `host`: where issue addresses point."""
    node = envelope.pull
    merge = node.merge_commit.oid if node.merge_commit else ""
    reverts = {*reverted_pulls(node.title, node.body, repo=repo.name), *envelope.reverted}
    return PullRequest(
        source=repo.source,
        repo=repo.name,
        repo_id=repo.database_id,
        number=node.number,
        title=node.title,
        body=node.body,
        author=_actor(node.author),
        merged_by=_actor(node.merged_by),
        base_branch=node.base_ref_name,
        default_branch=repo.default_branch,
        head_commit=node.head_ref_oid,
        merge_commit=merge,
        created_at=node.created_at,
        merged_at=node.merged_at,
        updated_at=node.updated_at,
        edited_at=node.last_edited_at,
        labels=tuple(label.name for label in node.labels.nodes) if node.labels else (),
        commits=tuple(
            Commit(
                oid=listed.commit.oid,
                message=listed.commit.message,
                authored_at=listed.commit.authored_date,
                committed_at=listed.commit.committed_date,
            )
            for listed in node.commits.nodes
        ),
        files=tuple(_file(file) for file in node.files.nodes) if node.files else (),
        links=links_of(envelope, repo=repo.name, host=host),
        issues=_issues(envelope),
        reverts=tuple(sorted(reverts - {node.number})),
        base=Base(commit=None, merge_tree=merge, method=None, rule="", detail=UNRESOLVED),
        license=repo.license,
        languages=repo.languages,
        fetched_at=fetched_at,
        raw_digest=raw_digest,
    )


def _actor(who: Who | None) -> Actor | None:
    if who is None:
        return None
    return Actor(login=who.login, kind=_ACTOR_KINDS.get(who.typename, ActorKind.USER))


def _file(node: FileNode) -> ChangedFile:
    return ChangedFile(
        path=node.path,
        additions=node.additions,
        deletions=node.deletions,
        change=_CHANGE_TYPES.get(node.change_type, ChangeType.MODIFIED),
    )


def _issues(envelope: Envelope) -> tuple[Issue, ...]:
    """Closing issues and text targets, each once, by repository and number."""
    edits = {node.id: node for node in envelope.edits}
    moment = begun_at(envelope.pull)
    closing = envelope.pull.closing_issues_references.nodes
    targets = {
        (t.repository.name_with_owner.lower(), t.number): t
        for t in [*(asked.answer for asked in envelope.targets), *closing]
    }
    return tuple(_issue(targets[key], edits, moment) for key in sorted(targets))


def _issue(node: TargetNode, edits: Mapping[str, EditsNode], moment: datetime) -> Issue:
    versions, complete = text_versions(node, edits.get(node.id))
    comments = node.comments.nodes if node.comments else ()
    return Issue(
        repo=node.repository.name_with_owner,
        number=node.number,
        title=node.title,
        body=node.body,
        author=_actor(node.author),
        created_at=node.created_at,
        is_pull=node.typename == "PullRequest",
        closed_at=node.closed_at,
        edited_at=_edited_at(node),
        labels=tuple(label.name for label in node.labels.nodes) if node.labels else (),
        comments=tuple(_comment(comment, edits, moment) for comment in comments),
        versions=versions,
        versions_complete=complete,
    )


def _edited_at(node: TargetNode) -> datetime | None:
    """The last change of body or title."""
    moments = [event.created_at for event in renames_of(node)]
    if node.last_edited_at:
        moments.append(node.last_edited_at)
    return max(moments, default=None)


def _comment(node: CommentNode, edits: Mapping[str, EditsNode], moment: datetime) -> Comment:
    """As it stood before the fix was begun, where its history tells."""
    body, edited_at = comment_text(node, edits.get(node.id), moment=moment)
    return Comment(
        author=_actor(node.author),
        body=body,
        created_at=node.created_at,
        edited_at=edited_at,
        minimized=node.is_minimized,
    )
