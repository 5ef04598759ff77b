"""Picklable settings with which any process, here or on a cluster, can examine and grade."""

from dataclasses import dataclass, field

from validators.model import BuildSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """An engine's address (None: found by itself) and how images are made there."""

    engine_url: str | None = None
    settings: BuildSettings = field(default_factory=BuildSettings)
