"""Size of the fix and a difficulty by rule.

Counted over the source files of the gold patch; documents, lock files and the like say nothing of
the work. Each of four figures gives 0, 1 or 2 points:

    figure                       0        1        2 points
    source files              1        2–3     4 or more
    hunks                    ≤ 2       3–8     9 or more
    lines added + removed   ≤ 15     16–60    61 or more
    FAIL_TO_PASS             ≤ 2      3–10    11 or more

0–1 points: easy, 2–4: medium, 5–8: hard.
"""

import io

from unidiff.patch import PatchSet

from miner.assess.measure import Measure, Value
from miner.model import Instance

_STEPS = {"files": (1, 3), "hunks": (2, 8), "lines": (15, 60), "fail_to_pass": (2, 10)}


def size(instance: Instance) -> Value:
    """Files, hunks, lines, FAIL_TO_PASS count, points and difficulty."""
    files = hunks = lines = 0
    sources = {path for path, kind in instance.candidate.file_classes if kind == "source"}
    text = instance.candidate.patch.decode("utf-8", "surrogateescape")
    for file in PatchSet(io.StringIO(text, newline="\n")):
        if sources and file.path not in sources:
            continue
        files += 1
        hunks += len(file)
        lines += file.added + file.removed
    figures = {
        "files": files,
        "hunks": hunks,
        "lines": lines,
        "fail_to_pass": len(instance.verdict.fail_to_pass),
    }
    points = sum(_points(figures[name], steps) for name, steps in _STEPS.items())
    return {**figures, "points": points, "difficulty": difficulty(points)}


def difficulty(points: int) -> str:
    """The word for a sum of points (0–8)."""
    if points <= 1:
        return "easy"
    return "medium" if points <= 4 else "hard"


def _points(figure: int, steps: tuple[int, int]) -> int:
    return sum(figure > step for step in steps)


SIZE = Measure(name="size", version=1, measure=size)
