"""What the makers of GraphQL objects need of each other, so that none imports another in a ring."""

from typing import Protocol

from miner.demo.nodes import Node
from miner.demo.pulls import Person, PullRecord
from miner.demo.world import RepositoryWorld


class Makers(Protocol):
    """Makes the objects an issue or a pull leads to."""

    @property
    def web_url(self) -> str:
        """What every link begins with."""
        ...

    def person(self, person: Person | None) -> Node | None:
        """An account."""
        ...

    def repository(self, repository: RepositoryWorld) -> Node:
        """A repository."""
        ...

    def commit(self, repository: RepositoryWorld, oid: str) -> Node:
        """A commit."""
        ...

    def pull(self, repository: RepositoryWorld, pull: PullRecord) -> Node:
        """A pull."""
        ...

    def pull_state(self, pull: PullRecord) -> str:
        """MERGED, CLOSED or OPEN."""
        ...
