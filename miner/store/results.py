"""Per-test results of a run ↔ compact JSON.

`{"rows": [[id, status, duration_s], [id, status, duration_s, phase, message, ambiguous], …]}`, in
the run's order; the short form stands for phase "call", no message, not ambiguous.
"""

import json
from collections.abc import Mapping

from miner.errors import FatalError
from validators.model import TestResult, TestStatus


def dump(results: Mapping[str, TestResult]) -> bytes:
    """The blob."""
    return json.dumps(
        {"rows": [_row(test, result) for test, result in results.items()]},
        separators=(",", ":"),
    ).encode("ascii")


def load(content: bytes) -> Mapping[str, TestResult]:
    """The results again. FatalError when `dump` did not write them."""
    try:
        rows = json.loads(content)["rows"]
        return {row[0]: _result(row) for row in rows}
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise FatalError(
            "Stored test results cannot be read by this version; restore the database."
        ) from error


def _row(test: str, result: TestResult) -> list[object]:
    row: list[object] = [test, result.status.value, round(result.duration_s, 6)]
    if result.phase != "call" or result.message or result.ambiguous:
        row += [result.phase, result.message, result.ambiguous]
    return row


def _result(row: list[object]) -> TestResult:
    phase, message, ambiguous = row[3:6] if len(row) > 3 else ("call", "", False)
    return TestResult(
        status=TestStatus(str(row[1])),
        duration_s=float(str(row[2])),
        phase=str(phase),
        message=str(message),
        ambiguous=bool(ambiguous),
    )
