"""Fetches the rest of what a page of pulls cut off, and what its pulls point at.

A page asks for the first hundred of everything; what is longer, or was left out as too heavy, is
fetched here to its end. Text targets, edit histories and reverted commits are asked for together,
for all pulls of a page.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from pydantic import ValidationError

from miner.crawl.github.evidence import unread_targets
from miner.crawl.github.graphql import GraphQL, HeavyQueryError
from miner.crawl.github.nodes import Envelope, PullNode, TargetNode, begun_at
from miner.crawl.github.payload import malformed
from miner.crawl.github.queries import numbered_query, query
from miner.crawl.github.versions import edited_after, was_edited_since
from miner.crawl.links import reverted_commits, reverted_pulls
from miner.errors import MalformedPayloadError

TARGETS_A_QUERY = 20
EDITS_A_QUERY = 20

_Item = TypeVar("_Item")

Tree = dict[str, object]
"""A piece of an answer, as JSON gives it."""

_PULL_CONNECTIONS = {
    "commits": "more_commits",
    "files": "more_files",
    "closingIssuesReferences": "more_closes",
    "timelineItems": "more_connections",
}


@dataclass(slots=True)
class Draft:
    """A pull on its way to a payload. `error`: why it cannot be read."""

    tree: Tree = field(repr=False)
    node: PullNode | None = None
    targets: list[Tree] = field(default_factory=list)
    edits: list[Tree] = field(default_factory=list)
    reverted: list[int] = field(default_factory=list)
    error: str | None = None

    @property
    def number(self) -> int:
        """The pull's number, 0 when not even that can be read."""
        number = self.tree.get("number")
        return number if isinstance(number, int) else 0

    def _parts(self, pull: object) -> dict[str, object]:
        return {
            "pull": pull,
            "targets": self.targets,
            "edits": self.edits,
            "reverted": sorted(set(self.reverted)),
        }

    def raw(self) -> bytes:
        """The payload: canonical JSON, the same bytes for the same answers."""
        text = json.dumps(
            self._parts(self.tree), sort_keys=True, ensure_ascii=False, separators=(",", ":")
        )
        return text.encode()

    def envelope(self) -> Envelope:
        """The payload, checked. MalformedPayloadError when it is not what the schema says."""
        if self.error is not None:
            raise MalformedPayloadError(f"Pull {self.number} is malformed: {self.error}.")
        try:
            return Envelope.model_validate(self._parts(self.node))
        except ValidationError as error:
            raise malformed(error, what=f"Pull {self.number}") from None


class Completion:
    """Completes drafts of one repository. `host`: where issue addresses in texts point."""

    def __init__(self, api: GraphQL, *, repo: str, host: str) -> None:
        self._api = api
        self._repo = repo
        self._host = host

    def complete(self, drafts: Sequence[Draft]) -> None:
        """Fill every draft, or set its error. Errors of the machinery are raised."""
        for draft in drafts:
            if draft.error is None:
                self._fill(draft)
        readable = [draft for draft in drafts if draft.error is None]
        self._add_targets(readable)
        self._add_edits(readable)
        self._add_reverted(readable)

    def _fill(self, draft: Draft) -> None:
        try:
            for name, rest in _PULL_CONNECTIONS.items():
                self._finish(draft.tree, name, rest)
            for issue in _nodes(draft.tree, "closingIssuesReferences"):
                self._finish(issue, "comments", "more_comments")
            draft.node = PullNode.model_validate(draft.tree)
        except ValidationError as error:
            draft.error = str(malformed(error, what="It"))
        except MalformedPayloadError as error:
            draft.error = str(error)

    def _finish(self, holder: Tree, name: str, rest: str) -> None:
        """Append what `holder[name]` lacks; null entries (hidden from us) are dropped."""
        connection = holder.get(name)
        if not isinstance(connection, dict):
            connection = {"nodes": [], "pageInfo": {"hasNextPage": True, "endCursor": None}}
            holder[name] = connection
        nodes = _listed(connection)
        while (after := _next(connection)) is not None:
            connection = self._more(holder, name, rest, after=after[0])
            nodes += _listed(connection)
        holder[name] = {"totalCount": connection.get("totalCount"), "nodes": nodes}

    def _more(self, holder: Tree, name: str, rest: str, *, after: str | None) -> Tree:
        if not isinstance(holder.get("id"), str):
            raise MalformedPayloadError(f"{name} cannot be read to the end: there is no id")
        answer = self._api.ask(query(rest), {"id": holder["id"], "after": after})
        node = answer.data.get("node")
        connection = node.get(name) if isinstance(node, dict) else None
        if not isinstance(connection, dict):
            said = answer.problems[0].message if answer.problems else "null"
            raise MalformedPayloadError(f"{name} cannot be read to the end: {said}")
        return connection

    def _add_targets(self, drafts: Sequence[Draft]) -> None:
        wanted = [
            (draft, repo, number)
            for draft in drafts
            if draft.node is not None
            for repo, number in unread_targets(draft.node, repo=self._repo, host=self._host)
        ]
        asked = list(dict.fromkeys((repo, number) for _, repo, number in wanted))
        answers: dict[tuple[str, int], Tree] = {}
        for batch in _batches(asked, TARGETS_A_QUERY):
            answers |= self._targets(batch)
        for draft, repo, number in wanted:
            answer = answers.get((repo, number))
            if answer is not None and answer.get("unread"):
                draft.error = f"target {repo}#{number}: {answer['unread']}"
            elif answer is not None:
                draft.targets.append({"repo": repo, "number": number, "answer": answer})

    def _targets(self, batch: Sequence[tuple[str, int]]) -> dict[tuple[str, int], Tree]:
        variables: dict[str, object] = {}
        for index, (repo, number) in enumerate(batch):
            variables |= _named(index, repo) | {f"number{index}": number}
        try:
            answer = self._api.ask(numbered_query("targets", len(batch)), variables)
        except HeavyQueryError:
            if len(batch) == 1:
                raise
            half = len(batch) // 2
            return self._targets(batch[:half]) | self._targets(batch[half:])
        found = {}
        for index, key in enumerate(batch):
            held = answer.data.get(f"t{index}")
            target = held.get("issueOrPullRequest") if isinstance(held, dict) else None
            if isinstance(target, dict):
                found[key] = self._whole_target(target)
        return found

    def _whole_target(self, target: Tree) -> Tree:
        """With all comments; one that cannot be read so is told in "unread"."""
        if target.get("__typename") == "Issue":
            try:
                self._finish(target, "comments", "more_comments")
            except MalformedPayloadError as error:
                return {"unread": str(error)}
        return target

    def _add_edits(self, drafts: Sequence[Draft]) -> None:
        """Edit histories, only of what was changed after the pull was made or begun."""
        wanted: dict[str, list[Draft]] = {}
        for draft in drafts:
            for node_id in self._edited(draft):
                wanted.setdefault(node_id, []).append(draft)
        for batch in _batches(list(wanted), EDITS_A_QUERY):
            for node in self._edits(batch):
                for draft in wanted.get(str(node.get("id")), ()):
                    draft.edits.append(node)

    def _edits(self, ids: Sequence[str]) -> list[Tree]:
        try:
            answer = self._api.ask(query("edits"), {"ids": list(ids)})
        except HeavyQueryError:
            if len(ids) == 1:
                raise
            half = len(ids) // 2
            return self._edits(ids[:half]) + self._edits(ids[half:])
        listed = _listed(answer.data)
        for node in listed:
            # With an unreadable rest totalCount stays ahead of the nodes: a partial history.
            with suppress(MalformedPayloadError):
                self._finish(node, "userContentEdits", "more_edits")
        return listed

    def _edited(self, draft: Draft) -> Iterator[str]:
        """Ids of issues changed after the pull, and of older comments changed since its start."""
        if draft.node is None:
            return
        begun = begun_at(draft.node)
        for issue in self._issues(draft):
            if edited_after(issue, draft.node.created_at):
                yield issue.id
            for comment in issue.comments.nodes if issue.comments else ():
                if was_edited_since(comment, begun):
                    yield comment.id

    def _issues(self, draft: Draft) -> Iterator[TargetNode]:
        """Every issue of a draft; one that cannot be read makes the draft unreadable."""
        if draft.node is None:
            return
        yield from draft.node.closing_issues_references.nodes
        for target in draft.targets:
            try:
                yield TargetNode.model_validate(target["answer"])
            except ValidationError as error:
                draft.error = str(malformed(error, what=f"Target {target['number']}"))

    def _add_reverted(self, drafts: Sequence[Draft]) -> None:
        """Pulls whose merge commit a message says it reverts, where no number is named."""
        for draft in drafts:
            node = draft.node
            if node is None or reverted_pulls(node.title, node.body, repo=self._repo):
                continue
            texts = [node.body, *(listed.commit.message for listed in node.commits.nodes)]
            commits = [oid for text in texts for oid in reverted_commits(text)]
            for batch in _batches(list(dict.fromkeys(commits)), TARGETS_A_QUERY):
                draft.reverted += self._pulls_of(batch)

    def _pulls_of(self, commits: Sequence[str]) -> list[int]:
        variables: dict[str, object] = {}
        for index, oid in enumerate(commits):
            variables |= _named(index, self._repo) | {f"expression{index}": oid}
        answer = self._api.ask(numbered_query("reverted", len(commits)), variables)
        found: list[int] = []
        for index in range(len(commits)):
            held = answer.data.get(f"c{index}")
            commit = held.get("object") if isinstance(held, dict) else None
            if isinstance(commit, dict):
                found += _merged_by(commit)
        return found


def _merged_by(commit: Tree) -> Iterator[int]:
    """The numbers of the pulls whose merge commit this is."""
    for pull in _nodes(commit, "associatedPullRequests"):
        merge = pull.get("mergeCommit")
        number = pull.get("number")
        if isinstance(merge, dict) and merge.get("oid") == commit.get("oid"):
            yield from [number] if isinstance(number, int) else []


def _named(index: int, repo: str) -> dict[str, object]:
    owner, _, name = repo.partition("/")
    return {f"owner{index}": owner, f"name{index}": name}


def _nodes(holder: Mapping[str, object], name: str) -> list[Tree]:
    connection = holder.get(name)
    return _listed(connection) if isinstance(connection, dict) else []


def _listed(connection: Mapping[str, object]) -> list[Tree]:
    nodes = connection.get("nodes")
    return [node for node in nodes if isinstance(node, dict)] if isinstance(nodes, list) else []


def _next(connection: Mapping[str, object]) -> tuple[str | None] | None:
    """The cursor to go on from, in a tuple (it may be null); None at the end."""
    info = connection.get("pageInfo")
    if not isinstance(info, dict) or info.get("hasNextPage") is not True:
        return None
    cursor = info.get("endCursor")
    return (cursor if isinstance(cursor, str) else None,)


def _batches(items: Sequence[_Item], size: int) -> Iterator[Sequence[_Item]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
