"""The REST calls a miner makes: repository facts, closed pulls with ETag, search, rate limit."""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from miner.demo.http_messages import Reply, Request, json_reply, problem_reply
from miner.demo.licences import is_licence_file
from miner.demo.nodes import moment
from miner.demo.pulls import PullRecord
from miner.demo.quota import LIMITS, Balance
from miner.demo.rest_shapes import Json, Shapes, rate
from miner.demo.search import MAX_RESULTS, find_repositories
from miner.demo.world import RepositoryWorld, World

API_VERSIONS = ("2022-11-28", "2026-03-10")
_MAX_PER_PAGE = 100


class Rest:
    """Answers GET requests over a world. Charging is the caller's, by `resource`."""

    def __init__(self, world: World, shapes: Shapes) -> None:
        self._world = world
        self._shapes = shapes
        self._routes: Sequence[tuple[re.Pattern[str], Callable[..., Reply]]] = (
            (re.compile(r"/repos/([^/]+/[^/]+)"), self._repository),
            (re.compile(r"/repositories/(\d+)"), self._by_id),
            (re.compile(r"/repos/([^/]+/[^/]+)/languages"), self._languages),
            (re.compile(r"/repos/([^/]+/[^/]+)/license"), self._license),
            (re.compile(r"/repos/([^/]+/[^/]+)/pulls"), self._pulls),
            (re.compile(r"/repositories/(\d+)/pulls"), self._pulls_by_id),
            (re.compile(r"/(?:users|orgs)/([^/]+)/repos"), self._owned),
            (re.compile(r"/search/repositories"), self._search),
        )

    def resource(self, request: Request) -> str:
        """Which budget the call is charged to."""
        return "search" if request.path.startswith("/search/") else "core"

    def answer(self, request: Request) -> Reply:
        """The reply; 304 with an empty body when the caller's ETag still holds."""
        version = request.headers.get("x-github-api-version", API_VERSIONS[0])
        if version not in API_VERSIONS:
            return problem_reply(400, f"{version} is not a supported version.")
        for pattern, answer in self._routes:
            match = pattern.fullmatch(request.path)
            if match:
                reply = answer(request, *match.groups())
                return _not_modified(request, reply)
        return problem_reply(404, "Not Found")

    def rate_limit(self, balance: Callable[[str], Balance], request: Request) -> Reply:
        """GET /rate_limit: free."""
        balances = {name: balance(name) for name in LIMITS}
        body = rate(
            {name: (b.limit, b.used, b.remaining, b.reset_at) for name, b in balances.items()}
        )
        if request.headers.get("x-github-api-version") == API_VERSIONS[1]:
            del body["rate"]
        return json_reply(body)

    def _repository(self, request: Request, name: str) -> Reply:
        found = self._found(name)
        if found is None:
            return problem_reply(404, "Not Found")
        if found.name.lower() != name.lower():
            return _moved(f"{self._shapes.api}/repositories/{found.database_id}")
        return self._full(request, found)

    def _by_id(self, request: Request, database_id: str) -> Reply:
        found = self._world.by_database_id(int(database_id))
        return problem_reply(404, "Not Found") if found is None else self._full(request, found)

    def _found(self, name: str) -> RepositoryWorld | None:
        found = self._world.repository(name)
        return found if found is not None and found.has_git else None

    def _full(self, request: Request, repository: RepositoryWorld) -> Reply:
        body = self._shapes.full_repository(repository)
        return json_reply(_for_version(request, body), headers=_etag(body))

    def _languages(self, _request: Request, name: str) -> Reply:
        found = self._found(name)
        if found is None:
            return problem_reply(404, "Not Found")
        return json_reply(dict(found.languages), headers=_etag(found.languages))

    def _license(self, _request: Request, name: str) -> Reply:
        found = self._found(name)
        if found is None or found.license is None:
            return problem_reply(404, "Not Found")
        paths = [path for path in found.facts.paths(found.head) if is_licence_file(path)]
        path = paths[0] if paths else "LICENSE"
        content = found.facts.read(found.head, path) if paths else b""
        api = f"{self._shapes.api}/repos/{found.name}"
        sha = hashlib.sha1(b"blob %d\0%s" % (len(content), content)).hexdigest()  # noqa: S324  git's
        html = f"{self._shapes.web}/{found.name}/blob/{found.default_branch}/{path}"
        links = {
            "self": f"{api}/contents/{path}",
            "git": f"{api}/git/blobs/{sha}",
            "html": html,
        }
        body = {
            "name": path,
            "path": path,
            "sha": sha,
            "size": len(content),
            "url": links["self"],
            "html_url": html,
            "git_url": links["git"],
            "download_url": html.replace("/blob/", "/raw/"),
            "type": "file",
            "content": base64.encodebytes(content).decode(),
            "encoding": "base64",
            "_links": links,
            "license": self._shapes.licence(found.license),
        }
        return json_reply(body, headers=_etag(body))

    def _pulls(self, request: Request, name: str) -> Reply:
        found = self._found(name)
        if found is None:
            return problem_reply(404, "Not Found")
        if found.name.lower() != name.lower():
            query = f"?{request.query_string}" if request.query_string else ""
            return _moved(f"{self._shapes.api}/repositories/{found.database_id}/pulls{query}")
        return self._pull_page(request, found)

    def _pulls_by_id(self, request: Request, database_id: str) -> Reply:
        found = self._world.by_database_id(int(database_id))
        return problem_reply(404, "Not Found") if found is None else self._pull_page(request, found)

    def _pull_page(self, request: Request, found: RepositoryWorld) -> Reply:
        pulls = _listed(found, request.query)
        start, per_page = _page(request.query)
        shown = pulls[start : start + per_page]
        # the tag is of the facts, not of the body: this server's address may change
        facts = [(p.number, moment(found.updated_at(p)), p.title, p.body) for p in shown]
        headers = {**_etag(facts), **self._link_header(request, len(pulls))}
        if _holds(request, headers):  # the common case by night: spare the making of the body
            return Reply(status=304, headers={"etag": headers["etag"]})
        body = [_for_version(request, self._shapes.pull(found, pull)) for pull in shown]
        return json_reply(body, headers=headers)

    def _owned(self, request: Request, owner: str) -> Reply:
        names = [name for name in self._world.repositories if name.startswith(f"{owner}/")]
        if not names:
            return problem_reply(404, "Not Found")
        start, per_page = _page(request.query)
        body = [
            _for_version(request, self._shapes.repository(self._world.repositories[name]))
            for name in sorted(names)[start : start + per_page]
        ]
        return json_reply(body, headers=self._link_header(request, len(names)))

    def _search(self, request: Request) -> Reply:
        start, per_page = _page(request.query)
        if start + per_page > MAX_RESULTS and start >= MAX_RESULTS:
            return problem_reply(422, "Only the first 1000 search results are available")
        if "q" not in request.query:
            return problem_reply(422, "Validation Failed")
        found = find_repositories(self._world, request.query["q"])
        if request.query.get("order") == "asc":
            found.reverse()
        body = {
            "total_count": len(found),
            "incomplete_results": False,
            "items": [
                {**_for_version(request, self._shapes.repository(item)), "score": 1.0}
                for item in found[:MAX_RESULTS][start : start + per_page]
            ],
        }
        return json_reply(body, headers=self._link_header(request, min(len(found), MAX_RESULTS)))

    def _link_header(self, request: Request, total: int) -> Mapping[str, str]:
        start, per_page = _page(request.query)
        if start + per_page >= total:
            return {}
        page = start // per_page + 2
        query = "&".join(
            f"{name}={value}" for name, value in request.query.items() if name != "page"
        )
        url = f"{self._shapes.api}{request.path}?{query}&page={page}"
        return {"link": f'<{url}>; rel="next"'}


def _listed(repository: RepositoryWorld, query: Mapping[str, str]) -> Sequence[PullRecord]:
    """State, order and direction as GitHub's defaults have them."""
    state = query.get("state", "open")
    pulls = [
        pull
        for pull in repository.pulls.values()
        if state in ("all", "open" if (pull.closed_at or pull.merged_at) is None else "closed")
    ]

    def moved_at(pull: PullRecord) -> tuple[datetime, int]:
        by_update = query.get("sort") == "updated"
        return (repository.updated_at(pull) if by_update else pull.created_at, pull.number)

    newest_first = query.get("direction", "desc") == "desc"
    return sorted(pulls, key=moved_at, reverse=newest_first)


def _page(query: Mapping[str, str]) -> tuple[int, int]:
    """Offset and length."""
    per_page = min(_MAX_PER_PAGE, max(1, int(query.get("per_page", "30"))))
    return (max(1, int(query.get("page", "1"))) - 1) * per_page, per_page


def _for_version(request: Request, body: Json) -> Json:
    """What the newer API version left out."""
    if request.headers.get("x-github-api-version") != API_VERSIONS[1]:
        return body
    gone = ("merge_commit_sha", "has_downloads", "assignee")
    return {name: value for name, value in body.items() if name not in gone}


def _etag(facts: object) -> Mapping[str, str]:
    return {"etag": f'W/"{hashlib.sha256(repr(facts).encode()).hexdigest()}"'}


def _holds(request: Request, headers: Mapping[str, str]) -> bool:
    asked = request.headers.get("if-none-match", "").removeprefix("W/")
    return bool(asked) and asked == headers.get("etag", "").removeprefix("W/")


def _not_modified(request: Request, reply: Reply) -> Reply:
    if reply.status == 304:
        return reply
    if _holds(request, reply.headers):
        return Reply(status=304, headers={"etag": reply.headers["etag"]})
    return replace(reply, headers={"cache-control": "private, max-age=60", **reply.headers})


def _moved(url: str) -> Reply:
    return json_reply(
        {"message": "Moved Permanently", "url": url}, status=301, headers={"location": url}
    )
