"""A workshop without containers: examinations by script."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from validators.model import Examination, Policy, Recipe, Task

Answer = Examination | Exception | Callable[[Task], Examination]


@dataclass
class FakeWorkshop:
    """Answers by instance id: an examination, an exception to raise, or a function to call."""

    answers: Mapping[str, Answer]
    asked: list[tuple[str, str, tuple[Recipe, ...]]] = field(default_factory=list)
    closed: threading.Event = field(default_factory=threading.Event)

    def examine(self, task: Task, *, policy: Policy, stored: Sequence[Recipe]) -> Examination:
        """The scripted answer."""
        self.asked.append((task.instance_id, policy.name, tuple(stored)))
        answer = self.answers[task.instance_id]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Examination) else answer(task)

    def close(self) -> None:
        """Remembered, and seen by scripted functions that wait for it."""
        self.closed.set()
