"""What Python's test runners report (the reporter's room replaces this)."""

from collections.abc import Callable, Mapping

from validators.model import TestResult

READERS: Mapping[str, Callable[[bytes], Mapping[str, TestResult]]] = {}
