"""One task, two tasks."""

import pytest

from validators.plural import counted


@pytest.mark.parametrize(
    ("number", "noun", "said"),
    [
        (0, "task", "0 tasks"),
        (1, "task", "1 task"),
        (2, "task", "2 tasks"),
        (1, "repository", "1 repository"),
        (0, "repository", "0 repositories"),
        (2, "day", "2 days"),
        (2, "patch", "2 patches"),
        (2, "new pass", "2 new passes"),
    ],
)
def test_a_number_goes_with_its_noun(number: int, noun: str, said: str) -> None:
    assert counted(number, noun) == said
