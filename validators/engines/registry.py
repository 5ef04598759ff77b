"""Images from a registry."""

import re

from docker.api.client import APIClient
from docker.errors import APIError, NotFound
from requests.exceptions import RequestException

from validators.engine import NotPulled

_ANSWER_S = 8

_ABSENT = re.compile(r"manifest unknown|name unknown|access .*denied|unauthorized|not found$", re.I)


def pull(api: APIClient, url: str, reference: str) -> NotPulled | None:
    """Fetch an image, "name:tag", to the engine at `url`; None when it is there.

    The registry is asked for it first, so that silence costs seconds.
    """
    repository, _, tag = reference.rpartition(":")
    try:
        _ask(url, reference)
        for step in api.pull(repository, tag=tag, stream=True, decode=True):
            if "error" in step:
                return _why_ended(str(step["error"]))
    except (APIError, RequestException) as error:
        return _why_not(error)
    return None


def _ask(url: str, reference: str) -> None:
    impatient = APIClient(base_url=url, version="auto", timeout=_ANSWER_S)
    try:
        impatient.inspect_distribution(reference)  # type: ignore[no-untyped-call]  # its stubs
    except NotFound:
        pass  # no such image; or podman, which cannot be asked: the pull tells
    finally:
        impatient.close()


def _why_ended(said: str) -> NotPulled:
    """Podman tells in words, in the middle of a pull; any other end is one of the connection."""
    return NotPulled.ABSENT if _ABSENT.search(said) else NotPulled.UNREACHABLE


def _why_not(error: APIError | RequestException) -> NotPulled:
    """A registry that refuses us has nothing for us; whatever else fails may be better later."""
    refused = isinstance(error, APIError) and error.status_code in {401, 403, 404}
    return NotPulled.ABSENT if refused else NotPulled.UNREACHABLE
