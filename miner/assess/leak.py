"""Does the text that a model is given give the fix away?

Looked for in problem_statement and hints_text: a link to the pull or to a commit of the repository,
a commit SHA that names the fix, and lines that the gold patch adds, quoted verbatim.
"""

import re

from miner.assess.measure import Measure, Value
from miner.model import Candidate, Instance

_PULL_LINK = re.compile(
    r"https?://[^\s/]+/([\w.-]+/[\w.-]+)/(?:pull|commit|compare)/([\w.^]+)", re.I
)
_SHA = re.compile(r"\b[0-9a-f]{40}\b")
_DIFF = re.compile(r"^(?:diff --git |@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@)", re.M)
QUOTED_LINE_CHARS = 24
"""Shorter added lines (`return None`) are quoted by chance."""


def leak(instance: Instance) -> Value:
    """What was found, by kind; raised when anything was."""
    candidate = instance.candidate
    text = f"{candidate.problem_statement}\n{candidate.hints_text}"
    found = {
        "fix_links": _links(text, candidate),
        "commits": sorted(set(_SHA.findall(text)) - {candidate.base_commit}),
        "quoted_lines": _quoted(text, candidate.patch),
        "contains_diff": bool(_DIFF.search(text)),
    }
    return {**found, "flag": any(found.values())}


def _links(text: str, candidate: Candidate) -> list[str]:
    return sorted(
        {
            match.group(0)
            for match in _PULL_LINK.finditer(text)
            if match.group(1).lower() == candidate.repo.lower()
        }
    )


def _quoted(text: str, patch: bytes) -> int:
    """How many of the patch's added lines stand in the text, blanks at their ends aside."""
    lines = {line.strip() for line in text.splitlines()}
    added = {
        line[1:].strip()
        for line in patch.decode("utf-8", "replace").split("\n")
        if line.startswith("+") and not line.startswith("+++")
    }
    return sum(len(line) >= QUOTED_LINE_CHARS for line in added & lines)


LEAK = Measure(name="leak", version=1, measure=leak)
