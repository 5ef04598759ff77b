"""What logs of real failed installs say. `logs/` holds what uv, pip's back-ends and apt printed."""

from pathlib import Path

import pytest

from validators import infra
from validators.languages.python import failures
from validators.model import FailureClass, Outcome

LOGS = Path(__file__).parent / "logs"

CASES = {
    "package_not_found": (FailureClass.PACKAGE_NOT_FOUND, "never-there-0471"),
    "apt": (FailureClass.PACKAGE_NOT_FOUND, "never-there-0471"),
    "no_readable_sdist": (FailureClass.NO_MATCHING_VERSION, "twisted"),
    "no_matching_version": (FailureClass.NO_MATCHING_VERSION, "pytest"),
    "wrong_python": (FailureClass.WRONG_PYTHON, "Python>=3.13"),
    "syntax": (FailureClass.WRONG_PYTHON, "SyntaxError: Missing parentheses"),
    "imp_importer": (FailureClass.WRONG_PYTHON, "distutils"),
    "use_2to3": (FailureClass.BUILD_ISOLATION, "use_2to3 is invalid"),
    "build_isolation": (FailureClass.BUILD_ISOLATION, "numpy"),
    "editable_impossible": (FailureClass.EDITABLE_IMPOSSIBLE, "build_editable"),
    "no_project": (FailureClass.EDITABLE_IMPOSSIBLE, "Multiple top-level packages discovered"),
    "header": (FailureClass.MISSING_SYSTEM_LIBRARY, "libpq-fe.h"),
    "library": (FailureClass.MISSING_SYSTEM_LIBRARY, "-lpq"),
    "pg_config": (FailureClass.MISSING_SYSTEM_LIBRARY, "pg_config"),
    "disk": (FailureClass.RESOURCE_LIMIT, "File too large"),
    "git": (FailureClass.OUTSIDE_TREE, "Git operation failed"),
    "url": (FailureClass.OUTSIDE_TREE, "b @ https://127.0.0.1:9/b-1.tar.gz"),
    "outside": (FailureClass.OUTSIDE_TREE, "file:///etc/b"),
    "network": (FailureClass.OTHER, "urllib.error.URLError"),
    "missing_file": (FailureClass.OTHER, "FileNotFoundError"),
    "hash": (FailureClass.OTHER, "Hash mismatch"),
}


def _outcome(name: str) -> Outcome:
    return Outcome(exit_code=1, output=(LOGS / f"{name}.txt").read_bytes())


@pytest.mark.parametrize("name", CASES)
def test_a_real_log_tells_class_and_name(name: str) -> None:
    expected, detail = CASES[name]
    failure = failures.classify("install", _outcome(name))
    assert failure.failure_class is expected
    assert detail in failure.detail


@pytest.mark.parametrize("name", CASES)
def test_the_guests_failures_are_not_the_machines(name: str) -> None:
    said = failures.own_words(_outcome(name).output)
    assert infra.cause(said) is None or failures.is_of_an_address(said)


def test_every_log_is_of_a_case() -> None:
    assert {path.stem for path in LOGS.iterdir()} == {*CASES, "index_down", "no_upload_dates"}


def test_an_index_that_is_down_is_the_machines_failure() -> None:
    said = failures.own_words(_outcome("index_down").output)
    assert infra.cause(said) is infra.Cause.INDEX_UNREACHABLE
    assert not failures.is_of_an_address(said)


def test_an_index_without_upload_dates_is_no_failure_of_the_project() -> None:
    assert failures.lacks_dates(_outcome("no_upload_dates").output)
    assert not failures.lacks_dates(_outcome("no_matching_version").output)


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Outcome(exit_code=137, output=b"", timed_out=True), FailureClass.TIMED_OUT),
        (Outcome(exit_code=137, output=b"", out_of_memory=True), FailureClass.RESOURCE_LIMIT),
        (Outcome(exit_code=1, output=b""), FailureClass.OTHER),
        (Outcome(exit_code=1, output=b"\xff\xfe"), FailureClass.OTHER),
    ],
)
def test_how_it_ended_tells_when_the_log_does_not(outcome: Outcome, expected: FailureClass) -> None:
    assert failures.classify("install", outcome).failure_class is expected


def test_the_log_is_kept_whole() -> None:
    outcome = _outcome("header")
    assert failures.classify("project", outcome).outcome == outcome


def test_the_python_that_is_asked_for_ends_before_a_comma() -> None:
    said = b"the current Python version (3.8.1) does not satisfy Python>=3.9,<4, we can conclude"
    failure = failures.classify("resolve", Outcome(exit_code=1, output=said))
    assert failure.detail == "Python>=3.9,<4"
