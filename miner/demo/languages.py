"""Languages of a tree, as far as the forge tells them apart."""

from collections.abc import Mapping
from pathlib import PurePosixPath

_SUFFIXES = {  # programming languages only: GitHub counts no prose and no data
    ".py": "Python", ".pyx": "Cython", ".sh": "Shell", ".c": "C", ".h": "C", ".cpp": "C++",
    ".js": "JavaScript", ".ts": "TypeScript", ".go": "Go", ".rs": "Rust", ".java": "Java",
    ".rb": "Ruby", ".php": "PHP", ".html": "HTML", ".css": "CSS",
}  # fmt: skip


def languages_of(sizes: Mapping[str, int]) -> dict[str, int]:
    """Path → bytes in, language → bytes out, largest first."""
    totals: dict[str, int] = {}
    for path, size in sizes.items():
        language = _SUFFIXES.get(PurePosixPath(path).suffix.lower())
        if language is not None:
            totals[language] = totals.get(language, 0) + size
    return dict(sorted(totals.items(), key=lambda item: (-item[1], item[0])))
