"""Does the text say enough, and do the tests ask for names that it never mentions?

Two signs of an under-specified task: no FAIL_TO_PASS test could even be collected before the fix
(the tests import something that the text may not name), and names that the tests use, the fix
brings and the text does not mention.
"""

import re

from miner.assess.measure import Measure, Value
from miner.model import Instance

SHORT_WORDS = 20
_DEFINED = re.compile(r"^\+\s*(?:async\s+)?(?:def|class)\s+([A-Za-z]\w*)", re.M)


def clarity(instance: Instance) -> Value:
    """Word count, unmentioned names and whether every FAIL_TO_PASS was missing before."""
    candidate, verdict = instance.candidate, instance.verdict
    all_missing = set(verdict.fail_to_pass) == set(verdict.missing_before)
    words = len(candidate.problem_statement.split())
    unmentioned = _unmentioned(instance)
    return {
        "words": words,
        "unmentioned_names": unmentioned,
        "all_fail_to_pass_missing_before": all_missing,
        "flag": words < SHORT_WORDS or (all_missing and bool(unmentioned)),
    }


def _unmentioned(instance: Instance) -> list[str]:
    candidate = instance.candidate
    brought = set(_DEFINED.findall(candidate.patch.decode("utf-8", "replace")))
    used = {
        word
        for line in candidate.test_patch.decode("utf-8", "replace").split("\n")
        if line.startswith("+")
        for word in re.findall(r"\w+", line)
    }
    mentioned = set(re.findall(r"\w+", candidate.problem_statement))
    return sorted((brought & used) - mentioned)


CLARITY = Measure(name="clarity", version=1, measure=clarity)
