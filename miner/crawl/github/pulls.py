"""GitHub as a source of merged pulls: pages by GraphQL, facts by REST, all through one client."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import urlsplit

from miner.crawl.github import rest
from miner.crawl.github.completion import Completion, Draft
from miner.crawl.github.graphql import Answer, GraphQL, HeavyQueryError, missing
from miner.crawl.github.mark import read_mark
from miner.crawl.github.page_size import PageSize
from miner.crawl.github.payload import pull_request
from miner.crawl.github.queries import query
from miner.crawl.source import Fetched, Unreadable
from miner.errors import MalformedPayloadError
from miner.http import HttpClient
from miner.model import Clock, Repo


class GitHub:
    """github.com or a GitHub Enterprise server, told apart by the client's base URL alone."""

    def __init__(
        self,
        client: HttpClient,
        *,
        name: str = "github",
        now: Clock = lambda: datetime.now(UTC),
    ) -> None:
        self.name = name
        self._client = client
        self._graphql = GraphQL(client)
        self._rest = rest.github_api(client)
        self._now = now
        self._pages: dict[int, PageSize] = {}

    @property
    def points(self) -> int:
        """GraphQL points charged so far."""
        return self._graphql.spent

    def repo(self, name: str) -> Repo:
        """See Source."""
        return rest.repository(self._rest, self._client, name, source=self.name)

    def changed(self, repo: Repo, *, etag: str | None) -> tuple[bool, str | None]:
        """See Source."""
        mark = read_mark(etag)
        self._pages.setdefault(repo.database_id, PageSize(mark.page))
        moved, fresh = rest.movement(self._client, repo, mark=mark)
        return moved, etag if fresh == mark else fresh.text()

    def sealed(self, repo: Repo, mark: str | None) -> str | None:
        """See Source."""
        size = self._pages.get(repo.database_id)
        return mark if size is None else replace(read_mark(mark), page=size.learned).text()

    def git_credentials(self) -> tuple[str, str] | None:
        """See Source."""
        secret = self._client.secret()
        return None if secret is None else ("x-access-token", secret)

    def pulls(self, repo: Repo, *, since: datetime | None) -> Iterator[Fetched | Unreadable]:
        """See Source."""
        host = urlsplit(repo.clone_url).netloc
        completion = Completion(self._graphql, repo=repo.name, host=host)
        for page in self._listed(repo):
            drafts, ended = _updated_since(page, since)
            completion.complete(drafts)
            for draft in drafts:
                yield self._told(draft, repo, host)
            if ended:
                return

    def _told(self, draft: Draft, repo: Repo, host: str) -> Fetched | Unreadable:
        raw = draft.raw()
        try:
            pull = pull_request(
                draft.envelope(),
                repo=repo,
                host=host,
                fetched_at=self._now(),
                raw_digest=hashlib.sha256(raw).hexdigest(),
            )
        except MalformedPayloadError as error:
            return Unreadable(repo=repo.name, number=draft.number, error=str(error), raw=raw)
        return Fetched(pull=pull, raw=raw)

    def _listed(self, repo: Repo) -> Iterator[list[Draft]]:
        """Pages of drafts, newest update first."""
        after: str | None = None
        while True:
            connection = self._page(repo, after)
            nodes = connection.get("nodes")
            yield [
                Draft(tree=node) if isinstance(node, dict) else Draft(tree={}, error="it is null")
                for node in (nodes if isinstance(nodes, list) else [])
            ]
            info = connection.get("pageInfo")
            if not isinstance(info, dict) or info.get("hasNextPage") is not True:
                return
            after = str(info.get("endCursor"))

    def _page(self, repo: Repo, after: str | None) -> dict[str, object]:
        size = self._pages.setdefault(repo.database_id, PageSize())
        while True:
            try:
                answer = self._ask(repo, after, size.pulls)
            except HeavyQueryError as error:
                kept = _connection(error.answer) if size.pulls == 1 else None
                if kept is not None and _has_all_pulls(kept):
                    return kept  # its holes are filled one by one
                size.shrink(repo.name)
                continue
            connection = _connection(answer)
            if connection is None:
                raise missing(answer, repo.name)
            size.grow()
            return connection

    def _ask(self, repo: Repo, after: str | None, pulls: int) -> Answer:
        owner, _, name = repo.name.partition("/")
        return self._graphql.ask(
            query("merged_pulls"), {"owner": owner, "name": name, "after": after, "pulls": pulls}
        )


def _updated_since(page: list[Draft], since: datetime | None) -> tuple[list[Draft], bool]:
    """The drafts updated at or after `since`, and whether an older one was met."""
    if since is None:
        return page, False
    kept = [draft for draft in page if not _is_older(draft, since)]
    return kept, len(kept) < len(page)


def _is_older(draft: Draft, since: datetime) -> bool:
    """Drafts whose time cannot be read are not older: they are reported."""
    try:
        return datetime.fromisoformat(str(draft.tree.get("updatedAt"))) < since
    except (ValueError, TypeError):
        return False


def _connection(answer: Answer | None) -> dict[str, object] | None:
    held = answer.data.get("repository") if answer else None
    connection = held.get("pullRequests") if isinstance(held, dict) else None
    return connection if isinstance(connection, dict) else None


def _has_all_pulls(connection: dict[str, object]) -> bool:
    nodes = connection.get("nodes")
    return isinstance(nodes, list) and all(isinstance(node, dict) for node in nodes)
