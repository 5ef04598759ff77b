"""How much do the tests notice, and how sure are they? Facts of the verdict, for a reader.

Hunks of the fix that were left out without any FAIL_TO_PASS test noticing are the sign of weak
tests; a fix of half of which nobody would miss anything is flagged. The other figures come without
a judgement: probes without an answer, tests that varied, tests that were taken out by a probe.
Verified by policy `quick` there are no probes: `probed` is false then.
"""

import re

from miner.assess.measure import Measure, Value
from miner.model import Instance
from validators.grading import NEVER_RUN
from validators.model import POLICIES
from validators.probes import NOT_PROBED, PROBE_FAILED, TAKEN_OUT, UNNOTICED


def noticed(instance: Instance) -> Value:
    """Hunks tried and unnoticed, probes that failed or were not made, varying and removed tests."""
    verdict = instance.verdict
    unnoticed, tried = _of(verdict.marks, UNNOTICED)
    policy = POLICIES.get(verdict.policy)
    return {
        "probed": policy is not None and policy.probes,
        "unnoticed_hunks": unnoticed,
        "hunks_left_out": tried,
        "probes_without_answer": [
            mark.partition(": ")[2] for mark in verdict.marks if mark.startswith(PROBE_FAILED)
        ],
        "probes_not_made": _of(verdict.marks, NOT_PROBED)[0],
        "taken_out_by_probes": sum(TAKEN_OUT in reason for _, reason in verdict.left_out),
        "flaky": len(verdict.flake_rates),
        "undecided": sum(reason == NEVER_RUN for _, reason in verdict.left_out),
        "flag": unnoticed > 0 and 2 * unnoticed >= tried,
    }


def _of(marks: tuple[str, ...], name: str) -> tuple[int, int]:
    """The numbers of a mark "NAME: 1 of 2"; zeros when there is none."""
    for mark in marks:
        found = re.fullmatch(rf"{name}: (\d+) of (\d+)", mark)
        if found is not None:
            return int(found[1]), int(found[2])
    return 0, 0


TESTS = Measure(name="tests", version=1, measure=noticed)
