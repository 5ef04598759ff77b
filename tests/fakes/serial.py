"""An executor that runs each call at once, in the caller's thread."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class SerialExecutor(Executor):
    """Deterministic: results come in the order of submission."""

    def submit(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run now; what the call raises is in the future, as with any executor."""
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(call(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  (an executor keeps whatever is raised)
            future.set_exception(error)
        return future
