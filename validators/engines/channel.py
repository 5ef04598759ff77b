"""How a report leaves a container: a FIFO, copied to the main process's output, collected here.

The main process is ours and root's: the guest, another uid without capabilities, can neither stop
nor read it, and may only write to the FIFO. So what was written is out of the guest's reach at once
and outlives a kill. To know that everything up to now has arrived, a random line is sent to the
main process, which writes it to the FIFO behind all that is there; it comes back in order.
"""

import secrets
import selectors
import tempfile
import threading

from validators.engine import REPORT_PIPE
from validators.engines.faults import beside
from validators.engines.streams import Stream
from validators.errors import EngineUnavailableError

COUNT_KILLS = """
count_kills() {
    kills=0 limit=1
    for counter in "$1/memory.events" "$1/memory/memory.oom_control" /dev/null; do
        [ -r "$counter" ] && break
    done
    while read -r key value; do
        case "$key" in oom_kill) kills=$value ;; max) limit=$value ;; esac
    done <"$counter"
    if [ -r "$1/memory/memory.max_usage_in_bytes" ]; then
        read -r most <"$1/memory/memory.max_usage_in_bytes"
        read -r bytes <"$1/memory/memory.limit_in_bytes"
        limit=$((most + 1048576 > bytes))
    fi
    [ "$kills" = 0 ] || [ "$limit" != 0 ] || kills=-$kills
}
"""
"""Bash, without a fork: how often the kernel killed for memory, below zero when the container never
came to its own limit, so that it was the host that had no memory left. On cgroup v1 and v2 this
stands in different files; the engine's own flag is set only when the container ends."""

# A test writes some lines a millisecond, and each wakes five processes on its way out: so the pipe,
# where they are as safe, is emptied a few times a second, at once when it fills, and at once when
# the main process says so with SIGUSR1, which is ignored until there is a handler. Without perl,
# which is essential to Debian, each line goes by itself.
_COPY = """
$SIG{USR1} = sub { $hurry = 1 };
for (;;) {
    my $got = sysread STDIN, my $part, 65536;
    next if !defined $got && $! == 4;
    exit unless $got;
    for (my $sent = 0; $sent < $got;) {
        my $took = syswrite STDOUT, $part, $got - $sent, $sent;
        next if !defined $took && $! == 4;
        exit 1 unless defined $took;
        $sent += $took;
    }
    select undef, undef, undef, 0.02 unless $hurry || $got > 16384;
    $hurry = 0;
}
"""

# `read` is interrupted by SIGCHLD in bash, which then reaps whatever was orphaned: no zombies. When
# stdin ends (the miner was killed), the loop ends and with it the container. Nothing in the loop
# forks, so a fork bomb does not silence it.
MAIN_SCRIPT = f"""
set -e
mkfifo -m 0622 {REPORT_PIPE}
trap '' USR1
if [ -x /usr/bin/perl ]; then copier=(/usr/bin/perl -e '{_COPY}'); else copier=(/bin/cat); fi
"${{copier[@]}}" <>{REPORT_PIPE} &
copier=$!
echo $copier >/run/miner/.copier
chmod 0600 /run/miner/.copier
exec 3>{REPORT_PIPE}
set +e
{COUNT_KILLS}
while read -r mark; do
    count_kills /sys/fs/cgroup
    printf %s "$mark$kills$mark" >&3
    kill -USR1 $copier
done
"""

_SPOOL_MEMORY = 4 << 20
_MARK_BYTES = 16


class Channel:
    """Collects one container's report in a thread; small ones in memory, larger ones on disk."""

    def __init__(self, stream: Stream, *, limit: int) -> None:
        self._stream = stream
        self._limit = limit
        self._spool = tempfile.SpooledTemporaryFile(_SPOOL_MEMORY)  # noqa: SIM115 - closed by close()
        self._size = 0
        self._held = b""  # may be the beginning of the mark
        self._mark = b""
        self._kills: int | None = None
        self._draining = threading.Lock()
        self._seen = threading.Condition()
        self._ended = False
        self._broken: OSError | None = None
        try:
            self._thread = beside(self._collect, name="report")
        except EngineUnavailableError:
            stream.close()
            self._spool.close()
            raise

    def drain(self, *, timeout_s: float) -> int | None:
        """Wait until all that was written before this call is here.

        Returns how many of the container's processes the kernel has killed for memory, below zero
        when it was the host's memory that ran out; None when the container no longer answers.
        """
        mark = secrets.token_hex(_MARK_BYTES).encode()
        with self._draining, self._seen:
            self._check()
            if self._ended:
                return None
            self._mark, self._kills = mark, None
            self._stream.send_all(mark + b"\n", timeout_s=timeout_s)
            self._seen.wait_for(lambda: self._kills is not None or self._ended, timeout_s)
            self._check()
            return self._kills

    def _check(self) -> None:
        if self._broken is not None:
            raise EngineUnavailableError(
                "The temporary folder of this machine is full: free some space, then try again."
            ) from self._broken

    @property
    def ended(self) -> bool:
        """Nothing more will come: the main process ended, or the engine let go of it."""
        return self._ended

    def value(self) -> bytes:
        """What has arrived."""
        with self._seen:
            self._spool.seek(0)
            arrived = self._spool.read()
            self._spool.seek(0, 2)
            return arrived + self._held

    def hang_up(self) -> None:
        """Whoever waits for something of it sees its end now."""
        self._stream.interrupt()

    def close(self) -> None:
        """Stop collecting and forget everything."""
        self.hang_up()
        self._thread.join()
        self._stream.close()
        self._spool.close()

    def _collect(self) -> None:
        for part in self._stream.early():
            self._arrived(part)
        with selectors.DefaultSelector() as selector:
            selector.register(self._stream, selectors.EVENT_READ)
            while True:
                selector.select()
                parts = self._stream.receive()
                if parts is None:
                    break
                for part in parts:
                    self._arrived(part)
        with self._seen:
            self._ended = True
            self._seen.notify_all()

    def _arrived(self, part: bytes) -> None:
        with self._seen:
            arrived, self._held = self._held + part, b""
            if self._mark:
                before, found, after = arrived.partition(self._mark)
                kills, closed, rest = after.partition(self._mark)
                if closed:
                    self._mark, self._kills = b"", int(kills)
                    self._seen.notify_all()
                    arrived = before + rest
                else:
                    keep = len(found + after) or _overlap(arrived, self._mark)
                    cut = len(arrived) - keep
                    arrived, self._held = arrived[:cut], arrived[cut:]
            self._store(arrived)

    def _store(self, arrived: bytes) -> None:
        arrived = arrived[: max(self._limit - self._size, 0)]
        self._size += len(arrived)
        try:
            self._spool.write(arrived)
        except OSError as error:  # our own disk is full: said at the next drain
            self._broken = error


def _overlap(arrived: bytes, mark: bytes) -> int:
    """How many last bytes of `arrived` are the first bytes of `mark`."""
    for size in range(min(len(arrived), len(mark) - 1), 0, -1):
        if mark.startswith(arrived[-size:]):
            return size
    return 0
