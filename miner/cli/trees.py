"""Where the tree of a base commit comes from: the mirror here, else a clone made now."""

from collections.abc import Callable
from typing import Protocol
from urllib.parse import urlsplit

from miner.cli.wiring import House
from miner.errors import NotFoundError
from miner.git import Mirror
from validators.model import Tree

PUBLIC_API, PUBLIC_WEB = "api.github.com", "https://github.com"


class Based(Protocol):
    """What has a base commit: a candidate, a row of a dataset."""

    @property
    def instance_id(self) -> str: ...

    @property
    def repo(self) -> str: ...

    @property
    def base_commit(self) -> str: ...


def trees(house: House) -> Callable[[Based], Tree]:
    """A function that gives the tree of a base commit.

    Verifying and grading on another machine need no crawl there: the repository is cloned, or an
    old mirror brought up to date, from the site that `github_url` names. NotFoundError when that
    has no such repository or commit, BadItemError when it hides the repository: either concerns
    this repository alone. ConfigError, when nobody can be asked as things are set, concerns all.
    """
    mirrors, settings = house.mirrors(), house.settings

    def fetched(wanted: Based) -> Mirror:
        with house.client() as client:
            secret = client.secret()
        return mirrors.update(
            wanted.repo,
            f"{web_url(settings.github_url)}/{wanted.repo}.git",
            refs=(wanted.base_commit,),
            credentials=None if secret is None else ("x-access-token", secret),
        )

    def tree(wanted: Based) -> Tree:
        mirror = mirrors.found(wanted.repo)
        if mirror is None or not mirror.has(wanted.base_commit):
            mirror = fetched(wanted)
        if not mirror.has(wanted.base_commit):
            raise NotFoundError(
                f"{wanted.repo} has no commit {wanted.base_commit[:12]} any more, the base of "
                f"{wanted.instance_id}; nothing can be run on it here."
            )
        return mirror.tree(wanted.base_commit)

    return tree


def web_url(api_url: str) -> str:
    """The site that clones are made from, by its API's address."""
    parts = urlsplit(api_url)
    if parts.hostname == PUBLIC_API:
        return PUBLIC_WEB
    return f"{parts.scheme}://{parts.netloc}"
