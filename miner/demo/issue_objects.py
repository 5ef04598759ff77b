"""GraphQL objects of an issue: its text, comments, edits and timeline."""

from collections.abc import Sequence
from datetime import datetime

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
from miner.demo.pulls import CommentRecord, IssueRecord
from miner.demo.world import RepositoryWorld


def issue_node(objects: Makers, repository: RepositoryWorld, issue: IssueRecord) -> Node:
    """An issue."""
    name = f"{repository.database_id}_{issue.number}"
    url = f"{objects.web_url}/{repository.name}/issues/{issue.number}"
    return {
        "__typename": "Issue",
        "id": f"I_{name}",
        "databaseId": repository.database_id * 1000 + issue.number,
        "fullDatabaseId": str(repository.database_id * 1000 + issue.number),
        "number": issue.number,
        "url": url,
        "title": issue.title,
        "body": issue.body,
        "state": "CLOSED" if issue.closed_at else "OPEN",
        "stateReason": "COMPLETED" if issue.closed_at else None,
        "closed": issue.closed_at is not None,
        "createdAt": moment(issue.created_at),
        "updatedAt": moment(_updated_at(issue)),
        "closedAt": moment(issue.closed_at),
        "lastEditedAt": moment(last_edit(issue.edits, issue.created_at)),
        "includesCreatedEdit": bool(issue.edits),
        "authorAssociation": association(issue.author),
        "author": objects.person(issue.author),
        "repository": lazy(lambda _: objects.repository(repository)),
        "labels": labels(issue.labels),
        "comments": lazy(
            lambda arguments: connection(
                list(enumerate(issue.comments)),
                arguments,
                lambda numbered: comment_node(objects, repository, issue, numbered[0]),
            )
        ),
        "userContentEdits": content_edits(issue.edits, f"I_{name}", objects.web_url),
        "timelineItems": timeline(
            _events(objects, repository, issue), kind="IssueTimelineItemsConnection"
        ),
    }


def _updated_at(issue: IssueRecord) -> datetime:
    times = [issue.created_at, *(comment.created_at for comment in issue.comments)]
    times += [edit.edited_at for edit in issue.edits]
    times += [rename.renamed_at for rename in issue.renames]
    return max([*times, issue.closed_at] if issue.closed_at else times)


def comment_node(
    objects: Makers, repository: RepositoryWorld, issue: IssueRecord, place: int
) -> Node:
    """A comment, named by its place on the issue."""
    comment: CommentRecord = issue.comments[place]
    name = f"{repository.database_id}_{issue.number}_{place}"
    number = (repository.database_id * 1000 + issue.number) * 100 + place
    return {
        "__typename": "IssueComment",
        "id": f"IC_{name}",
        "databaseId": None,
        "fullDatabaseId": str(number),
        "url": f"{objects.web_url}/{repository.name}/issues/{issue.number}#issuecomment-{number}",
        "createdAt": moment(comment.created_at),
        "updatedAt": moment(last_edit(comment.edits, comment.created_at) or comment.created_at),
        "lastEditedAt": moment(last_edit(comment.edits, comment.created_at)),
        "includesCreatedEdit": bool(comment.edits),
        "body": comment.body,
        "isMinimized": comment.minimized,
        "minimizedReason": "off-topic" if comment.minimized else None,
        "authorAssociation": association(comment.author),
        "author": objects.person(comment.author),
        "issue": lazy(lambda _: issue_node(objects, repository, issue)),
        "userContentEdits": content_edits(comment.edits, f"IC_{name}", objects.web_url),
    }


def _events(
    objects: Makers, repository: RepositoryWorld, issue: IssueRecord
) -> Sequence[tuple[str, datetime, Node]]:
    name = f"{repository.database_id}_{issue.number}"
    actor = objects.person(issue.author)
    events: list[tuple[str, datetime, Node]] = []
    for place, rename in enumerate(issue.renames):
        node: Node = {
            "__typename": "RenamedTitleEvent",
            "id": f"RTE_{name}_{place}",
            "actor": actor,
            "createdAt": moment(rename.renamed_at),
            "previousTitle": rename.previous_title,
            "currentTitle": rename.current_title,
        }
        events.append(("RENAMED_TITLE_EVENT", rename.renamed_at, node))
    for pull in repository.mentions.get(issue.number, ()):
        event = cross_reference(objects, repository, pull.number, issue.number)
        events.append(("CROSS_REFERENCED_EVENT", pull.created_at, event))
    if issue.closed_at is not None:
        node = {
            "__typename": "ClosedEvent",
            "id": f"CE_{name}",
            "actor": actor,
            "createdAt": moment(issue.closed_at),
            "stateReason": "COMPLETED",
            "closer": lazy(lambda _: _closer(objects, repository, issue)),
        }
        events.append(("CLOSED_EVENT", issue.closed_at, node))
    return events


def _closer(objects: Makers, repository: RepositoryWorld, issue: IssueRecord) -> Node | None:
    closer = issue.closed_by or ""
    if closer.startswith("#"):
        return objects.pull(repository, repository.pulls[int(closer[1:])])
    return objects.commit(repository, repository.facts.resolve(closer)) if closer else None


def cross_reference(
    objects: Makers, repository: RepositoryWorld, pull_number: int, target_number: int
) -> Node:
    """A pull's text names the target."""
    pull = repository.pulls[pull_number]
    target = repository.issues.get(target_number)
    return {
        "__typename": "CrossReferencedEvent",
        "id": f"CRE_{repository.database_id}_{pull_number}_{target_number}",
        "actor": objects.person(pull.author),
        "createdAt": moment(pull.created_at),
        "referencedAt": moment(pull.created_at),
        "isCrossRepository": False,
        "willCloseTarget": target_number in pull.closing_references,
        "url": f"{objects.web_url}/{repository.name}/pull/{pull_number}",
        "source": lazy(lambda _: objects.pull(repository, pull)),
        "target": lazy(
            lambda _: (
                issue_node(objects, repository, target)
                if target
                else objects.pull(repository, repository.pulls[target_number])
            )
        ),
    }
