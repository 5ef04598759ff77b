"""GraphQL objects of a pull: its commits, files, closing references and timeline."""

from collections.abc import Sequence
from datetime import datetime

from miner.demo.git_facts import FileFact
from miner.demo.issue_objects import cross_reference, issue_node
from miner.demo.makers import Makers
from miner.demo.nodes import (
    Node,
    association,
    connection,
    content_edits,
    labels,
    last_edit,
    lazy,
    moment,
    timeline,
)
from miner.demo.pulls import PullRecord
from miner.demo.world import RepositoryWorld

Event = tuple[str, datetime, Node]


def pull_node(objects: Makers, repository: RepositoryWorld, pull: PullRecord) -> Node:
    """A pull with everything reachable from it; git is asked only for what a query wants."""
    return {
        **_text_fields(objects, repository, pull),
        **_git_fields(objects, repository, pull),
        "timelineItems": timeline(
            _events(objects, repository, pull), kind="PullRequestTimelineItemsConnection"
        ),
    }


def _text_fields(objects: Makers, repository: RepositoryWorld, pull: PullRecord) -> Node:
    name = f"{repository.database_id}_{pull.number}"
    closing = [
        repository.issues[number]
        for number in pull.closing_references
        if number in repository.issues
    ]
    return {
        "__typename": "PullRequest",
        "id": f"PR_{name}",
        "databaseId": repository.database_id * 1000 + pull.number,
        "fullDatabaseId": str(repository.database_id * 1000 + pull.number),
        "number": pull.number,
        "url": f"{objects.web_url}/{repository.name}/pull/{pull.number}",
        "title": pull.title,
        "body": pull.body,
        "isDraft": False,
        "createdAt": moment(pull.created_at),
        "updatedAt": moment(repository.updated_at(pull)),
        "mergedAt": moment(pull.merged_at),
        "closedAt": moment(pull.closed_at or pull.merged_at),
        "closed": (pull.closed_at or pull.merged_at) is not None,
        "merged": pull.merged_at is not None,
        "state": objects.pull_state(pull),
        "lastEditedAt": moment(last_edit(pull.edits, pull.created_at)),
        "includesCreatedEdit": bool(pull.edits),
        "authorAssociation": association(pull.author),
        "author": objects.person(pull.author),
        "mergedBy": objects.person(pull.merged_by),
        "labels": labels(pull.labels),
        "repository": lazy(lambda _: objects.repository(repository)),
        "baseRepository": lazy(lambda _: objects.repository(repository)),
        "headRepository": lazy(lambda _: _head_repository(objects, repository, pull)),
        "isCrossRepository": pull.head_repository not in (None, repository.name),
        "comments": lazy(lambda arguments: connection((), arguments, dict)),
        "userContentEdits": content_edits(pull.edits, f"PR_{name}", objects.web_url),
        "closingIssuesReferences": lazy(
            lambda arguments: connection(
                closing, arguments, lambda issue: issue_node(objects, repository, issue)
            )
        ),
    }


def _head_repository(objects: Makers, repository: RepositoryWorld, pull: PullRecord) -> Node | None:
    """A contributor's fork is known by name only; None once it was deleted."""
    if pull.head_repository in (None, repository.name):
        return objects.repository(repository)
    assert pull.head_repository is not None  # noqa: S101  as just asked
    return {
        **objects.repository(repository),
        "nameWithOwner": pull.head_repository,
        "isFork": True,
    }


def _git_fields(objects: Makers, repository: RepositoryWorld, pull: PullRecord) -> Node:
    def files() -> Sequence[FileFact]:
        return repository.pull_facts(pull).files

    def merge_commit() -> Node | None:
        oid = repository.pull_facts(pull).merge_commit
        return objects.commit(repository, oid) if oid else None

    return {
        "baseRefName": pull.base_branch or repository.default_branch,
        "baseRefOid": lazy(lambda _: repository.pull_facts(pull).base),
        "headRefName": pull.head_branch or f"pull-{pull.number}",
        "headRefOid": lazy(lambda _: repository.pull_facts(pull).head),
        "mergeCommit": lazy(lambda _: merge_commit()),
        "additions": lazy(lambda _: sum(file.additions for file in files())),
        "deletions": lazy(lambda _: sum(file.deletions for file in files())),
        "changedFiles": lazy(lambda _: len(files())),
        "commits": lazy(
            lambda arguments: connection(
                repository.pull_facts(pull).commits,
                arguments,
                lambda oid: {
                    "__typename": "PullRequestCommit",
                    "id": f"PRC_{repository.database_id}_{pull.number}_{oid}",
                    "url": f"{objects.web_url}/{repository.name}/pull/{pull.number}/commits/{oid}",
                    "commit": objects.commit(repository, oid),
                },
            )
        ),
        "files": lazy(lambda arguments: connection(files(), arguments, _file)),
    }


def _file(file: FileFact) -> Node:
    return {
        "__typename": "PullRequestChangedFile",
        "path": file.path,
        "additions": file.additions,
        "deletions": file.deletions,
        "changeType": file.change,
    }


def _events(objects: Makers, repository: RepositoryWorld, pull: PullRecord) -> Sequence[Event]:
    name = f"{repository.database_id}_{pull.number}"
    events: list[Event] = []
    for other in repository.mentions.get(pull.number, ()):
        node = cross_reference(objects, repository, other.number, pull.number)
        events.append(("CROSS_REFERENCED_EVENT", other.created_at, node))
    for link in pull.connections:
        moments = {"CONNECTED_EVENT": link.connected_at, "DISCONNECTED_EVENT": link.disconnected_at}
        for kind, at in moments.items():
            if at is not None:
                events.append((kind, at, _link(objects, repository, pull, link.issue, kind, at)))
    if pull.merged_at is not None:
        merged: Node = {
            "__typename": "MergedEvent",
            "id": f"ME_{name}",
            "actor": objects.person(pull.merged_by),
            "createdAt": moment(pull.merged_at),
            "mergeRefName": pull.base_branch or repository.default_branch,
            "commit": lazy(
                lambda _: objects.commit(repository, str(repository.pull_facts(pull).merge_commit))
            ),
        }
        events.append(("MERGED_EVENT", pull.merged_at, merged))
    return events


def _link(
    objects: Makers,
    repository: RepositoryWorld,
    pull: PullRecord,
    number: int,
    kind: str,
    at: datetime,
) -> Node:
    connected = kind == "CONNECTED_EVENT"
    return {
        "__typename": "ConnectedEvent" if connected else "DisconnectedEvent",
        "id": f"{'CON' if connected else 'DIS'}_{repository.database_id}_{pull.number}_{number}",
        "actor": objects.person(pull.merged_by or pull.author),
        "createdAt": moment(at),
        "isCrossRepository": False,
        "source": lazy(lambda _: pull_node(objects, repository, pull)),
        "subject": lazy(lambda _: issue_node(objects, repository, repository.issues[number])),
    }
