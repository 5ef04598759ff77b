"""What is asked of one run, beside tree and environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from validators.model import Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Which state of the tree is run, the how-manieth time, and in which variant.

    `patches` are the test patch, then the gold patch, as far as the phase has them. `env` overrides
    what is fixed for all runs. `after_patching` is bash, run in the patched tree; `files` are in
    the kit for it. `shuffle_seed` other than 0 runs the tests in another order.
    `uid` other than None runs everything as that user.
    """

    phase: Phase
    attempt: int = 1
    patches: tuple[bytes, ...] = field(default=(), repr=False)
    variant: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    after_patching: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    shuffle_seed: int = 0
    uid: int | None = None
