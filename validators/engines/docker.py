"""A container engine behind Docker's API: Docker itself, or podman's compatible socket."""

import logging
import re
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from docker.api.client import APIClient
from docker.errors import APIError, ImageNotFound, NotFound

from validators.engine import NotPulled
from validators.engines import confinement, inventory, registry
from validators.engines.channel import Channel
from validators.engines.client import Client
from validators.engines.confinement import Habits
from validators.engines.container import DockerContainer, Wardrobe
from validators.engines.creation import Spec, create
from validators.engines.disk import DiskWatcher
from validators.engines.faults import is_silence, machinery
from validators.engines.labels import instructions
from validators.engines.ownership import (
    OWNER_LABEL,
    is_dead,
    new_session,
    parse,
)
from validators.engines.removal import Removals
from validators.engines.streams import Stream
from validators.errors import EngineUnavailableError
from validators.model import Cache, Image, Limits, StoredImage

_LOG = logging.getLogger(__name__)
_REPORT_BYTES = 256 << 20
_START_S = 60.0
_REMOVE_ATTEMPTS = 5


class DockerEngine:
    """One connection to an engine, for all threads of this process. Made by `engines.connect`."""

    CLOSING_S = 30
    """How long all removals together may take while it closes. What is not removed then stops by
    itself, as its input ends, and the next start sweeps it."""

    SILENT_S = 5
    """An engine that says nothing at all for so long while it closes is not asked again."""

    GRACE_S = 10
    """How long calls that are under way may then go on, such as removals; after that they are
    ended, as a commit may take minutes."""

    def __init__(self, api: Client, *, url: str, name: str, habits: Habits) -> None:
        self._api = api
        self._url = url
        self._name = name
        self._habits = habits
        self._session = new_session()
        self._lock = threading.Lock()
        self._live: dict[str, DockerContainer] = {}
        self._closed = False
        self._removals = Removals()
        self._channels: weakref.WeakSet[Channel] = weakref.WeakSet()

    @property
    def name(self) -> str:
        """See the Protocol."""
        return self._name

    @contextmanager
    def run(
        self,
        image: Image,
        limits: Limits,
        *,
        labels: Mapping[str, str] | None = None,
        kit: bytes = b"",
    ) -> Iterator[DockerContainer]:
        """See the Protocol."""
        env = self._wardrobe(installs=False)
        spec = Spec(
            image=image,
            labels=labels or {},
            host=confinement.run_config(limits, self._habits),
            prologue=confinement.run_prologue(self._habits, kit_bytes=len(kit)),
            kit=kit,
            networkless=self._habits.networkless,
        )
        with self._container(spec, limits, env) as container:
            yield container

    @contextmanager
    def install(
        self,
        image: Image,
        limits: Limits,
        *,
        labels: Mapping[str, str] | None = None,
        cache: str | None = None,
        kit: bytes = b"",
    ) -> Iterator[DockerContainer]:
        """See the Protocol."""
        env = self._wardrobe(installs=True)
        spec = Spec(
            image=image,
            labels=labels or {},
            host=confinement.install_config(limits, self._habits, cache=cache),
            prologue=confinement.install_prologue(kit_bytes=len(kit)),
            kit=kit,
        )
        with self._container(spec, limits, env) as container:
            watcher = DiskWatcher(self._api, container, limit_mb=limits.disk_mb)
            try:
                yield container
            finally:
                watcher.close()

    def find(self, tag: str) -> Image | None:
        """See the Protocol."""
        with machinery("look up an image"):
            try:
                return Image(digest=_digest(self._api, tag), tag=tag)
            except ImageNotFound:
                return None

    def pull(self, reference: str) -> Image | NotPulled:
        """See the Protocol."""
        with machinery("answer"):
            self._api.ping()
        missed = registry.pull(self._api, self._url, reference)
        return missed or self.find(reference) or NotPulled.UNREACHABLE

    def import_root(self, tar: Path, *, tag: str, labels: Mapping[str, str]) -> Image:
        """See the Protocol."""
        repository, _, version = tag.rpartition(":")
        with machinery("import an image"):
            said = self._api.import_image(
                src=str(tar), repository=repository, tag=version, changes=instructions(labels)
            )
            digest = re.search(r"[0-9a-f]{64}", str(said))
            if digest is not None:  # podman does not heed the tag
                self._api.tag(f"sha256:{digest.group()}", repository, version, force=True)
        image = self.find(tag)
        if image is None:
            raise EngineUnavailableError(f"The container engine imported {tag} but lost it.")
        latest = self.find(f"{repository}:latest")
        if latest is not None and latest.digest == image.digest:  # what podman took for the tag
            self.remove_image(latest)
        return image

    def images(self, *, label: str) -> Sequence[StoredImage]:
        """See the Protocol."""
        return inventory.images(self._api, label)

    def remove_image(self, image: Image) -> bool:
        """See the Protocol."""
        self._removals.settle()
        with machinery("remove an image"):
            current = self.find(image.tag) if image.tag else None
            reference = image.tag if current and current.digest == image.digest else image.digest
            return inventory.removed(self._api.remove_image, reference)

    def caches(self) -> Sequence[Cache]:
        """See the Protocol."""
        self._removals.settle()
        return inventory.caches(self._api)

    def remove_cache(self, cache: Cache) -> bool:
        """See the Protocol."""
        self._removals.settle()
        return inventory.remove_cache(self._api, cache)

    def sweep(self) -> int:
        """See the Protocol."""
        self._removals.settle()
        with machinery("list containers"):
            found = self._api.containers(all=True, filters={"label": OWNER_LABEL})
        return sum(self._swept(str(each["Id"])) for each in found if _orphaned(each))

    def _swept(self, container_id: str) -> bool:
        """False for one that the engine cannot let go of now: it keeps nobody from work."""
        try:
            return self._remove(container_id)
        except EngineUnavailableError as error:
            _LOG.warning("An orphaned container stays: %s", error)
            return False

    def close(self) -> None:
        """See the Protocol. The engine cannot be used afterwards.

        It is a matter of seconds, whatever the engine does and whatever was asked of it.
        """
        with self._lock:
            self._closed = True
            live = list(self._live.values())
        for container in live:
            container.give_up()
        self._api.timeout = self.SILENT_S  # also for what others still undo
        if self._api.answers():
            self._remove_all(live, until=time.monotonic() + self.CLOSING_S)
            self._api.settle(within_s=self.GRACE_S)
        else:
            self._api.timeout = 1
        self._api.cut()
        for channel in list(self._channels):
            channel.hang_up()
        self._removals.close()
        self._api.close()

    def _remove_all(self, live: Sequence[DockerContainer], *, until: float) -> None:
        """Until then (monotonic seconds), and not after one whose removal it does not answer."""
        for container in live:
            if time.monotonic() > until:
                return
            try:
                self._remove(container.id)
            except EngineUnavailableError as error:
                if is_silence(error):
                    return

    # -- the life of a container ------------------------------------------------------------------

    @contextmanager
    def _container(self, spec: Spec, limits: Limits, env: Wardrobe) -> Iterator[DockerContainer]:
        self._removals.check()
        container = self._started(spec, limits, env)
        try:
            yield container
        finally:
            self._removals.begin(partial(self._end, container))

    def _started(self, spec: Spec, limits: Limits, env: Wardrobe) -> DockerContainer:
        with machinery("create a container"):
            container_id = create(self._api, spec, session=self._session)
        with ExitStack() as undo:
            undo.callback(self._remove, container_id)
            with machinery("start a container"):
                channel = self._start(container_id, spec.kit, undo)
            container = DockerContainer(self._api, container_id, channel, limits, env)
            self._register(container)
            undo.pop_all()
        return container

    def _end(self, container: DockerContainer) -> None:
        """What is not removed is still known to `close`, which tries again."""
        try:
            self._remove(container.id)
            self._forget(container)
        finally:  # not before: a container that is stopping cannot always be removed
            container.let_go()

    def _wardrobe(self, *, installs: bool) -> Wardrobe:
        guest = confinement.guest_env(installs=installs) | self._habits.guest_env
        return Wardrobe(guest=guest, root=confinement.root_env(installs=installs))

    def _start(self, container_id: str, kit: bytes, undo: ExitStack) -> Channel:
        """Attach first, so that nothing is missed; ready when the report pipe answers."""
        wanted = {"stdin": 1, "stdout": 1, "stream": 1}
        stream = Stream(self._api.attach_socket(container_id, params=wanted))
        channel = Channel(stream, limit=_REPORT_BYTES)
        self._channels.add(channel)
        undo.callback(channel.close)
        self._api.start(container_id)
        stream.send_all(kit, timeout_s=_START_S)
        if channel.drain(timeout_s=_START_S) is None:
            raise EngineUnavailableError(
                "A container did not start as it should: see the container engine's log."
            )
        return channel

    def _register(self, container: DockerContainer) -> None:
        with self._lock:
            if self._closed:
                raise EngineUnavailableError("The container engine was closed.")
            self._live[container.id] = container

    def _forget(self, container: DockerContainer) -> None:
        with self._lock:
            self._live.pop(container.id, None)

    def _remove(self, container_id: str) -> bool:
        """False when it was gone already, or someone else is removing it."""
        with machinery("remove a container"):
            for attempt in range(_REMOVE_ATTEMPTS):
                try:
                    self._api.remove_container(container_id, force=True, v=True)
                except NotFound:
                    return False
                except APIError as error:
                    if error.status_code == 409:
                        return False
                    if attempt == _REMOVE_ATTEMPTS - 1:
                        raise
                    time.sleep(0.1 * (attempt + 1))  # podman: it was just stopping
                else:
                    return True
        return False


def _digest(api: APIClient, tag: str) -> str:
    found = api.inspect_image(tag)  # type: ignore[no-untyped-call]  # its stubs
    return str(found["Id"])


def _orphaned(found: Mapping[str, Any]) -> bool:
    owner = parse(str((found.get("Labels") or {}).get(OWNER_LABEL, "")))
    return owner is not None and is_dead(owner)
