"""Commands in one running container: started, followed, ended at their deadline."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from docker.api.client import APIClient

from validators.engines.faults import machinery
from validators.engines.life import SETTLE_S, Life
from validators.engines.streams import Ending, HeadAndTail, Stream, pump
from validators.errors import EngineUnavailableError

KILLED = 137
"""The exit code of what was killed, whoever killed it."""

_KILL_S = 10.0  # for the kill itself, and for output to end after it
_ROOT = "0:0"

# kill(-1) reaches every process the caller may signal, but for itself and pid 1, in one go: no fork
# can slip through. Root without CAP_KILL reaches only its own; the report's copier is spared.
_KILL_GUEST = ("/bin/sh", "-c", "kill -9 -1")
_KILL_ROOT = (
    "/bin/sh",
    "-c",
    "read -r copier </run/miner/.copier; for p in /proc/[0-9]*; do p=${p#/proc/}; "
    'case $p in 1|"$copier"|$$) ;; *) kill -9 "$p" 2>/dev/null;; esac; done; true',
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to run, as whom."""

    argv: Sequence[str]
    env: Mapping[str, str]
    root: bool = False
    workdir: str | None = None
    stdin: bytes | None = None
    aside: bool = False  # a look of ours while others run: how memory did is told to them alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended."""

    exit_code: int
    duration_s: float
    timed_out: bool = False
    out_of_memory: bool = False


class Commands:
    """The commands of one container, one at a time or several.

    Once one had to be ended by killing the whole container, it is spent: later commands end at once
    with status 137.
    """

    def __init__(self, api: APIClient, container_id: str, life: Life, *, guest_uid: int) -> None:
        self._guest = f"{guest_uid}:{guest_uid}"
        self._api = api
        self._id = container_id
        self._life = life
        self._running = 0
        self._counting = threading.Lock()

    @property
    def running(self) -> bool:
        """A command is running."""
        return self._running > 0

    def run(self, command: Command, kept: HeadAndTail, *, deadline: float) -> Ended:
        """Run to the end or `deadline` (monotonic seconds); the guest's failure never raises.

        Raises EngineUnavailableError when the engine fails, or was closed meanwhile.
        """
        ended = self.begin(command).part(kept.write, stdin=command.stdin, deadline=deadline)
        assert ended is not None  # noqa: S101 - nothing else was enough
        return ended

    def begin(self, command: Command) -> "Running":
        """A command that is fed in parts. It starts with the first; its own `stdin` is not used."""
        return Running(self, command)

    def follow(
        self,
        running: "Running",
        write: Callable[[bytes], None],
        *,
        stdin: bytes | None,
        deadline: float,
        enough: Callable[[], bool] | None,
    ) -> Ended | None:
        """See `Running.part`."""
        started = time.monotonic()
        self._life.refuse_when_closing()
        if self._life.spent:
            return Ended(exit_code=KILLED, duration_s=0.0)
        known = self._life.kills
        self._count(1)
        try:
            with machinery("run a command in a container"):
                exec_id, stream = running.started(self._start)
                ending = pump(
                    stream,
                    write,
                    stdin=stdin,
                    deadline=deadline,
                    gone=lambda: not self._state(exec_id)["Running"],
                    enough=enough,
                )
                if ending is Ending.ENOUGH:
                    return None
                if ending is Ending.DEADLINE:
                    self._end_late(running.command, stream, write)
                duration_s = time.monotonic() - started
                self._life.refuse_when_closing()
                return Ended(
                    exit_code=self._exit_code(exec_id),
                    duration_s=duration_s,
                    timed_out=ending is Ending.DEADLINE,
                    out_of_memory=not running.command.aside and self._life.hit_memory_limit(known),
                )
        except EngineUnavailableError:
            self._life.refuse_when_closing()
            killed_by_us = self._life.spent
            if running.command.aside or not self._life.died_of_its_guest():
                raise
            return Ended(
                exit_code=KILLED,
                duration_s=time.monotonic() - started,
                out_of_memory=not killed_by_us,
            )
        finally:
            self._count(-1)

    def _count(self, change: int) -> None:
        with self._counting:
            self._running += change

    def kill_guest(self) -> None:
        """End every process of the guest, if need be with the whole container."""
        if not self._life.spent and self._run_quietly(_KILL_GUEST, user=self._guest) != 0:
            self._life.end()

    def _start(self, command: Command) -> tuple[str, Stream]:
        exec_id = str(
            self._api.exec_create(
                self._id,
                list(command.argv),
                stdin=command.stdin is not None,
                environment=dict(command.env),
                workdir=command.workdir,
                user=_ROOT if command.root else self._guest,
            )["Id"]
        )
        return exec_id, Stream(self._api.exec_start(exec_id, socket=True))

    def _end_late(self, command: Command, stream: Stream, write: Callable[[bytes], None]) -> None:
        """Its deadline has passed: kill it, and the whole container when its output goes on."""
        if command.root:
            self._run_quietly(_KILL_ROOT, user=_ROOT)
        self.kill_guest()
        if _drain(stream, write, until=time.monotonic() + _KILL_S) is Ending.DEADLINE:
            self._life.end()

    def _run_quietly(self, argv: Sequence[str], *, user: str) -> int:
        """The exit code of a short command of our own; KILLED when it did not end."""
        exec_id = self._api.exec_create(self._id, list(argv), user=user)["Id"]
        stream = Stream(self._api.exec_start(exec_id, socket=True))
        try:
            ending = _drain(stream, HeadAndTail(1024).write, until=time.monotonic() + _KILL_S)
        finally:
            stream.close()
        return KILLED if ending is Ending.DEADLINE else self._exit_code(exec_id)

    def _exit_code(self, exec_id: str) -> int:
        """The engine may need a moment after the output's end; what never ends was killed."""
        until = time.monotonic() + SETTLE_S
        pause_s = 0.002
        while not self._life.spent:
            state = self._state(exec_id)
            if not state["Running"] and state["ExitCode"] is not None:
                return int(state["ExitCode"])
            if time.monotonic() > until:
                break
            time.sleep(pause_s)
            pause_s *= 2
        return KILLED

    def _state(self, exec_id: str) -> dict[str, Any]:
        return dict(self._api.exec_inspect(exec_id))


class Running:
    """One command under way, fed and followed in parts by one thread at a time."""

    def __init__(self, commands: Commands, command: Command) -> None:
        self.command = command
        self._commands = commands
        self._started: tuple[str, Stream] | None = None

    def started(self, start: Callable[[Command], tuple[str, Stream]]) -> tuple[str, Stream]:
        """Its id and its connection; started by the first call."""
        if self._started is None:
            self._started = start(self.command)
        return self._started

    def part(
        self,
        write: Callable[[bytes], None],
        *,
        stdin: bytes | None,
        deadline: float,
        enough: Callable[[], bool] | None = None,
    ) -> Ended | None:
        """Feed `stdin` and hand its output to `write`, until its end or `deadline`.

        With `enough` its input stays open, and None is returned as soon as that is true after a
        write: then it still runs. See `Commands.run` for what raises.
        """
        ended: Ended | None = None
        try:
            ended = self._commands.follow(
                self, write, stdin=stdin, deadline=deadline, enough=enough
            )
        except BaseException:
            self.close()
            raise
        if ended is not None:
            self.close()
        return ended

    def close(self) -> None:
        """Give its connection back, ended or not."""
        if self._started is not None:
            self._started[1].close()


def _drain(stream: Stream, write: Callable[[bytes], None], *, until: float) -> Ending:
    return pump(stream, write, stdin=None, deadline=until, gone=lambda: False)
