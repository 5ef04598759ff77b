"""Whatever the client library raises becomes one sentence."""

import pytest
from docker.errors import APIError, DockerException
from requests.exceptions import ConnectionError as NoConnection
from requests.exceptions import ReadTimeout

from validators.engines.faults import machinery
from validators.errors import EngineUnavailableError

CASES: list[tuple[Exception, str]] = [
    (NoConnection("refused"), "is gone"),
    (ReadTimeout("slow"), "did not answer in time"),
    (BrokenPipeError(32, "Broken pipe"), "is gone"),
    (DockerException("strange"), "failed to start a container: strange."),
    (APIError("500", explanation="write /x: no space left on device"), "disk .* is full"),
    (APIError("500", explanation="two\nlines"), "failed to start a container: two lines"),
]


@pytest.mark.parametrize(("error", "words"), CASES)
def test_the_clients_errors_are_the_machines(error: Exception, words: str) -> None:
    with pytest.raises(EngineUnavailableError, match=words), machinery("start a container"):
        raise error


def test_our_own_mistakes_are_not_hidden() -> None:
    with pytest.raises(KeyError), machinery("start a container"):
        raise KeyError
