"""What tests rest on though it is no test: helpers that the package ships for tests, data that only
tests read, examples in its modules that are required. Pure.

It is the model's to change, as it is the project's. But a patch that changes it where the fix does
not may change what the tests ask, and not what the program does: that is named.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from validators.languages.base import FileClass, Language
from validators.preparation import Prepared
from validators.restoration import is_kept
from validators.surroundings import Surroundings

_HELPER = re.compile(r"_*tests?(ing|_?(utils?|lib|cases?|base|helpers?|support|tools?))", re.I)
"""How modules and folders are called that a package ships for tests."""

_EXAMPLE = re.compile(r"[ \t]*>>>[ \t]")


def leaned_on(prepared: Prepared, surroundings: Surroundings, changed: Iterable[str]) -> set[str]:
    """Of the paths that a model's patch changed, what tests rest on and the fix left alone.

    Where the fix changes a helper too, helpers are what the task is about.
    """
    helpers = {
        path
        for path in {*changed, *surroundings.fixed}
        if path in prepared.helpers or _is_called_helper(path)
    }
    found = set() if helpers & surroundings.fixed else helpers
    found = (found | _read_by_tests_alone(prepared, surroundings)) - surroundings.fixed
    found |= {
        path
        for path, base, final, model in prepared.examples
        if (examples(base) & examples(final)) - examples(model)
    }
    kept = {path for path in found if is_kept(path, surroundings)}
    return (found & surroundings.final_paths) - kept


def examples(text: str) -> Counter[str]:
    """The examples in a module's text, as doctest would find them: what is asked and answered."""
    found: Counter[str] = Counter()
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        begins, ends = _EXAMPLE.match(line), not line.strip() or line.strip()[:3] in {'"""', "'''"}
        if lines and (begins or ends):
            found["\n".join(lines)] += 1
            lines = []
        if begins or (lines and not ends):
            lines.append(line.strip())
    return found


def _is_called_helper(path: str) -> bool:
    parts = PurePosixPath(path).with_suffix("").parts
    return path.endswith(".py") and any(_HELPER.fullmatch(part) for part in parts)


def _read_by_tests_alone(prepared: Prepared, surroundings: Surroundings) -> set[str]:
    """Data that is named in code, and in none but the tests'."""
    named: dict[str, set[bool]] = {}
    for module, name in prepared.mentions:
        named.setdefault(name, set()).add(is_kept(module, surroundings))
    by_tests = {name for name, kinds in named.items() if kinds == {True}}
    return {path for path in prepared.data if PurePosixPath(path).name in by_tests}


def modules_of_examples(ids: Sequence[str], language: Language) -> tuple[str, ...]:
    """Modules whose examples are required tests, `calc/core.py::calc.core.add`, sorted."""
    found = {path for path, _, rest in (each.partition("::") for each in ids) if rest}
    return tuple(
        path
        for path in sorted(found)
        if path.endswith(".py") and language.classify(PurePosixPath(path)) is not FileClass.TEST
    )
