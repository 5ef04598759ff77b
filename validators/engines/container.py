"""One running container: commands in it, files into it and out of it, its report."""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from posixpath import basename, dirname

from docker.api.client import APIClient

from validators.engine import NO_ROOM
from validators.engines.channel import Channel
from validators.engines.commands import Command, Commands, Ended, Running
from validators.engines.confinement import guest_uid
from validators.engines.faults import machinery
from validators.engines.labels import instructions
from validators.engines.life import Life
from validators.engines.ownership import OWNER_LABEL, SESSION_LABEL
from validators.engines.streams import HeadAndTail, Until
from validators.errors import EngineUnavailableError
from validators.model import Image, Limits, Outcome

_MB = 1 << 20
_BLOCK = 512
_MOVE_S = 300.0  # for files into and out of a container
_DRAIN_S = 10.0  # for a report to arrive
_SCANT = 64 << 20  # so little free space is the host's trouble, whatever a guest did
_FREE = ("/usr/bin/stat", "--file-system", "--format=%a %S", "/")

_UNPACK = 'mkdir -p "$1" && exec /bin/tar --extract {} --file=- --directory="$1"'
_PACK = (
    'cd "$1" && { [ -e "./$2" ] || [ -L "./$2" ]; } || exit 1; if [ "$4" = "*" ];'
    ' then /bin/tar --create --file=- -- "$2";'
    ' else /usr/bin/find "./$2" -type f -path "$4" -print0'
    " | /bin/tar --create --null --no-recursion --files-from=- --file=-;"
    ' fi 2>/dev/null | /usr/bin/head -c "$3"'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wardrobe:
    """The environment variables of the guest's and of root's commands."""

    guest: Mapping[str, str]
    root: Mapping[str, str]


class DockerContainer:
    """A container that runs, as the Protocol describes it. Made and removed by DockerEngine.

    When its guest can be stopped only by killing the whole container (a fork bomb), later commands
    end at once with status 137, nothing can be read from it, and its report stays what it was.
    """

    def __init__(
        self, api: APIClient, container_id: str, channel: Channel, limits: Limits, env: Wardrobe
    ) -> None:
        self.id = container_id
        self._api = api
        self._channel = channel
        self._limits = limits
        self._env = env
        self._life = Life(api, container_id, channel)
        self._commands = Commands(api, container_id, self._life, guest_uid=guest_uid(limits))
        self._talks: list[Running] = []
        self._overfull = threading.Event()
        self.drain_s = _DRAIN_S
        self.quiet = threading.Lock()
        """Held while it is frozen: a command that starts just then can hang the engine for good."""

    def exec(  # noqa: PLR0913 - as the Protocol has it
        self,
        command: Sequence[str],
        *,
        timeout_s: float,
        root: bool = False,
        env: Mapping[str, str] | None = None,
        workdir: str | None = None,
        stdin: bytes | None = None,
        output_mb: int | None = None,
    ) -> Outcome:
        """See the Protocol."""
        wardrobe = self._env.root if root else self._env.guest
        dressed = Command(
            argv=command,
            env={**wardrobe, **(env or {})},
            root=root,
            workdir=workdir,
            stdin=stdin,
        )
        kept = HeadAndTail((output_mb or self._limits.output_mb) * _MB)
        ended = self._commands.run(dressed, kept, deadline=time.monotonic() + timeout_s)
        return self.outcome(ended, kept)

    def begin(
        self, command: Sequence[str], *, env: Mapping[str, str] | None = None, workdir: str
    ) -> "DockerTalk":
        """See the Protocol."""
        dressed = Command(
            argv=command, env={**self._env.guest, **(env or {})}, workdir=workdir, stdin=b""
        )
        running = self._commands.begin(dressed)
        self._talks.append(running)
        return DockerTalk(self, running, limit=self._limits.output_mb * _MB)

    def look(self, command: Sequence[str], *, timeout_s: float) -> Outcome:
        """A command of root's beside those that run, which takes no news of memory from them."""
        looking = Command(argv=command, env=self._env.root, root=True, aside=True)
        kept = HeadAndTail(self._limits.output_mb * _MB)
        ended = self._commands.run(looking, kept, deadline=time.monotonic() + timeout_s)
        return self._told(ended, kept)

    def put(self, path: str, tar: bytes, *, root: bool = False) -> Outcome:
        """See the Protocol."""
        unpack = _UNPACK.format("--no-same-owner")
        outcome = self.exec(
            ("/bin/sh", "-c", unpack, "put", path), timeout_s=_MOVE_S, root=root, stdin=tar
        )
        if root and not outcome.ok and not self._life.spent:
            said = outcome.output[-300:].decode(errors="replace").strip()
            raise EngineUnavailableError(f"Files could not be put into {path}: {said}.")
        return outcome

    def get(self, path: str, *, limit_mb: int = 64, only: str = "*") -> bytes | None:
        """See the Protocol."""
        path = path.rstrip("/")
        limit = limit_mb * _MB + 20 * _BLOCK  # tar's own first and last blocks
        argv = ("/bin/bash", "-o", "pipefail", "-c", _PACK, "get")
        packing = Command(
            argv=(*argv, dirname(path) or "/", basename(path) or ".", str(limit + 1), only),
            env=self._env.guest,
        )
        kept = HeadAndTail(2 * limit + 4)
        ended = self._commands.run(packing, kept, deadline=time.monotonic() + _MOVE_S)
        packed = kept.value()
        whole = ended.exit_code == 0 and not ended.timed_out and len(packed) <= limit
        return packed if whole else None

    def report(self) -> bytes:
        """See the Protocol."""
        with machinery("read a report"):
            if not self._has_arrived():
                self._commands.kill_guest()  # what is left of it may write without end
                if not self._has_arrived():
                    raise EngineUnavailableError(
                        f"A container that runs did not hand over its report within "
                        f"{self.drain_s:.0f} s: the container engine's machine is too busy, or "
                        "something has stopped the container. Try again."
                    )
            return self._channel.value()

    def _has_arrived(self) -> bool:
        """All of the report is here, or there will be no more of it: its guest killed it.

        Raises EngineUnavailableError when anything else ended it, or its host had no memory.
        """
        kills = self._channel.drain(timeout_s=self.drain_s)
        if kills is None:
            return self._life.died_of_its_guest()
        self._life.refuse_kills_of_the_host(kills)
        return True

    def commit(self, tag: str, *, labels: Mapping[str, str]) -> Image:
        """See the Protocol."""
        repository, _, version = tag.rpartition(":")
        disowned = {OWNER_LABEL: "", SESSION_LABEL: ""}
        changes = [*instructions(disowned | dict(labels)), "ENTRYPOINT []", 'CMD ["/bin/bash"]']
        with self.quiet, machinery("commit an image"):
            made = self._api.commit(
                self.id,
                repository,
                version,
                changes=changes,  # repeated in the request, as the API has it
            )
        digest = str(made["Id"]).removeprefix("sha256:")  # podman leaves the prefix out
        return Image(digest=f"sha256:{digest}", tag=tag)

    @property
    def busy(self) -> bool:
        """A command is running in it."""
        return self._commands.running

    def kill_guest(self) -> None:
        """End every process of the guest, if need be with the whole container."""
        with machinery("end a container's processes"):
            self._commands.kill_guest()

    def overfill(self) -> None:
        """Its disk holds more than it may: end the guest's processes."""
        self._overfull.set()
        self.kill_guest()

    def let_go(self) -> None:
        """Give all connections to it back, those of commands that were never told to end too."""
        for running in self._talks:
            running.close()
        self._channel.close()

    def give_up(self) -> None:
        """The engine closes: running commands raise EngineUnavailableError."""
        self._life.close()

    def _blame_a_full_host(self) -> None:
        """The guest has shares of its own that it may fill; the root's disk is the host's."""
        looking = Command(argv=_FREE, env=self._env.root, root=True)
        kept = HeadAndTail(1024)
        self._commands.run(looking, kept, deadline=time.monotonic() + _DRAIN_S)
        words = kept.value().split()
        if len(words) == 2 and int(words[0]) * int(words[1]) < _SCANT:
            raise EngineUnavailableError(
                "The disk of the container engine is full: free some space, for instance with "
                "`miner images gc`, then try again."
            )

    def outcome(self, ended: Ended, kept: HeadAndTail) -> Outcome:
        """How a command ended, with what is kept of its output."""
        outcome = self._told(ended, kept)
        if not outcome.ok and NO_ROOM in outcome.output:
            self._blame_a_full_host()
        return outcome

    def _told(self, ended: Ended, kept: HeadAndTail) -> Outcome:
        overfull = self._overfull.is_set()
        if overfull:
            kept.write(f"\n[more than {self._limits.disk_mb} MB on disk: killed]\n".encode())
        return Outcome(
            exit_code=ended.exit_code if not overfull or ended.exit_code else 1,
            output=kept.value(),
            truncated=kept.truncated,
            timed_out=ended.timed_out,
            duration_s=ended.duration_s,
            out_of_memory=ended.out_of_memory,
        )


class DockerTalk:
    """A command that goes on in parts, as the Protocol describes it."""

    def __init__(self, container: DockerContainer, running: Running, *, limit: int) -> None:
        self._container = container
        self._running = running
        self._limit = limit
        self._early = b""
        self._ended: Outcome | None = None

    def until(
        self, mark: bytes, *, stdin: bytes, timeout_s: float, output_mb: int | None = None
    ) -> Outcome:
        """See the Protocol."""
        kept = HeadAndTail(output_mb * _MB if output_mb else self._limit)
        waiting = Until(mark, kept.write)
        waiting.write(self._take_early())
        began = time.monotonic()
        if self._ended is not None:
            return self._ended
        ended = self._running.part(
            waiting.write, stdin=stdin, deadline=began + timeout_s, enough=lambda: waiting.seen
        )
        if ended is None:
            self._early = waiting.rest()
            ended = Ended(exit_code=0, duration_s=time.monotonic() - began)
            return self._container.outcome(ended, kept)
        kept.write(waiting.rest())
        self._ended = self._container.outcome(ended, kept)
        return self._ended

    def end(self, *, stdin: bytes, timeout_s: float) -> Outcome:
        """See the Protocol."""
        if self._ended is not None:
            return self._ended
        kept = HeadAndTail(self._limit)
        kept.write(self._take_early())
        ended = self._running.part(kept.write, stdin=stdin, deadline=time.monotonic() + timeout_s)
        assert ended is not None  # noqa: S101 - nothing else was enough
        return self._container.outcome(ended, kept)

    def _take_early(self) -> bytes:
        early, self._early = self._early, b""
        return early
