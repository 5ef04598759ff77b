"""What an engine is asked for and what it has: limits, outcomes, images, caches."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a container may use. Installs have the network, runs never."""

    memory_mb: int = 4096
    cpus: float = 1.0
    pids: int = 512
    disk_mb: int = 4096
    output_mb: int = 16
    network: bool = False
    uid: int | None = None  # in a run: another user than `guest`, one without a name

    def __post_init__(self) -> None:
        """ValueError for a zero: an engine takes it for no limit at all."""
        for name in ("memory_mb", "cpus", "pids", "disk_mb", "output_mb"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be above zero, or there would be no limit.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One command in a container. `output` is head and tail when `truncated`."""

    exit_code: int
    output: bytes
    truncated: bool = False
    timed_out: bool = False
    duration_s: float = 0.0
    out_of_memory: bool = False

    @property
    def ok(self) -> bool:
        """The command ended by itself with status 0."""
        return self.exit_code == 0 and not self.timed_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image of the engine: `digest` is its content id ("sha256:…"), `tag` how it is found."""

    digest: str
    tag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredImage:
    """An image that lies on the engine. `size_bytes` counts the layers it shares with `parent`."""

    image: Image
    labels: Mapping[str, str]
    size_bytes: int
    created_at: datetime
    parent: str = ""  # digest; unknown for imported and pulled ones


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """A uv cache on the engine: what is in it can always be fetched again."""

    volume: str
    size_bytes: int
    created_at: datetime
