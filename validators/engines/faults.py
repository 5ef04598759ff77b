"""Turns whatever the engine's client raises into one sentence for a person."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException

from docker.errors import APIError, DockerException
from requests.exceptions import ConnectionError as NoConnection
from requests.exceptions import RequestException, Timeout
from urllib3.exceptions import HTTPError

from validators.errors import EngineUnavailableError

_FULL_DISK = ("no space left on device", "disk quota exceeded")


@contextmanager
def machinery(doing: str) -> Iterator[None]:
    """Whatever fails inside is the machinery's fault: raises EngineUnavailableError.

    `doing` completes "The container engine failed to …".
    """
    try:
        yield
    except (DockerException, RequestException, HTTPError, HTTPException, OSError) as error:
        raise EngineUnavailableError(_sentence(error, doing)) from error


def is_silence(error: EngineUnavailableError) -> bool:
    """The engine was asked and did not answer."""
    return isinstance(error.__cause__, Timeout)


def beside(work: Callable[[], object], *, name: str) -> threading.Thread:
    """A thread of its own that does `work`. EngineUnavailableError: this machine has none left."""
    thread = threading.Thread(target=work, name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        raise EngineUnavailableError(
            "This machine can start no more threads: raise its limit of processes or use fewer "
            "workers, then try again."
        ) from error
    return thread


def _sentence(error: Exception, doing: str) -> str:
    explanation = " ".join(_explanation(error).split()).rstrip(".")[:500]
    if any(mark in explanation.lower() for mark in _FULL_DISK):
        return (
            f"The disk of the container engine is full (it failed to {doing}): "
            "free some space, for instance with `miner images gc`, then try again."
        )
    if isinstance(error, Timeout):
        return (
            f"The container engine did not answer in time when asked to {doing}: "
            "check its load and its log, then try again."
        )
    if isinstance(error, NoConnection | OSError) and not isinstance(error, APIError):
        return (
            f"The container engine is gone (it was asked to {doing}: {explanation}): "
            "start it, then try again."
        )
    return f"The container engine failed to {doing}: {explanation}."


def _explanation(error: Exception) -> str:
    if isinstance(error, APIError) and error.explanation:
        return str(error.explanation)
    return str(error) or type(error).__name__
