"""Where work runs: threads of this process by default, a Dask cluster by address.

The seam is `concurrent.futures.Executor`. It holds nothing that may not be lost: leases and rows
are the truth, so any executor may break at any moment.
"""

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from urllib.parse import urlsplit

from miner.errors import ConfigError, RetryableError

EXECUTORS = ("threads", "dask")

CONNECT_S = 10
"""How long a Dask scheduler may take to answer."""


@contextmanager
def executor(
    name: str, *, workers: int, address: str | None = None, connect_s: float = CONNECT_S
) -> Iterator[Executor]:
    """An executor for one pass; leaving the block waits for what still runs.

    "threads" runs `workers` at once here. "dask" hands work to the scheduler at `address`, which
    decides how many run. ConfigError: unknown name, bad number, missing or odd address.
    RetryableError: the scheduler does not answer.
    """
    if name not in EXECUTORS:
        raise ConfigError(f"There is no executor {name!r}; choose {' or '.join(EXECUTORS)}.")
    if workers < 1:
        raise ConfigError(f"Workers must be 1 or more, not {workers}.")
    if name == "threads":
        with ThreadPoolExecutor(max_workers=workers, thread_name_prefix="worker") as pool:
            yield pool
        return
    if not address:
        raise ConfigError("The executor dask needs the address of its scheduler: tcp://host:8786.")
    if not _is_address(address):
        raise ConfigError(f"{address!r} is no address of a Dask scheduler; write tcp://host:8786.")
    with _dask(address, connect_s) as pool:
        yield pool


def _is_address(address: str) -> bool:
    """Asked before Dask is: its client, once it stumbled over an address, never comes to rest."""
    try:
        parts = urlsplit(address)
        return parts.scheme in {"tcp", "tls"} and bool(parts.hostname) and bool(parts.port)
    except ValueError:
        return False


@contextmanager
def _dask(address: str, connect_s: float) -> Iterator[Executor]:
    try:
        from distributed import Client, Security  # noqa: PLC0415  (an extra: for clusters only)
    except ImportError as error:
        raise ConfigError(
            "The executor dask is not installed; install swe-evergreen[cluster]."
        ) from error
    certain = Security().get_connection_args("client")["ssl_context"] is not None  # type: ignore[no-untyped-call]  # distributed has no types
    if address.startswith("tls:") and not certain:
        raise ConfigError(
            f"{address} asks for TLS, but Dask is given no certificates; "
            "set distributed.comm.tls in Dask's own configuration."
        )
    try:
        client = Client(address, timeout=connect_s, set_as_default=False)  # type: ignore[no-untyped-call]  # distributed has no types
    except (OSError, ValueError) as error:
        raise RetryableError(
            f"No Dask scheduler answers at {address}; start `dask scheduler` there."
        ) from error
    try:
        # Dask takes equal calls for equal answers unless it is told otherwise
        yield client.get_executor(pure=False)  # type: ignore[no-untyped-call]  # as above
    finally:
        # not Executor.shutdown(): it would wait for ever for a scheduler that is gone
        client.close(timeout=connect_s)  # type: ignore[no-untyped-call]  # as above
