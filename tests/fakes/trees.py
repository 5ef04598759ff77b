"""Trees from mirrors that are there: nothing is fetched."""

from collections.abc import Callable

from miner.git import Mirrors
from miner.model import Candidate
from validators.model import Tree


def trees(mirrors: Mirrors) -> Callable[[Candidate], Tree]:
    """The tree of a candidate's base commit. ConfigError where there is no mirror."""
    return lambda one: mirrors.open(one.repo).tree(one.base_commit)
