"""Where the tree of a base commit comes from: the mirror here, else a clone made now."""

from collections.abc import Callable
from urllib.parse import urlsplit

from miner.cli.wiring import House
from miner.errors import NotFoundError
from miner.evaluate.dataset import DatasetRow
from miner.git import Mirror
from validators.model import Tree

PUBLIC_API, PUBLIC_WEB = "api.github.com", "https://github.com"


def trees(house: House) -> Callable[[DatasetRow], Tree]:
    """A function that gives a row's tree at its base commit.

    Evaluating a file on another machine needs no crawl: the repository is cloned, or an old mirror
    brought up to date, from the site that `github_url` names. NotFoundError when that has no such
    repository or commit, ConfigError when it hides the repository: either concerns this row alone.
    """
    mirrors, settings = house.mirrors(), house.settings

    def fetched(row: DatasetRow) -> Mirror:
        tokens = settings.github_tokens
        secret = ("x-access-token", tokens[0].get_secret_value()) if tokens else None
        url = f"{web_url(settings.github_url)}/{row.repo}.git"
        return mirrors.update(row.repo, url, refs=(row.base_commit,), credentials=secret)

    def tree(row: DatasetRow) -> Tree:
        mirror = mirrors.found(row.repo)
        if mirror is None or not mirror.has(row.base_commit):
            mirror = fetched(row)
        if not mirror.has(row.base_commit):
            raise NotFoundError(
                f"{row.repo} has no commit {row.base_commit[:12]} any more, the base of "
                f"{row.instance_id}; it cannot be graded here."
            )
        return mirror.tree(row.base_commit)

    return tree


def web_url(api_url: str) -> str:
    """The site that clones are made from, by its API's address."""
    parts = urlsplit(api_url)
    if parts.hostname == PUBLIC_API:
        return PUBLIC_WEB
    return f"{parts.scheme}://{parts.netloc}"
