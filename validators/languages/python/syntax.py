"""Python text → syntax tree, safe in threads."""

import ast
import threading

_one_at_a_time = threading.Lock()
"""Before 3.11.4 the parser counts its depth in one place for all threads and gives up with
SystemError when two build trees at once: https://github.com/python/cpython/issues/106905."""


def syntax_tree(text: str) -> ast.Module | None:
    """The tree; None for what is not Python 3 or is nested too deeply."""
    with _one_at_a_time:
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
