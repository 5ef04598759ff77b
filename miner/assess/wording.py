"""Do the tests check the exact words of a message that the statement does not give?

Looked for: a text in quotes with at least one blank that the fix brings into source files and that
the test patch's added lines hold too, but the problem statement does not. A solver can then do all
that was asked for and fail for a letter.
"""

import re

from miner.assess.measure import Measure, Value
from miner.model import Instance

LEAST_CHARS = 12
_QUOTED = re.compile(r"'([^'\\\n]+)'|\"([^\"\\\n]+)\"")
_HEADER = re.compile(r"^diff --git a/.+ b/(.+)$")


def wording(instance: Instance) -> Value:
    """The texts found; raised when there is one."""
    candidate = instance.candidate
    documents = {path for path, kind in candidate.file_classes if kind != "source"}
    brought, gone = _texts(candidate.patch, but=documents)
    asked, _ = _texts(candidate.test_patch, but=set())
    statement = candidate.problem_statement
    found = sorted(text for text in (brought - gone) & asked if text not in statement)
    return {"texts": found, "flag": bool(found)}


def _texts(patch: bytes, *, but: set[str]) -> tuple[set[str], set[str]]:
    """Sentences in quotes of added and of removed lines, leaving out the files of `but`."""
    added, removed = set[str](), set[str]()
    skipped = False
    for line in patch.decode("utf-8", "replace").split("\n"):
        if header := _HEADER.match(line):
            skipped = header.group(1) in but
        elif not skipped and line.startswith(("+", "-")):
            (added if line[0] == "+" else removed).update(_sentences(line))
    return added, removed


def _sentences(line: str) -> set[str]:
    texts = {single or double for single, double in _QUOTED.findall(line)}
    return {text for text in texts if len(text) >= LEAST_CHARS and " " in text.strip()}


WORDING = Measure(name="wording", version=1, measure=wording)
