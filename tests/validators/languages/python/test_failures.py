"""What logs of real failed installs say. `logs/` holds what uv, pip's back-ends and apt printed,
`messages/` what tests said in real runs (tests/validators/test_diagnosis.py causes them)."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.validators.test_diagnosis import CAUSES
from validators import infra
from validators.languages.python import failures
from validators.languages.python.as_of import fallback
from validators.languages.python.symptoms import diagnose
from validators.languages.python.system_packages import packages_of
from validators.model import (
    FailureClass,
    Flaw,
    Outcome,
    Phase,
    Recipe,
    Run,
    TestResult,
    TestStatus,
    Verdict,
)

LACKING = FailureClass.MISSING_SYSTEM_LIBRARY
LOGS = Path(__file__).parent / "logs"
MESSAGES = Path(__file__).parent / "messages"

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
    "advised": (FailureClass.BUILD_ISOLATION, "pip install numpy>=1.20 cython"),
    "advised_last": (FailureClass.BUILD_ISOLATION, "pip install numpy cython"),
    "printed_advice": (FailureClass.OTHER, "ValueError: something else"),
    "no_project": (FailureClass.EDITABLE_IMPOSSIBLE, "Multiple top-level packages discovered"),
    "header": (FailureClass.MISSING_SYSTEM_LIBRARY, "libpq-fe.h"),
    "library": (FailureClass.MISSING_SYSTEM_LIBRARY, "-lpq"),
    "pg_config": (FailureClass.MISSING_SYSTEM_LIBRARY, "pg_config"),
    "pkg_config": (FailureClass.MISSING_SYSTEM_LIBRARY, "mysqlclient"),
    "pc_file": (FailureClass.MISSING_SYSTEM_LIBRARY, "cairo"),
    "pkgconfig": (FailureClass.MISSING_SYSTEM_LIBRARY, "xmlsec1"),
    "rust": (FailureClass.MISSING_SYSTEM_LIBRARY, "Rust"),
    "maturin": (FailureClass.MISSING_SYSTEM_LIBRARY, "cargo"),
    "cmake": (FailureClass.MISSING_SYSTEM_LIBRARY, "CMake"),
    "bdist_wheel": (FailureClass.BUILD_ISOLATION, "wheel"),
    "longintrepr": (FailureClass.WRONG_PYTHON, "longintrepr.h"),
    "c_api": (FailureClass.WRONG_PYTHON, "PyThreadState"),
    "disk": (FailureClass.RESOURCE_LIMIT, "File too large"),
    "git": (FailureClass.OUTSIDE_TREE, "Git operation failed"),
    "url": (FailureClass.OUTSIDE_TREE, "b @ https://127.0.0.1:9/b-1.tar.gz"),
    "outside": (FailureClass.OUTSIDE_TREE, "file:///etc/b"),
    "network": (FailureClass.OTHER, "urllib.error.URLError"),
    "missing_file": (FailureClass.OTHER, "FileNotFoundError"),
    "version": (FailureClass.OTHER, "InvalidVersion: Invalid version: '1.0-unknown-thing'"),
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


@pytest.mark.parametrize("name", [name for name, (kind, _) in CASES.items() if kind is LACKING])
def test_what_is_missing_outside_of_python_has_a_package(name: str) -> None:
    """Else the table of packages and the words of logs drift apart."""
    assert packages_of(failures.classify("project", _outcome(name)).detail)


@pytest.mark.parametrize("name", CASES)
def test_the_guests_failures_are_not_the_machines(name: str) -> None:
    said = failures.own_words(_outcome(name).output)
    assert infra.cause(said) is None or failures.is_of_an_address(said)


def test_every_log_is_of_a_case() -> None:
    machine = {"index_down", "index_down_in_build", "no_upload_dates"}
    assert {path.stem for path in LOGS.iterdir()} == {*CASES, *machine, "timed_out", "reuploaded"}
    assert {path.stem for path in MESSAGES.iterdir()} == {*CAUSES}


def test_every_class_has_a_real_log() -> None:
    built = {expected for expected, _ in CASES.values()}
    run = {expected.failure_class for _, expected in CAUSES.values()}
    otherwise = {FailureClass.TIMED_OUT, FailureClass.REUPLOADED}  # told by no words: below
    assert {*FailureClass} == built | run | otherwise


def test_an_install_that_was_killed_said_nothing() -> None:
    log = (LOGS / "timed_out.txt").read_bytes()
    failure = failures.classify("resolve", Outcome(exit_code=137, output=log, timed_out=True))
    assert (log, failure.failure_class) == (b"", FailureClass.TIMED_OUT)


def test_what_a_resolver_fell_back_to_is_told_by_its_lock() -> None:
    lock = (LOGS / "reuploaded.txt").read_text()
    recipe = Recipe(language="python", python="3.12", cutoff_at=datetime(2022, 7, 1, tzinfo=UTC))
    assert fallback(lock, recipe) == "pytest==3.5.1 for 2022-07-01"


@pytest.mark.parametrize("name", CAUSES)
def test_a_real_message_tells_what_a_run_misses(name: str) -> None:
    message = (MESSAGES / f"{name}.txt").read_text(encoding="utf-8")
    result = TestResult(status=TestStatus.FAILED, message=message)
    run = Run(
        phase=Phase.AFTER,
        attempt=1,
        results={"tests/test_a.py::test_a": result},
        outcome=Outcome(exit_code=1, output=b""),
        image_digest="sha256:0",
        started_at=datetime(2024, 5, 1, tzinfo=UTC),
    )
    verdict = Verdict(flaw=Flaw.NO_FAIL_TO_PASS, runs=(run,))
    assert diagnose(verdict, {"tests/test_a.py": ""}) == CAUSES[name][1]


@pytest.mark.parametrize("name", ["index_down", "index_down_in_build"])
def test_an_index_that_is_down_is_the_machines_failure(name: str) -> None:
    """Also where it is the project, by its address, that could not be built for that."""
    said = failures.own_words(_outcome(name).output)
    assert infra.cause(said) is infra.Cause.INDEX_UNREACHABLE
    assert not failures.is_of_an_address(said)


def test_a_requirements_own_address_is_told_from_the_index_that_its_build_needs() -> None:
    log = _outcome("index_down_in_build").output
    foreign = log.replace(b"file:///testbed", b"https://x.invalid/b.zip")
    assert not failures.is_of_an_address(foreign)
    assert failures.is_of_an_address(_outcome("url").output)
    assert failures.is_of_an_address(_outcome("git").output)


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


@pytest.mark.parametrize(
    "words",
    [
        *("a", "9", ".", "a.", " ", "\n", "/", "'", "`", "a-config ", " @ ", "Python version ("),
        *("does not have ", "‘Pya’ {aka ", "[stdout]", "Failed to download `a @ ", "import a."),
        *("pip install ", "[stderr]pip install", "Traceback (most recent call last):\n", "E   \n"),
    ],
)
def test_no_log_takes_for_ever(words: str) -> None:
    """A guest prints what it likes: a time that is the square of its length would hold a worker."""
    log = (words * (1_000_000 // len(words))).encode()
    classified = failures.classify("project", Outcome(exit_code=1, output=log))
    assert classified.failure_class is FailureClass.OTHER
    assert infra.cause(failures.own_words(log)) is None
