"""GitHub as a source of merged pulls: pages by GraphQL, facts by REST, all through one client."""

import hashlib
import logging
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
from miner.crawl.source import Fetched, Page, Unreadable
from miner.errors import MalformedPayloadError, MinerError, SourceUnavailableError
from miner.http import HttpClient
from miner.model import Clock, Repo

_BAD_CURSOR = "INVALID_CURSOR_ARGUMENTS"

_log = logging.getLogger(__name__)


class LostPlaceError(SourceUnavailableError):
    """GitHub does not know a cursor (any more)."""


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

    def pages(
        self, repo: Repo, *, since: datetime | None, after: str | None = None
    ) -> Iterator[Page]:
        """See Source."""
        host = urlsplit(repo.clone_url).netloc
        completion = Completion(self._graphql, repo=repo.name, host=host)
        for listed, cursor in self._listed(repo, after):
            drafts, ended = _updated_since(listed, since)
            completion.complete(drafts)
            told = tuple(self._told(draft, repo, host) for draft in drafts)
            yield Page(items=told, after=None if ended else cursor)
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

    def _listed(self, repo: Repo, after: str | None) -> Iterator[tuple[list[Draft], str | None]]:
        """Pages of drafts, newest update first, each with the cursor of the next one."""
        try:
            connection = self._page(repo, after)
        except LostPlaceError:
            if after is None:
                raise
            _log.info("%s: the place where reading stopped is lost; from the top", repo.name)
            connection = self._page(repo, None)
        while True:
            cursor = _next(connection)
            nodes = connection.get("nodes")
            drafts = [
                Draft(tree=node) if isinstance(node, dict) else Draft(tree={}, error="it is null")
                for node in (nodes if isinstance(nodes, list) else [])
            ]
            yield drafts, cursor
            if cursor is None:
                return
            connection = self._page(repo, cursor)

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
                raise _without_pulls(answer, repo.name, after)
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


def _without_pulls(answer: Answer, name: str, after: str | None) -> MinerError:
    """Why there is no list of pulls: the repository is gone, or `after` is no place in it.

    Only a clear no says the latter: a passing null must not cost the place.
    """
    error = missing(answer, name)
    refused = any(problem.type == _BAD_CURSOR for problem in answer.problems)
    if after is not None and refused and isinstance(error, SourceUnavailableError):
        return LostPlaceError(str(error))
    return error


def _next(connection: dict[str, object]) -> str | None:
    """The cursor after this page; None when it is the last."""
    info = connection.get("pageInfo")
    if not isinstance(info, dict) or info.get("hasNextPage") is not True:
        return None
    return str(info.get("endCursor"))


def _has_all_pulls(connection: dict[str, object]) -> bool:
    nodes = connection.get("nodes")
    return isinstance(nodes, list) and all(isinstance(node, dict) for node in nodes)
