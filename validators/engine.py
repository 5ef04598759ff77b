"""What a container engine must do. Everything the guest does wrong is an Outcome, never raised.

Any method raises EngineUnavailableError when the machinery failed: a dead daemon, a full disk of
the host, an image that vanished.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from validators.model import Cache, Image, Limits, Outcome, StoredImage

GUEST_UID = 1000
"""Who runs the project's code: user `guest`, home /home/guest, in every base image."""

TREE = "/testbed"
"""Where the work tree is in every container: a fresh tmpfs in a run, a folder in an install."""

VENV = "/opt/venv"
"""The environment's virtual environment."""

KEPT = "/opt/miner"
"""What an environment image keeps beside it. An install's guest may write to both."""

KIT = "/run/miner/kit"
"""Where our own files are: root's, read-only to the guest, and in no image."""

REPORT_PIPE = "/run/miner/report"
"""A FIFO that the guest may only write to. What is written leaves the container at once."""

NO_ROOM = b"No space left on device"
"""What tools say of a full disk: of the guest's own share, as the engine raises for the host's."""

END_GUEST = ("/bin/bash", "-c", "kill -9 -1")
"""Ends every process of the guest, run as guest."""


class NotPulled(StrEnum):
    """Why a registry gave no image."""

    ABSENT = "absent"  # it has none of that name, or none for us: it will say so again
    UNREACHABLE = "unreachable"  # nothing is known: it may have one


class Talk(Protocol):
    """A command of the guest that goes on in parts: it prints a mark and waits for more input."""

    def until(
        self, mark: bytes, *, stdin: bytes, timeout_s: float, output_mb: int | None = None
    ) -> Outcome:
        """Send `stdin` and go on until it prints `mark`: the output before it, exit code 0.

        When it ends or its time is over first, that outcome; all later calls give it again.
        `output_mb` is as in `Container.exec`.
        """
        ...

    def end(self, *, stdin: bytes, timeout_s: float) -> Outcome:
        """Send the last of its input and go on to its end. The output is what came since the mark.

        `timeout_s` and `duration_s` are those of this part.
        """
        ...


class Container(Protocol):
    """A running container. Leaving its `with` block ends and removes it, whatever happened.

    The engine removes it in the background: it is killed first, and gone before `close` returns.
    That it could not be removed is told to who starts the next one.
    """

    def exec(  # noqa: PLR0913 - all but the command say how
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
        """Run a command to its end or its deadline, as `guest` or as root.

        Output (stdout and stderr together) beyond the container's output limit, or `output_mb` in
        its place, is cut in the middle while it streams. At the deadline every process of the guest
        is killed.
        """
        ...

    def begin(
        self, command: Sequence[str], *, env: Mapping[str, str] | None = None, workdir: str
    ) -> Talk:
        """A command of the guest that is run in parts; a new process costs more than a part."""
        ...

    def put(self, path: str, tar: bytes, *, root: bool = False) -> Outcome:
        """Unpack a tar into folder `path`, owned by `guest`, or by root and read-only to it.

        A guest that ran before may have left no room or something in the way: not ok is its doing,
        with what tar said. Root's places are closed to it, so there a failure is raised.
        """
        ...

    def get(self, path: str, *, limit_mb: int = 64, only: str = "*") -> bytes | None:
        """A tar of file or folder `path`; None when it is not there or is larger than the limit.

        With `only`, no folders, and of its files those whose path matches that pattern (`find`'s).
        """
        ...

    def report(self) -> bytes:
        """All that was written to REPORT_PIPE so far, complete up to this call (bounded).

        Raises EngineUnavailableError when that cannot be had from a container that runs. Where it
        does not come in time, the guest's processes are ended first.
        """
        ...

    def commit(self, tag: str, *, labels: Mapping[str, str]) -> Image:
        """Freeze the container's disk as an image. tmpfs mounts are not in it."""
        ...


class ContainerEngine(Protocol):
    """One engine, reached through its socket. Picklable settings make it; see `engines.connect`."""

    @property
    def name(self) -> str:
        """ "docker" or "podman"."""
        ...

    def run(
        self,
        image: Image,
        limits: Limits,
        *,
        labels: Mapping[str, str] | None = None,
        kit: bytes = b"",
    ) -> AbstractContextManager[Container]:
        """A container for test runs: no network, read-only root, tmpfs on TREE, /tmp and home.

        `kit` is a tar that lies unpacked in KIT before any command can run.
        """
        ...

    def install(
        self,
        image: Image,
        limits: Limits,
        *,
        labels: Mapping[str, str] | None = None,
        cache: str | None = None,
        kit: bytes = b"",
    ) -> AbstractContextManager[Container]:
        """A container for installs: network, writable and bounded disk.

        `cache` names a uv cache that outlives it; without a name it goes with the container. The
        guest may write there whatever it likes: only installs that trust each other share one.
        `kit` is as in `run`.
        """
        ...

    def find(self, tag: str) -> Image | None:
        """The local image of that tag."""
        ...

    def pull(self, reference: str) -> Image | NotPulled:
        """Fetch an image, or say why there is none."""
        ...

    def import_root(self, tar: Path, *, tag: str, labels: Mapping[str, str]) -> Image:
        """Make an image of a root file system (a tar)."""
        ...

    def images(self, *, label: str) -> Sequence[StoredImage]:
        """Our images that carry `label`, inherited or own."""
        ...

    def remove_image(self, image: Image) -> bool:
        """False when a container still uses it, other than those that are being removed."""
        ...

    def caches(self) -> Sequence[Cache]:
        """All uv caches there are, the oldest first."""
        ...

    def remove_cache(self, cache: Cache) -> bool:
        """False when a container still uses it, other than those that are being removed."""
        ...

    def sweep(self) -> int:
        """Remove containers that a killed miner left behind (ours by label, owner dead).

        Those of this process that were being removed are gone when it returns.
        """
        ...

    def close(self) -> None:
        """Remove every container this process started; their `exec` calls end at once."""
        ...


Progress = Callable[[str], None]
"""A line about what is going on, for people: "environment abc123: installing 14 packages"."""
