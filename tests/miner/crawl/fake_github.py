"""A GitHub in memory, at the seam where requests leave: a Transport over Python objects.

Pulls and issues are declared by `pull()` and `issue()` in the shape of GraphQL answers, their lists
whole; the fake cuts them into pages as asked. Answers may be replaced by faults, and every request
is kept for tests to look at.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from miner.wire import Request, Response

BASE_URL = "https://api.github.test"
RESET_AT = int(datetime(2030, 1, 1, tzinfo=UTC).timestamp())
Node = dict[str, Any]
Fault = Callable[[Request], Response | None]


def who(login: str, typename: str = "User") -> Node:
    """An account."""
    return {"__typename": typename, "login": login}


def at(day: int, hour: int = 0) -> str:
    """A moment in January 2024."""
    return f"2024-01-{day:02d}T{hour:02d}:00:00Z"


def comment(text: str, *, created: str, by: str = "ann", **more: Any) -> Node:
    """A comment of an issue."""
    return {"id": f"C{text}", "createdAt": created, "lastEditedAt": None, "body": text,
            "isMinimized": False, "author": who(by), **more}  # fmt: skip


def closed(closer: Node | None, *, created: str) -> Node:
    """The event that closed an issue."""
    return {"__typename": "ClosedEvent", "createdAt": created, "actor": who("ann"),
            "closer": closer}  # fmt: skip


def renamed(before: str, after: str, *, created: str) -> Node:
    """The event that renamed an issue."""
    return {"__typename": "RenamedTitleEvent", "createdAt": created, "previousTitle": before,
            "currentTitle": after}  # fmt: skip


def issue(number: int, *, repo: str = "o/r", typename: str = "Issue", **more: Any) -> Node:
    """An issue, or with typename PullRequest another pull. `edits`: oldest first."""
    return {
        "__typename": typename,
        "id": f"I_{repo}_{number}",
        "number": number,
        "title": f"Issue {number}",
        "body": f"Body of issue {number}.",
        "createdAt": at(1),
        "closedAt": at(20),
        "lastEditedAt": None,
        "includesCreatedEdit": False,
        "author": who("ann"),
        "repository": {"nameWithOwner": repo},
        "labels": [{"name": "bug"}],
        "history": [],
        "comments": [],
        "edits": [],
        **more,
    }


def commit(oid: str, message: str = "work") -> Node:
    """A commit of a pull's branch."""
    return {"commit": {"oid": oid, "message": message, "authoredDate": at(9),
                       "committedDate": at(9), "author": {"user": {"login": "ann"}}}}  # fmt: skip


def pull(number: int, **more: Any) -> Node:
    """A merged pull."""
    return {
        "id": f"P_{number}",
        "number": number,
        "title": f"Pull {number}",
        "body": "",
        "createdAt": at(10),
        "updatedAt": at(12, number % 24),
        "mergedAt": at(11),
        "lastEditedAt": None,
        "author": who("ann"),
        "mergedBy": who("max"),
        "baseRefName": "main",
        "headRefOid": f"{number:040x}",
        "mergeCommit": {"oid": f"{number + 2**40:040x}", "message": f"Pull {number} (#{number})",
                        "committedDate": at(11)},
        "labels": [],
        "commits": [commit(f"{number + 2**50:040x}")],
        "files": [{"path": "a.py", "additions": 1, "deletions": 1, "changeType": "MODIFIED"}],
        "closingIssuesReferences": [],
        "timelineItems": [],
        **more,
    }  # fmt: skip


def repository(name: str = "o/r", *, database_id: int = 1, **more: Any) -> Node:
    """A repository. `pulls`: any order; `issues`: what numbers point at."""
    return {
        "name": name,
        "database_id": database_id,
        "clone_url": f"https://github.com/{name}.git",
        "license": "MIT",
        "languages": {"Python": 900, "Shell": 100},
        "stars": 5,
        "pulls": [],
        "issues": [],
        "former": [],
        "commits": {},
        **more,
    }


class FakeGitHub:
    """Answers requests. `faults` are asked in order before each; the first answer counts."""

    def __init__(self, *repos: Node) -> None:
        self.repos = list(repos)
        self.faults: list[Fault] = []
        self.requests: list[Request] = []
        self.operations: list[str] = []
        self.page_sizes: list[int] = []
        self.counted = 0  # requests that cost quota

    def send(self, request: Request) -> Response:
        """See Transport."""
        self.requests.append(request)
        for fault in list(self.faults):
            if (answer := fault(request)) is not None:
                return answer
        if request.url == f"{BASE_URL}/graphql":
            asked = json.loads(request.body)
            self.counted += 1
            return answered(request, self._graphql(asked["query"], asked["variables"]))
        return self._rest(request)

    def stream(self, request: Request) -> Iterator[bytes]:
        """See Transport."""
        raise NotImplementedError

    def close(self) -> None:
        """See Transport."""

    def repo(self, name: str) -> Node | None:
        """By its present or a former name."""
        for repo in self.repos:
            if name.lower() in (repo["name"].lower(), *(f.lower() for f in repo["former"])):
                return repo
        return None

    def _graphql(self, query: str, variables: Node) -> Node:
        operation = re.search(r"^query (\w+)", query, re.MULTILINE)
        assert operation
        self.operations.append(operation[1])
        self.page_sizes += [variables["pulls"]] if "pulls" in variables else []
        data, errors = getattr(self, f"_{operation[1]}")(variables)
        limits = {"cost": 1, "remaining": 4999, "limit": 5000, "resetAt": "2030-01-01T00:00:00Z"}
        return {"data": {"rateLimit": limits, **data}} | ({"errors": errors} if errors else {})

    def _MergedPulls(self, v: Node) -> tuple[Node, list[Node]]:  # noqa: N802
        repo = self.repo(f"{v['owner']}/{v['name']}")
        if repo is None:
            return {"repository": None}, [not_found(["repository"])]
        pulls = sorted(
            (p for p in repo["pulls"] if p.get("mergedAt")),
            key=lambda p: (p["updatedAt"], p["number"]),
            reverse=True,
        )
        if v["after"]:  # as GitHub's: a cursor is a place in the order, not an offset
            edge = tuple(json.loads(v["after"]))
            pulls = [p for p in pulls if (p["updatedAt"], p["number"]) < edge]
        page = pulls[: v["pulls"]]
        last = json.dumps([page[-1]["updatedAt"], page[-1]["number"]]) if page else None
        info = {"hasNextPage": len(page) < len(pulls), "endCursor": last}
        nodes = [self._cut_pull(p) for p in page]
        found = {"databaseId": repo["database_id"], "nameWithOwner": repo["name"]}
        listed = {"totalCount": len(pulls), "pageInfo": info, "nodes": nodes}
        return {"repository": {**found, "pullRequests": listed}}, []

    def _cut_pull(self, pull: Node) -> Node:
        cut = {
            **pull,
            "labels": {"nodes": pull["labels"]},
            "commits": window(pull["commits"], first=100),
            "files": window(pull["files"], first=100),
            "timelineItems": window(pull["timelineItems"], first=50),
        }
        closes = [self._cut_issue(i) for i in pull["closingIssuesReferences"]]
        return {**cut, "closingIssuesReferences": window(closes, first=5)}

    def _cut_issue(self, issue: Node) -> Node:
        return {
            **{key: value for key, value in issue.items() if key != "edits"},
            "labels": {"nodes": issue["labels"]},
            "history": {"nodes": issue["history"][-30:]},
            "comments": window(issue["comments"], first=50),
        }

    def _by_id(self, node_id: str) -> Node:
        pulls = [p for repo in self.repos for p in repo["pulls"]]
        issues = [i for repo in self.repos for i in repo["issues"]]
        closing = [i for p in pulls for i in p["closingIssuesReferences"]]
        comments = [c for i in [*issues, *closing] for c in i.get("comments", ())]
        return next(n for n in [*pulls, *issues, *closing, *comments] if n["id"] == node_id)

    def _more(self, v: Node, name: str, first: int) -> tuple[Node, list[Node]]:
        items = self._by_id(v["id"])[name]
        if name == "closingIssuesReferences":
            items = [self._cut_issue(i) for i in items]
        return {"node": {name: window(items, first=first, after=v["after"])}}, []

    def _MoreCommits(self, v: Node) -> tuple[Node, list[Node]]:  # noqa: N802
        return self._more(v, "commits", 100)

    def _MoreFiles(self, v: Node) -> tuple[Node, list[Node]]:  # noqa: N802
        return self._more(v, "files", 100)

    def _MoreCloses(self, v: Node) -> tuple[Node, list[Node]]:  # noqa: N802
        return self._more(v, "closingIssuesReferences", 20)

    def _MoreConnections(self, v: Node) -> tuple[Node, list[Node]]:  # noqa: N802
        return self._more(v, "timelineItems", 100)

    def _MoreComments(self, v: Node) -> tuple[Node, list[Node]]:  # noqa: N802
        return self._more(v, "comments", 100)

    def _Targets(self, v: Node) -> tuple[Node, list[Node]]:  # noqa: N802
        data: Node = {}
        errors = []
        for index in range(len(v) // 3):
            repo = self.repo(f"{v[f'owner{index}']}/{v[f'name{index}']}")
            numbered = [] if repo is None else [*repo["issues"], *repo["pulls"]]
            target = next((i for i in numbered if i["number"] == v[f"number{index}"]), None)
            if repo is None or target is None:
                errors.append(not_found([f"t{index}"]))
            if repo is None:
                data[f"t{index}"] = None
                continue
            if target is not None and "edits" in target:
                target = self._cut_issue(target)
            elif target is not None:
                here = {"nameWithOwner": repo["name"]}
                target = {"__typename": "PullRequest", **target, "repository": here, "labels": None}
            data[f"t{index}"] = {"nameWithOwner": repo["name"], "issueOrPullRequest": target}
        return data, errors

    def _Edits(self, v: Node) -> tuple[Node, list[Node]]:  # noqa: N802
        nodes = []
        for node_id in v["ids"]:
            found = self._by_id(node_id)
            edits = window(list(reversed(found["edits"])), first=100)
            history = found.get("history", ())
            renames = [e for e in history if e["__typename"] == "RenamedTitleEvent"]
            told = {"id": node_id, "userContentEdits": edits}
            titles = {"renames": window(renames, first=100)} if "history" in found else {}
            nodes.append(told | titles)
        return {"nodes": nodes}, []

    def _MoreEdits(self, v: Node) -> tuple[Node, list[Node]]:  # noqa: N802
        edits = list(reversed(self._by_id(v["id"])["edits"]))
        return {"node": {"userContentEdits": window(edits, first=100, after=v["after"])}}, []

    def _Reverted(self, v: Node) -> tuple[Node, list[Node]]:  # noqa: N802
        data: Node = {}
        for index in range(len(v) // 3):
            repo = self.repo(f"{v[f'owner{index}']}/{v[f'name{index}']}")
            number = repo["commits"].get(v[f"expression{index}"]) if repo else None
            oid = v[f"expression{index}"]
            merged = {"nodes": [{"number": number, "merged": True, "mergeCommit": {"oid": oid}}]}
            found = None if number is None else {"oid": oid, "associatedPullRequests": merged}
            data[f"c{index}"] = {"object": found}
        return data, []

    def _rest(self, request: Request) -> Response:
        parts = urlsplit(request.url)
        steps = parts.path.strip("/").split("/")
        if steps[0] != "repos":
            self.counted += 1
            return self._looked_up(request, steps, parse_qs(parts.query))
        repo = self.repo("/".join(steps[1:3]))
        if repo is None:
            self.counted += 1
            return answered(request, {"message": "Not Found"}, status=404)
        if repo["name"].lower() != "/".join(steps[1:3]).lower():
            self.counted += 1
            rest = "/".join(["repos", repo["name"], *steps[3:]])
            where = f"{BASE_URL}/{rest}" + (f"?{parts.query}" if parts.query else "")
            return answered(request, {}, status=301, headers={"location": where})
        if steps[3:] == ["pulls"]:
            return self._pulls_list(request, repo, int(parse_qs(parts.query)["per_page"][0]))
        self.counted += 1
        told = {"": rest_repository(repo), "languages": repo["languages"]}
        return answered(request, told["/".join(steps[3:])])

    def _looked_up(
        self, request: Request, steps: list[str], query: dict[str, list[str]]
    ) -> Response:
        if steps[0] == "users":
            owned = [r["name"] for r in self.repos if r["name"].startswith(f"{steps[1]}/")]
            if not owned:
                return answered(request, {"message": "Not Found"}, status=404)
            return answered(request, [{"full_name": name} for name in owned])
        assert steps == ["search", "repositories"], request.url
        word = query["q"][0].split()[0]
        named = [{"full_name": r["name"]} for r in self.repos if word in r["name"]]
        return answered(request, {"total_count": len(named), "items": named})

    def _pulls_list(self, request: Request, repo: Node, count: int) -> Response:
        newest = sorted(repo["pulls"], key=lambda p: (p["updatedAt"], p["number"]), reverse=True)
        body = [
            {"number": p["number"], "updated_at": p["updatedAt"], "merged_at": p["mergedAt"],
             "base": {"repo": {"stargazers_count": repo["stars"]}}}
            for p in newest[:count]
        ]  # fmt: skip
        etag = f'W/"{hashlib.sha256(json.dumps(body).encode()).hexdigest()}"'
        if request.headers.get("if-none-match") == etag:
            return Response(status=304, headers={"etag": etag}, body=b"", url=request.url)
        self.counted += 1
        return answered(request, body, headers={"etag": etag})


def rest_repository(repo: Node) -> Node:
    """GET /repos/{owner}/{repo}, as far as it is read."""
    license_ = {"spdx_id": repo["license"], "key": "x"} if repo["license"] else None
    return {"id": repo["database_id"], "full_name": repo["name"], "clone_url": repo["clone_url"],
            "default_branch": "main", "language": "Python", "license": license_, "fork": False,
            "stargazers_count": repo["stars"], "archived": False,
            "url": f"{BASE_URL}/repos/{repo['name']}"}  # fmt: skip


def window(items: Sequence[Any], *, first: int, after: str | None = None) -> Node:
    """A page of a list, with a cursor that is the count before it."""
    start = int(after) if after else 0
    end = min(start + first, len(items))
    info = {"hasNextPage": end < len(items), "endCursor": str(end)}
    return {"totalCount": len(items), "pageInfo": info, "nodes": list(items[start:end])}


def not_found(path: list[str]) -> Node:
    """A GraphQL error."""
    return {"type": "NOT_FOUND", "message": "Could not resolve.", "path": path}


def answered(
    request: Request, answer: object, *, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """A JSON answer with budget headers."""
    resource = "graphql" if request.method == "POST" else "core"
    return Response(
        status=status,
        headers={
            "content-type": "application/json; charset=utf-8",
            "x-ratelimit-limit": "5000",
            "x-ratelimit-remaining": "4999",
            "x-ratelimit-reset": str(RESET_AT),
            "x-ratelimit-resource": resource,
            **(headers or {}),
        },
        body=json.dumps(answer).encode(),
        url=request.url,
    )
