"""The forge without sockets: a request in, a reply out."""

import json
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from urllib.parse import unquote

from miner.demo.faults import Faults, Seen
from miner.demo.git_http import git_reply, is_git
from miner.demo.graph import Graph
from miner.demo.http_messages import Reply, Request, json_reply, problem_reply
from miner.demo.objects import Objects
from miner.demo.quota import Quota
from miner.demo.request_log import RequestLog
from miner.demo.rest import Rest
from miner.demo.rest_shapes import Shapes
from miner.demo.stories import WEB_URL
from miner.demo.world import World

_PREFIXES = ("/api/v3", "/api")  # where a GitHub Enterprise server has the same calls


class Application:
    """Checks the token, counts, lets faults strike, and hands on to GraphQL, REST or git."""

    def __init__(  # noqa: PLR0913  what `serve` lets choose
        self,
        world: World,
        *,
        base_url: str,
        tokens: Sequence[str],
        clock: Callable[[], datetime],
        faults: Faults | None = None,
        limits: Mapping[str, int] | None = None,
        requests: RequestLog | None = None,
    ) -> None:
        self.world = world
        self._tokens = tuple(tokens)
        self._clock = clock
        self._graph = Graph(Objects(world, web_url=WEB_URL))
        self._rest = Rest(world, Shapes(api=base_url, web=WEB_URL))
        self.quota = Quota(clock, limits=limits)
        self.faults = faults or Faults()
        self.requests = requests or RequestLog()

    def reply(self, request: Request) -> Reply:
        """Answer one request and log it."""
        request = _without_prefix(request)
        token = _token(request)
        place = self._tokens.index(token) if token in self._tokens else None
        with self.requests.open(place) as number:
            if is_git(request):
                reply, resource, points = self._git(request, token), "git", 0
            elif place is None:
                words = "Requires authentication" if token is None else "Bad credentials"
                reply, resource, points = problem_reply(401, words), "none", 0
            else:
                reply, resource, points = self._api(request, self._tokens[place], number)
            self.requests.add(
                number, self._clock(), place, request, reply, resource=resource, points=points
            )
        return reply

    def _git(self, request: Request, token: str | None) -> Reply:
        """Public repositories need no token, but a wrong one is refused."""
        if token is not None and token not in self._tokens:
            challenge = {"www-authenticate": 'Basic realm="GitHub"'}
            return replace(problem_reply(401, "Bad credentials"), headers=challenge)
        owner, name = (*request.path.split("/"), "", "")[1:3]
        found = self.world.repository(f"{owner}/{name.removesuffix('.git')}")
        if found is None:
            return problem_reply(404, "Repository not found.")
        return git_reply(request, git_dir=found.facts.git_dir)

    def _api(self, request: Request, token: str, number: int) -> tuple[Reply, str, int]:
        if request.path == "/rate_limit":
            balance = lambda name: self.quota.balance(token, name)  # noqa: E731  one use
            return self._rest.rate_limit(balance, request), "none", 0
        graphql = request.path == "/graphql"
        resource = "graphql" if graphql else self._rest.resource(request)
        spent: list[int] = []

        def proceed() -> Reply:
            answer = self._graphql if graphql else self._counted_rest
            reply, points = answer(request, token, resource)
            spent.append(points)
            return reply

        fault = self.faults.strike(Seen(number=number, resource=resource, request=request))
        reply = proceed() if fault is None else fault(self.world, request, proceed)
        headers = {**self.quota.balance(token, resource).headers(), **reply.headers}
        return replace(reply, headers=headers), resource, sum(spent)

    def _graphql(self, request: Request, token: str, resource: str) -> tuple[Reply, int]:
        if request.method != "POST":
            return problem_reply(404, "Not Found"), 0
        try:
            body = json.loads(request.body)
            query, variables = str(body["query"]), body.get("variables") or {}
        except (ValueError, KeyError, TypeError):
            return problem_reply(400, "Problems parsing JSON"), 0
        answer = self._graph.answer(
            query, variables, charge=lambda points: self.quota.charge(token, resource, points)
        )
        return json_reply(answer.body), answer.points

    def _counted_rest(self, request: Request, token: str, resource: str) -> tuple[Reply, int]:
        if request.method != "GET":
            return problem_reply(404, "Not Found"), 0
        if self.quota.balance(token, resource).remaining < 1:
            return problem_reply(403, "API rate limit exceeded for user ID 1."), 0
        reply = self._rest.answer(request)
        if reply.status == 304:
            return reply, 0
        self.quota.charge(token, resource, 1)
        return reply, 1


def _without_prefix(request: Request) -> Request:
    for prefix in _PREFIXES:
        if request.path.startswith(f"{prefix}/"):
            return replace(request, path=request.path.removeprefix(prefix))
    return request


def _token(request: Request) -> str | None:
    """From `Authorization: Bearer`, `token` or (git) `Basic user:token`."""
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    if not value:
        return None
    if scheme.lower() != "basic":
        return value.strip()
    try:
        return unquote(b64decode(value).decode().partition(":")[2])
    except ValueError:
        return ""
