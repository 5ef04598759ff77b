"""Repository facts by REST: PyGithub's objects, our client's connections, gates and retries."""

import difflib
import hashlib
import json
import threading
from collections.abc import ItemsView, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast
from urllib.parse import quote, urlsplit

import github
from github.Requester import (
    HTTPRequestsConnectionClass,
    HTTPSRequestsConnectionClass,
    Requester,
)

from miner.crawl.github.mark import Mark
from miner.errors import BadItemError, ConfigError, NotFoundError
from miner.http import API_VERSION, HttpClient
from miner.model import Repo
from miner.wire import Response

if TYPE_CHECKING:
    from github.License import License
    from github.Repository import Repository

_NAME = r"owner/name"
PYGITHUB_CLASSES = threading.Lock()
"""Held while PyGithub is constructed: its connection classes are a global of its own."""

_NO_SPDX = frozenset({"NOASSERTION", "NONE", ""})


def github_api(client: HttpClient) -> github.Github:
    """PyGithub for the client's API: it sends through `client`, and waits or retries nowhere."""
    plain, secure = _connections(client)
    with PYGITHUB_CLASSES:
        Requester.injectConnectionClasses(plain, secure)
        try:
            return github.Github(
                base_url=client.base_url,
                retry=None,
                seconds_between_requests=None,
                seconds_between_writes=None,
                per_page=100,
                api_version=API_VERSION,
            )
        finally:
            Requester.resetConnectionClasses()


def repository(api: github.Github, client: HttpClient, name: str, *, source: str) -> Repo:
    """Facts of "owner/name" as of now. ConfigError with the closest match when there is none."""
    if name.count("/") != 1 or not all(name.split("/")):
        raise ConfigError(f"{name!r} is not a repository name; it looks like {_NAME}.")
    try:
        found = api.get_repo(name)
        languages = found.get_languages()
    except NotFoundError:
        raise UnknownRepositoryError(name, closest=closest_match(client, name)) from None
    except github.GithubException as error:
        raise BadItemError(f"{name}: GitHub's answer makes no sense ({error.status}).") from None
    return _repo(found, languages, source=source)


class UnknownRepositoryError(ConfigError, NotFoundError):
    """A name that the API does not know, or hides from this token."""

    def __init__(self, name: str, *, closest: str | None) -> None:
        hint = f"did you mean {closest}?" if closest else "check owner and name."
        super().__init__(f"There is no repository {name}, or this token may not see it; {hint}")


def closest_match(client: HttpClient, name: str) -> str | None:
    """A repository whose name is most like the asked one: the owner's, else anybody's."""
    owner, _, wanted = name.partition("/")
    try:
        answer = client.get(
            f"users/{quote(owner)}/repos", params={"per_page": "100", "sort": "pushed"}
        ).answer
    except NotFoundError:
        return _found_by_name(client, name, wanted)
    except BadItemError:
        return None
    return _most_alike(name, answer)


def _found_by_name(client: HttpClient, name: str, wanted: str) -> str | None:
    """The owner may be misspelt: look at the best known repositories of that name."""
    try:
        answer = client.get(
            "search/repositories",
            params={"q": f"{wanted} in:name", "per_page": "20"},
            resource="search",
        ).answer
    except BadItemError:
        return None
    return _most_alike(name, answer.get("items") if isinstance(answer, dict) else None)


def _most_alike(name: str, listed: object) -> str | None:
    found = listed if isinstance(listed, list) else []
    names = {
        repo["full_name"].lower(): repo["full_name"]
        for repo in found
        if isinstance(repo, dict) and isinstance(repo.get("full_name"), str)
    }
    close = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    return names[close[0]] if close else None


def movement(client: HttpClient, repo: Repo, *, mark: Mark) -> tuple[bool, Mark]:
    """Has any closed pull moved since `mark`? With the new mark.

    A 304 costs no quota. Bodies hold counters (stars …) that churn, so a 200 is compared by the
    pulls in it alone.
    """
    response = client.get(
        f"repos/{repo.name}/pulls",
        params={
            "state": "closed",
            "sort": "updated",
            "direction": "desc",
            "per_page": "50",
        },
        headers={"if-none-match": mark.etag} if mark.etag else {},
        accept=frozenset({304}),
    )
    if response.status == 304:
        return False, mark
    fresh = replace(mark, etag=response.headers.get("etag", ""), digest=_digest(response))
    is_elsewhere = f"/repos/{repo.name}/" not in response.url
    return fresh.digest != mark.digest or is_elsewhere, fresh


def _digest(response: Response) -> str:
    listed = response.answer if isinstance(response.answer, list) else []
    seen = [
        [pull.get("number"), pull.get("updated_at"), pull.get("merged_at")]
        for pull in listed
        if isinstance(pull, dict)
    ]
    return hashlib.sha256(json.dumps(seen).encode()).hexdigest()


def _repo(found: "Repository", languages: Mapping[str, object], *, source: str) -> Repo:
    license_ = cast("License | None", found.license)  # PyGithub's type forgets the null
    spdx = None if license_ is None else license_.spdx_id
    sizes = [(name, size) for name, size in languages.items() if isinstance(size, int)]
    by_size = sorted(sizes, key=lambda item: (-item[1], item[0]))  # PyGithub adds a "url"
    return Repo(
        source=source,
        database_id=found.id,
        name=found.full_name,
        clone_url=found.clone_url,
        default_branch=found.default_branch,
        language=found.language,
        languages=tuple(by_size),
        license=None if spdx is None or spdx in _NO_SPDX else spdx,
        stars=found.stargazers_count,
        is_fork=found.fork,
        is_archived=found.archived,
    )


class _Answer:
    """What PyGithub reads of an answer."""

    def __init__(self, response: Response) -> None:
        self.status = response.status
        self.headers = dict(response.headers)
        self._body = response.body

    def getheaders(self) -> ItemsView[str, str]:
        """Names and values."""
        return self.headers.items()

    def read(self) -> str:
        """The body as text."""
        return self._body.decode("utf-8", "replace")


def _connections(
    client: HttpClient,
) -> tuple[type[HTTPRequestsConnectionClass], type[HTTPSRequestsConnectionClass]]:
    """Connection classes for PyGithub that send through `client`."""
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(client.base_url))

    class _Connection:
        def __init__(self, host: str, *_: object, **__: object) -> None:
            self.host = host
            self._url = ""

        def request(self, verb: str, url: str, body: object, *_: object) -> None:
            if verb != "GET" or body is not None:
                raise AssertionError("the crawl only reads")
            self._url = origin + url

        def getresponse(self) -> _Answer:
            return _Answer(client.get(self._url))

        def close(self) -> None:
            """Nothing is held."""

    return (
        cast("type[HTTPRequestsConnectionClass]", _Connection),
        cast("type[HTTPSRequestsConnectionClass]", _Connection),
    )
