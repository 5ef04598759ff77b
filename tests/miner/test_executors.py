"""Executors by name; a real Dask cluster is in verify/test_cluster.py."""

import os

import pytest

from miner.errors import ConfigError, RetryableError
from miner.executors import executor


def where(number: int) -> tuple[int, int]:
    """Something to run elsewhere."""
    return 2 * number, os.getpid()


@pytest.mark.parametrize(
    ("name", "workers", "address", "words"),
    [
        ("ray", 2, None, "no executor 'ray'; choose threads or dask"),
        ("threads", 0, None, "Workers must be 1 or more, not 0"),
        ("dask", 2, None, "needs the address of its scheduler"),
        ("dask", 2, "x", "'x' is no address of a Dask scheduler; write tcp://host:8786"),
        ("dask", 2, "foo://host:8786", "is no address of a Dask scheduler"),
        ("dask", 2, "tls://host:8786", "Dask is given no certificates"),
        ("dask", 2, "tcp://host", "is no address of a Dask scheduler"),
        ("dask", 2, "tcp://host:99999", "is no address of a Dask scheduler"),
    ],
)
def test_what_makes_no_executor_is_told(
    name: str, workers: int, address: str | None, words: str
) -> None:
    with pytest.raises(ConfigError, match=words), executor(name, workers=workers, address=address):
        pass


def test_threads_run_here() -> None:
    with executor("threads", workers=2) as pool:
        assert pool.submit(where, 2).result(20) == (4, os.getpid())


def test_a_dask_scheduler_that_does_not_answer_is_told() -> None:
    with (
        pytest.raises(RetryableError, match="No Dask scheduler answers"),
        executor("dask", workers=1, address="tcp://127.0.0.1:1", connect_s=1),
    ):
        pass
