"""Whether a container lives, and who ended it when it does not: its guest, its host, or we."""

import threading
import time
from typing import Any

from docker.api.client import APIClient

from validators.engines.channel import Channel
from validators.engines.faults import machinery
from validators.errors import EngineUnavailableError

SETTLE_S = 2.0
"""For the engine to notice that something ended."""


class Life:
    """One container's. Spent: it was killed whole. Closing: whatever it does, nobody waits."""

    def __init__(self, api: APIClient, container_id: str, channel: Channel) -> None:
        self._api = api
        self._id = container_id
        self._channel = channel
        self._kills = 0  # for memory, up to the last command
        self._spent = threading.Event()
        self._closing = threading.Event()

    @property
    def spent(self) -> bool:
        """It had to be killed."""
        return self._spent.is_set()

    @property
    def kills(self) -> int:
        """Processes killed for memory, as far as any command was told."""
        return self._kills

    def close(self) -> None:
        """From now on whoever waits for a command gives up."""
        self._closing.set()

    def refuse_when_closing(self) -> None:
        """Raises EngineUnavailableError once it was closed."""
        if self._closing.is_set():
            raise EngineUnavailableError("The container engine was closed while a command ran.")

    def end(self) -> None:
        """Kill all of it."""
        self._spent.set()
        self._channel.drain(timeout_s=SETTLE_S)  # what is still in the pipe dies with it
        with machinery("kill a container"):
            self._api.kill(self._id)

    def hit_memory_limit(self, known: int) -> bool:
        """The kernel killed for memory since there were `known` kills: when this one began.

        What is killed while several run is told to each of them; what is not told in time, to the
        next command, or by the report.
        """
        if self.spent:
            return False
        kills = self._channel.drain(timeout_s=SETTLE_S)
        if kills is None:
            return self.died_of_its_guest()
        self.refuse_kills_of_the_host(kills)
        self._kills = max(self._kills, abs(kills))
        return kills > known

    def refuse_kills_of_the_host(self, kills: int) -> None:
        """Raise for kills (as `Channel.drain` tells them) that no command was told of yet, when it
        was the host that had no memory."""
        if kills < 0 and -kills > self._kills:
            raise EngineUnavailableError(
                "The container engine's machine ran out of memory and ended processes of a run "
                "that was within its own limit: use fewer workers, then try again."
            )

    def died_of_its_guest(self) -> bool:
        """The container stopped because it was killed by us, or by the kernel for its memory.

        No guest can end the main process: whatever else did was the machine's, and raises
        EngineUnavailableError.
        """
        if self.spent:
            return True
        state = self._settled()
        if not state["Running"] and state["OOMKilled"]:
            self._spent.set()
            return True
        if not state["Running"] or self._channel.ended:
            self.refuse_when_closing()
            raise EngineUnavailableError(
                "A container was ended from outside while its commands ran: see what stops "
                "containers on the container engine's machine, then try again."
            )
        return False

    def _settled(self) -> dict[str, Any]:
        """The container's state; its output ends a moment before the engine calls it stopped."""
        until = time.monotonic() + SETTLE_S
        while True:
            with machinery("look at a container"):
                state = dict(self._api.inspect_container(self._id)["State"])
            if not state["Running"] or not self._channel.ended or time.monotonic() > until:
                return state
            time.sleep(0.05)
