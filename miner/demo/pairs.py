"""What the demo is made of: pairs.json as values. Expected results are elsewhere, on purpose."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from miner.demo.sdists import Sdist


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Release(_Value):
    """One release archive."""

    file: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    size: int
    uploaded_at: AwareDatetime


class Note(_Value):
    """A comment on the issue: before the first commit, between pull and merge, or after it."""

    when: Literal["before", "between", "after"]
    author: str
    body: str
    kind: str = "User"


class Story(_Value):
    """How the pull came about. `link`: where the pull says which issue it closes.

    `edited` is appended to the issue's text after the merge; `retitled` is its later title.
    """

    issue: int
    pull: int
    method: Literal["merge", "squash", "rebase"]
    link: Literal["body", "colon", "url", "title", "commit", "connected"]
    branch: str
    title: str
    base_moves: bool = False
    merges_base: bool = False
    edited: str = ""
    retitled: str = ""
    comments: tuple[Note, ...] = ()


class Pair(_Value):
    """Two releases: `base`, and `merged`, which is the pull."""

    id: str
    base: str
    merged: str
    issue_title: str
    issue_body: str
    test_files: Mapping[str, Literal["A", "M", "D"]]
    gold_files: Mapping[str, Literal["A", "M", "D"]]
    story: Story


class DocsPull(_Value):
    """A pull that appends to one document."""

    issue: int
    pull: int
    issue_title: str
    issue_body: str
    title: str
    path: str
    text: str


class Package(_Value):
    """A project on the index and the made repository it becomes."""

    repository: str
    package: str
    description: str
    licence: str
    tag_prefix: Literal["", "v"]
    releases: Mapping[str, Release]
    pairs: tuple[Pair, ...]
    docs_pull: DocsPull | None = None

    def sdist(self, version: str) -> Sdist:
        """The archive of a release."""
        release = self.releases[version]
        return Sdist(
            package=self.package,
            version=version,
            file=release.file,
            sha256=release.sha256,
            uploaded_at=release.uploaded_at,
        )


class _Packages(_Value):
    packages: tuple[Package, ...]


def packages_json() -> bytes:
    """The bytes of pairs.json."""
    return files("miner.demo").joinpath("pairs.json").read_bytes()


def packages() -> tuple[Package, ...]:
    """All packages of the demo, each with its pairs in order of time."""
    return _Packages.model_validate_json(packages_json()).packages
