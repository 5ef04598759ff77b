"""Does the text that a model is given give the fix away?

Looked for in problem_statement and hints_text: a link to a pull or to a commit of the repository,
the fix's own number, a commit SHA, whole or short, and lines that the gold patch adds, verbatim.
"""

import re

from miner.assess.measure import Measure, Value
from miner.model import Candidate, Instance

_PULL_LINK = re.compile(
    r"https?://[^\s/]+/([\w.-]+/[\w.-]+)/(?:pull|commit|compare)/([\w.^]+)", re.I
)
_SHA = re.compile(r"(?<![\w/-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![\w-])")
"""As git shortens it; words (`defaced`) and numbers are none."""
_DIFF = re.compile(r"^(?:diff --git |@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@)", re.M)
QUOTED_LINE_CHARS = 24
"""Shorter added lines (`return None`) are quoted by chance."""


def leak(instance: Instance) -> Value:
    """What was found, by kind; raised when anything was."""
    candidate = instance.candidate
    text = f"{candidate.problem_statement}\n{candidate.hints_text}"
    found = {
        "fix_links": _links(text, candidate),
        "commits": sorted(
            oid for oid in set(_SHA.findall(text)) if not candidate.base_commit.startswith(oid)
        ),
        "quoted_lines": _quoted(text, candidate.patch),
        "contains_diff": bool(_DIFF.search(text)),
    }
    return {**found, "flag": any(found.values())}


def _links(text: str, candidate: Candidate) -> list[str]:
    links = {
        match.group(0)
        for match in _PULL_LINK.finditer(text)
        if match.group(1).lower() == candidate.repo.lower()
    }
    number = re.search(rf"(?<![\w/&#])#{candidate.pull_number}(?!\w)", text)
    return sorted(links | ({number.group(0)} if number else set()))


def _quoted(text: str, patch: bytes) -> int:
    """How many of the patch's added lines stand in the text, blanks at their ends aside."""
    lines = {line.strip() for line in text.splitlines()}
    added = {
        line[1:].strip()
        for line in patch.decode("utf-8", "replace").split("\n")
        if line.startswith("+") and not line.startswith("+++")
    }
    return sum(len(line) >= QUOTED_LINE_CHARS for line in added & lines)


LEAK = Measure(name="leak", version=2, measure=leak)
