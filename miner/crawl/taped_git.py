"""What git brought while a crawl was recorded: kept beside the tape, and put back in a replay.

After every update of a mirror the tape gets a line: which refs were set, and the pack with what is
new (`miner.git.copies`). A replay makes the mirror from them before it is first used, so it needs
no server and no mirror of the recording machine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from miner.crawl.tape import Player, Recorder
from miner.errors import ConfigError
from miner.git import Mirror, Mirrors, copies


@dataclass(frozen=True, slots=True)
class TapedMirrors:
    """Mirrors whose updates are taped. A mirror is updated by one thread at a time."""

    mirrors: Mirrors
    recorder: Recorder
    _taped: dict[str, Mapping[str, str]] = field(default_factory=dict)  # refs by name

    def open(self, name: str) -> Mirror:
        """See `Mirrors.open`."""
        return self.mirrors.open(name)

    def update(
        self,
        name: str,
        clone_url: str,
        *,
        refs: Sequence[str] = (),
        credentials: tuple[str, str] | None = None,
    ) -> Mirror:
        """See `Mirrors.update`."""
        mirror = self.mirrors.update(name, clone_url, refs=refs, credentials=credentials)
        before, now = self._taped.get(name, {}), copies.refs(mirror)
        pack = copies.pack(mirror, self.recorder.files, known=set(before.values()))
        fresh = {ref: oid for ref, oid in now.items() if before.get(ref) != oid}
        if pack is not None or fresh or not before:
            self.recorder.write({"git": name, "refs": fresh, "pack": pack})
        self._taped[name] = {**before, **now}
        return mirror


@dataclass(frozen=True, slots=True)
class PlayedMirrors:
    """Mirrors that come from a tape; one that is there is completed."""

    mirrors: Mirrors
    player: Player
    _played: set[str] = field(default_factory=set)

    def open(self, name: str) -> Mirror:
        """See `Mirrors.open`."""
        return self.mirrors.open(name)

    def update(
        self,
        name: str,
        clone_url: str,  # noqa: ARG002 - no server is asked
        *,
        refs: Sequence[str] = (),  # noqa: ARG002
        credentials: tuple[str, str] | None = None,  # noqa: ARG002
    ) -> Mirror:
        """The mirror with all that the tape holds of it. ConfigError when that is nothing."""
        if name not in self._played:
            lines = self.player.git(name)
            if not lines:
                raise ConfigError(
                    f"The tape holds nothing that git brought of {name}; replay what was recorded, "
                    "from the database and the mirrors that the recording began with."
                )
            named = [Path(str(line["pack"])).name for line in lines if line["pack"]]
            packs = [self.player.files / pack for pack in named]
            self.mirrors.restore(name, refs=_refs(lines), packs=packs)
            self._played.add(name)
        return self.mirrors.open(name)


def _refs(lines: Sequence[Mapping[str, object]]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        refs = line["refs"]
        if not isinstance(refs, dict):
            raise ConfigError("The tape holds a line of git's without refs.")
        found |= refs
    return found
