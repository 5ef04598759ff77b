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

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from miner.assess.measure import Measure, Value
from miner.model import Instance

_STEPS = {"files": (1, 3), "hunks": (2, 8), "lines": (15, 60), "fail_to_pass": (2, 10)}


def size(instance: Instance) -> Value:
    """Files, hunks, lines, FAIL_TO_PASS count, points and difficulty."""
    files, hunks, lines = _counts(instance)
    figures = {
        "files": files,
        "hunks": hunks,
        "lines": lines,
        "fail_to_pass": len(instance.verdict.fail_to_pass),
    }
    points = sum(_points(figures[name], steps) for name, steps in _STEPS.items())
    return {**figures, "points": points, "difficulty": difficulty(points)}


def _counts(instance: Instance) -> tuple[int, int, int]:
    """Files, hunks and changed lines of the source files (of all files when none is source)."""
    sources = {path for path, kind in instance.candidate.file_classes if kind == "source"}
    text = instance.candidate.patch.decode("utf-8", "surrogateescape")
    try:
        patch = PatchSet(io.StringIO(text, newline="\n"))
    except UnidiffParseError:  # e.g. a folder named "x b": python-unidiff#93
        return _rough_counts(text)
    kept = [file for file in patch if not sources or file.path in sources]
    lines = sum(file.added + file.removed for file in kept)
    return len(kept), sum(len(file) for file in kept), lines


def _rough_counts(text: str) -> tuple[int, int, int]:
    """The same by line beginnings, over all files."""
    lines = text.split("\n")
    files = sum(line.startswith("diff --git ") for line in lines)
    hunks = sum(line.startswith("@@ ") for line in lines)
    changed = sum(line.startswith(("+", "-")) for line in lines)
    headers = sum(line.startswith(("+++ ", "--- ")) for line in lines)
    return files, hunks, changed - headers


def difficulty(points: int) -> str:
    """The word for a sum of points (0–8)."""
    if points <= 1:
        return "easy"
    return "medium" if points <= 4 else "hard"


def _points(figure: int, steps: tuple[int, int]) -> int:
    return sum(figure > step for step in steps)


SIZE = Measure(name="size", version=1, measure=size)
