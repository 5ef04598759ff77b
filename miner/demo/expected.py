"""What a run over the demo has to find. For tests and the demo's final table, for nobody else."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ExpectedInstance(_Value):
    """A pull that becomes an instance with exactly these lists.

    `kind`: "positive", "edge" (published, but a careful maintainer marks it), or "optional" (may
    be rejected for want of its environment). `missing_before`: those of `fail_to_pass` that are
    not even collected before. `pass_to_pass_ids_sha256`: of the sorted ids joined by newlines.
    """

    repo: str
    pull_number: int
    pair: str
    kind: Literal["positive", "edge", "optional"]
    fail_to_pass: tuple[str, ...]
    missing_before: tuple[str, ...]
    pass_to_pass_count: int
    pass_to_pass_ids_sha256: str
    not_passing_in_both_states: tuple[str, ...]

    @property
    def instance_id(self) -> str:
        """`owner__name-123`."""
        return f"{self.repo.replace('/', '__')}-{self.pull_number}"


class ExpectedRejection(_Value):
    """A merged pull that is turned down by this gate or flaw."""

    repo: str
    pull_number: int
    pair: str | None
    gate: str


class Expected(_Value):
    """Everything the demo's merged pulls must become."""

    instances: tuple[ExpectedInstance, ...]
    rejections: tuple[ExpectedRejection, ...]

    def by_instance_id(self) -> Mapping[str, ExpectedInstance]:
        """instance_id → what it must be."""
        return {instance.instance_id: instance for instance in self.instances}


def expected() -> Expected:
    """The contents of expected.json."""
    return Expected.model_validate_json(files("miner.demo").joinpath("expected.json").read_bytes())
