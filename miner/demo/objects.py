"""GraphQL objects: a repository, its commits, issues and pulls, as GitHub shows them."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from graphql import GraphQLError

from miner.demo.git_facts import FileFact
from miner.demo.issue_objects import issue_node
from miner.demo.licences import licence_node
from miner.demo.nodes import (
    Arguments,
    Node,
    actor,
    connection,
    lazy,
    moment,
)
from miner.demo.pull_objects import pull_node
from miner.demo.pulls import Person, PullRecord
from miner.demo.world import RepositoryWorld, World

_NOREPLY = "@users.noreply.example"


class Objects:
    """Makes GraphQL objects of a world. `web_url` begins every link."""

    def __init__(self, world: World, *, web_url: str) -> None:
        self.world = world
        self._web_url = web_url

    @property
    def web_url(self) -> str:
        """What every link begins with."""
        return self._web_url

    def person(self, person: Person | None) -> Node | None:
        """An account."""
        return actor(person, self.web_url)

    def pull(self, repository: RepositoryWorld, pull: PullRecord) -> Node:
        """A pull."""
        return pull_node(self, repository, pull)

    def pull_state(self, pull: PullRecord) -> str:
        """MERGED, CLOSED or OPEN."""
        if pull.merged_at:
            return "MERGED"
        return "CLOSED" if pull.closed_at else "OPEN"

    def repository(self, repository: RepositoryWorld) -> Node:
        """A repository with everything reachable from it."""
        record = repository.record
        owner, name = record.name.split("/", 1)
        url = f"{self.web_url}/{record.name}"
        return {
            "__typename": "Repository",
            "id": f"R_{repository.database_id}",
            "databaseId": repository.database_id,
            "name": name,
            "nameWithOwner": record.name,
            "owner": self.person(Person(login=owner, kind="Organization")),
            "url": url,
            "description": record.description,
            "isFork": record.is_fork,
            "isArchived": record.is_archived,
            "archivedAt": moment(record.created_at) if record.is_archived else None,
            "isDisabled": False,
            "isLocked": False,
            "isMirror": False,
            "isTemplate": False,
            "isPrivate": False,
            "isEmpty": False,
            "visibility": "PUBLIC",
            "stargazerCount": record.stars,
            "forkCount": record.stars // 10,
            "diskUsage": lazy(lambda _: 1 + sum(repository.languages.values()) // 1024),
            "createdAt": moment(record.created_at) or "2020-01-01T00:00:00Z",
            "pushedAt": lazy(lambda _: moment(repository.pushed_at)),
            "updatedAt": lazy(lambda _: moment(repository.pushed_at)),
            "defaultBranchRef": lazy(lambda _: self._default_branch(repository)),
            "licenseInfo": lazy(lambda _: licence_node(repository.license)),
            "primaryLanguage": lazy(lambda _: _primary(_by_size(repository))),
            "languages": lazy(lambda arguments: _languages(_by_size(repository), arguments)),
            "mergeCommitAllowed": True,
            "squashMergeAllowed": True,
            "rebaseMergeAllowed": True,
            "parent": None,
            "object": lazy(lambda arguments: self._object(repository, arguments)),
            "pullRequests": lazy(lambda arguments: self._pulls(repository, arguments)),
            "issues": lazy(lambda arguments: self._issues(repository, arguments)),
            "pullRequest": lazy(lambda arguments: self._one(repository, arguments, "pull")),
            "issue": lazy(lambda arguments: self._one(repository, arguments, "issue")),
            "issueOrPullRequest": lazy(lambda arguments: self._one(repository, arguments, "any")),
        }

    def _default_branch(self, repository: RepositoryWorld) -> Node:
        return {
            "id": f"REF_{repository.database_id}",
            "name": repository.default_branch,
            "prefix": "refs/heads/",
            "target": self.commit(repository, repository.head),
        }

    def _object(self, repository: RepositoryWorld, arguments: Arguments) -> Node | None:
        name = arguments.get("oid") or arguments.get("expression")
        if name in repository.facts.refs:
            name = repository.facts.refs[str(name)]
        branch = repository.facts.refs.get(f"refs/heads/{name}")
        oid = str(branch or name)
        return self.commit(repository, oid) if len(oid) == 40 else None

    def _pulls(self, repository: RepositoryWorld, arguments: Arguments) -> Node:
        pulls = list(repository.pulls_by_update())
        states = arguments.get("states")
        if isinstance(states, list):
            pulls = [pull for pull in pulls if self.pull_state(pull) in states]
        if arguments.get("baseRefName"):
            base, default = arguments["baseRefName"], repository.default_branch
            pulls = [pull for pull in pulls if (pull.base_branch or default) == base]
        order = arguments.get("orderBy")
        field, direction = ("CREATED_AT", "ASC")
        if isinstance(order, Mapping):
            field, direction = str(order["field"]), str(order["direction"])
        if field != "UPDATED_AT":
            pulls.sort(key=lambda pull: (pull.created_at, pull.number))
        else:
            pulls.reverse()
        if direction == "DESC":
            pulls.reverse()
        return connection(
            pulls,
            arguments,
            lambda pull: pull_node(self, repository, pull),
            key=lambda pull: str(pull.number),
        )

    def _issues(self, repository: RepositoryWorld, arguments: Arguments) -> Node:
        issues = sorted(repository.issues.values(), key=lambda issue: issue.number)
        states = arguments.get("states")
        if isinstance(states, list):
            issues = [i for i in issues if ("CLOSED" if i.closed_at else "OPEN") in states]
        order = arguments.get("orderBy")
        if isinstance(order, Mapping) and order["direction"] == "DESC":
            issues.reverse()
        return connection(issues, arguments, lambda issue: issue_node(self, repository, issue))

    def _one(self, repository: RepositoryWorld, arguments: Arguments, kind: str) -> Node:
        number = int(str(arguments["number"]))
        if kind != "issue" and number in repository.pulls:
            return pull_node(self, repository, repository.pulls[number])
        if kind != "pull" and number in repository.issues:
            return issue_node(self, repository, repository.issues[number])
        what = {"pull": "a PullRequest", "issue": "an Issue", "any": "an issue or pull request"}
        raise not_found(f"Could not resolve to {what[kind]} with the number of {number}.")

    def commit(self, repository: RepositoryWorld, oid: str) -> Node:
        """A commit."""
        fact = repository.facts.commit(oid)
        _, _, body = fact.message.partition("\n")
        return {
            "__typename": "Commit",
            "id": f"C_{repository.database_id}_{oid}",
            "oid": oid,
            "url": f"{self.web_url}/{repository.name}/commit/{oid}",
            "message": fact.message,
            "messageHeadline": fact.headline,
            "messageBody": body.strip("\n"),
            "authoredDate": moment(fact.authored_at),
            "committedDate": moment(fact.committed_at),
            "author": self._signature(fact.author_name, fact.author_email, fact.authored_at),
            "committer": self._signature(
                fact.committer_name, fact.committer_email, fact.committed_at
            ),
            "tree": {"id": f"T_{fact.tree}", "oid": fact.tree},
            "repository": lazy(lambda _: self.repository(repository)),
            "parents": lazy(lambda arguments: self._commits(repository, fact.parents, arguments)),
            "history": lazy(
                lambda arguments: self._commits(
                    repository, repository.facts.history(oid), arguments
                )
            ),
            "associatedPullRequests": lazy(
                lambda arguments: connection(
                    repository.pulls_of_commit(oid),
                    arguments,
                    lambda pull: pull_node(self, repository, pull),
                )
            ),
            "additions": lazy(lambda _: sum(f.additions for f in _own_files(repository, oid))),
            "deletions": lazy(lambda _: sum(f.deletions for f in _own_files(repository, oid))),
            "changedFilesIfAvailable": lazy(lambda _: len(_own_files(repository, oid))),
        }

    def _commits(
        self, repository: RepositoryWorld, oids: Sequence[str], arguments: Arguments
    ) -> Node:
        return connection(oids, arguments, lambda oid: self.commit(repository, oid))

    def _signature(self, name: str, email: str, at: datetime) -> Node:
        user = None
        if email.endswith(_NOREPLY) and "[bot]" not in name:
            user = self.person(Person(login=email.removesuffix(_NOREPLY)))
        return {"name": name, "email": email, "date": at.isoformat(), "user": user}


def not_found(message: str) -> GraphQLError:
    """GitHub's answer for what is not there."""
    return GraphQLError(message, extensions={"type": "NOT_FOUND"})


def _own_files(repository: RepositoryWorld, oid: str) -> Sequence[FileFact]:
    parents = repository.facts.commit(oid).parents
    return repository.facts.files(parents[0], oid) if parents else ()


def _by_size(repository: RepositoryWorld) -> Sequence[tuple[str, int]]:
    return sorted(repository.languages.items(), key=lambda item: -item[1])


def _primary(sizes: Sequence[tuple[str, int]]) -> Node | None:
    return _language(sizes[0][0]) if sizes else None


def _language(name: str) -> Node:
    return {"__typename": "Language", "id": f"L_{name}", "name": name, "color": None}


def _languages(sizes: Sequence[tuple[str, int]], arguments: Arguments) -> Node:
    page = connection(
        sizes,
        arguments,
        lambda item: _language(item[0]),
        totalSize=sum(size for _, size in sizes),
    )
    edges = page["edges"]
    assert isinstance(edges, list)  # noqa: S101  as connection made it
    by_name = dict(sizes)
    return {**page, "edges": [{**edge, "size": by_name[edge["node"]["name"]]} for edge in edges]}
