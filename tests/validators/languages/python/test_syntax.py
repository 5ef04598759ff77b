"""Syntax trees: of Python 3 alone, from many threads at once."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from validators.languages.python.syntax import syntax_tree

DEEP = "x = " + " + ".join(f"[{'(' * 30}1{')' * 30}]" for _ in range(200))


@pytest.mark.parametrize("text", ["print 'old'", "\0", "(" * 5000])
def test_what_is_not_python_3_has_no_tree(text: str) -> None:
    assert syntax_tree(text) is None


def test_threads_do_not_disturb_each_other() -> None:
    with ThreadPoolExecutor(max_workers=8) as pool:
        trees = list(pool.map(syntax_tree, [DEEP] * 64))
    assert all(tree is not None for tree in trees)
