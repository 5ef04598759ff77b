"""Every piece of evidence that a pull closes an issue, with where it was found. Pure.

GitHub's own closing references miss pulls into other branches and keywords in commit messages, and
texts miss links made by hand, so all are kept: closing references, keywords in title, body and
every commit message, links by hand, and the last time the issue was closed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from miner.crawl.github.nodes import Closer, Envelope, LinkEvent, PullNode, Subject
from miner.crawl.links import Place, text_links
from miner.model import Link, LinkSource, LinkStrength

_Target = tuple[str, int]


def links_of(envelope: Envelope, *, repo: str, host: str) -> tuple[Link, ...]:
    """All links, in a fixed order; names as the targets bear them today."""
    node = envelope.pull
    names = {
        (asked.repo.lower(), asked.number): asked.answer.repository.name_with_owner
        for asked in envelope.targets
    }
    texts = (_renamed(link, names) for link in _text_links(node, repo=repo, host=host))
    found = [
        *_closing(node),
        *(
            link
            for link in texts
            if (link.repo.lower(), link.number) != (repo.lower(), node.number)
        ),
        *_by_hand(node, repo=repo),
        *_closed(envelope, repo=repo),
    ]
    return tuple(dict.fromkeys(found))


def unread_targets(node: PullNode, *, repo: str, host: str) -> tuple[_Target, ...]:
    """(repo, number) that a text or a hand closes and that the answer does not hold yet."""
    held = {
        (issue.repository.name_with_owner.lower(), issue.number)
        for issue in node.closing_issues_references.nodes
    }
    wanted = [
        (link.repo, link.number)
        for link in (*_text_links(node, repo=repo, host=host), *_by_hand(node, repo=repo))
        if link.strength is LinkStrength.CLOSES
    ]
    fresh = {(name.lower(), number): (name, number) for name, number in wanted}
    return tuple(fresh[key] for key in fresh if key not in held)


def _closing(node: PullNode) -> Iterator[Link]:
    for issue in node.closing_issues_references.nodes:
        yield Link(
            repo=issue.repository.name_with_owner,
            number=issue.number,
            source=LinkSource.CLOSING_REFERENCE,
            strength=LinkStrength.CLOSES,
        )


def _text_links(node: PullNode, *, repo: str, host: str) -> Iterator[Link]:
    for text, at in _texts(node, repo=repo, host=host):
        yield from text_links(text, at=at)


def _texts(node: PullNode, *, repo: str, host: str) -> Iterator[tuple[str, Place]]:
    author = node.author.login if node.author else None
    for text, source in ((node.title, LinkSource.TITLE), (node.body, LinkSource.BODY)):
        yield (
            text,
            Place(
                repo=repo,
                number=node.number,
                host=host,
                source=source,
                place=source.value,
                author=author,
                made_at=node.created_at,
            ),
        )
    commits = {
        listed.commit.oid: (
            listed.commit.message,
            listed.commit.author.user.login
            if listed.commit.author and listed.commit.author.user
            else None,
            listed.commit.authored_date,
        )
        for listed in node.commits.nodes
    }
    if merge := node.merge_commit:
        merger = node.merged_by.login if node.merged_by else None
        commits.setdefault(merge.oid, (merge.message, merger, merge.committed_date))
    for oid, (message, committer, authored_at) in commits.items():
        yield (
            message,
            Place(
                repo=repo,
                number=node.number,
                host=host,
                source=LinkSource.COMMIT_MESSAGE,
                place=oid,
                author=committer,
                made_at=authored_at,
            ),
        )


def _by_hand(node: PullNode, *, repo: str) -> Iterator[Link]:
    """Issues linked in the sidebar, unless that was undone before the merge."""
    linked: dict[_Target, LinkEvent] = {}
    for event in sorted(node.timeline_items.nodes, key=lambda event: event.created_at):
        issue = _other_end(event, node, repo)
        if issue is None:
            continue
        if event.typename == "ConnectedEvent":
            linked[issue] = event
        elif event.created_at <= node.merged_at:
            linked.pop(issue, None)
    for (name, number), event in linked.items():
        yield Link(
            repo=name,
            number=number,
            source=LinkSource.CONNECTED_EVENT,
            strength=LinkStrength.CLOSES,
            author=event.actor.login if event.actor else None,
            made_at=event.created_at,
        )


def _other_end(event: LinkEvent, node: PullNode, repo: str) -> _Target | None:
    for end in (event.subject, event.source):
        target = _target(end)
        if target is not None and (target[0].lower(), target[1]) != (repo.lower(), node.number):
            return target
    return None


def _target(end: Subject) -> _Target | None:
    if end.repository is None or end.number is None:
        return None  # hidden from this token
    return end.repository.name_with_owner, end.number


def _closed(envelope: Envelope, *, repo: str) -> Iterator[Link]:
    """Issues whose last close names this pull or one of its commits."""
    node = envelope.pull
    own = {listed.commit.oid for listed in node.commits.nodes}
    if node.merge_commit:
        own.add(node.merge_commit.oid)
    issues = [*node.closing_issues_references.nodes, *(t.answer for t in envelope.targets)]
    for issue in issues:
        events = issue.history.nodes if issue.history else ()
        closings = [event for event in events if event.typename == "ClosedEvent"]
        if not closings:
            continue
        last = max(closings, key=lambda event: event.created_at)
        if last.closer and _is_ours(last.closer, node, own, repo):
            yield Link(
                repo=issue.repository.name_with_owner,
                number=issue.number,
                source=LinkSource.CLOSED_EVENT,
                strength=LinkStrength.CLOSES,
                place=last.closer.oid or "",
                author=last.actor.login if last.actor else None,
                made_at=last.created_at,
            )


def _is_ours(closer: Closer, node: PullNode, own: set[str], repo: str) -> bool:
    if closer.typename == "PullRequest":
        name = closer.repository.name_with_owner if closer.repository else ""
        return name.lower() == repo.lower() and closer.number == node.number
    return closer.typename == "Commit" and closer.oid in own


def _renamed(link: Link, names: Mapping[_Target, str]) -> Link:
    """A link to a repository's former name is one to the repository."""
    return replace(link, repo=names.get((link.repo.lower(), link.number), link.repo))
