"""What runs miss, told from real messages of pytest, unittest and the interpreter."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pytest

from validators.languages.python.symptoms import diagnose
from validators.model import (
    Diagnosis,
    FailureClass,
    Flaw,
    Outcome,
    Phase,
    Run,
    TestResult,
    TestStatus,
    Verdict,
)

FILES: Mapping[str, str] = {
    "a/__init__.py": "",
    "tests/test_a.py": "",
    ".gitmodules": '[submodule "x"]\n\tpath = tests/toml-test\n\turl = https://x.invalid/x.git\n',
}

CASES: Mapping[str, tuple[FailureClass, str]] = {
    "ModuleNotFoundError: No module named 'yaml'": (FailureClass.MISSING_MODULE, "yaml"),
    "ImportError: No module named bson.objectid": (FailureClass.MISSING_MODULE, "bson"),
    "tests/test_a.py:1: in <module>\n    from google.cloud import storage\n"
    "E   ModuleNotFoundError: No module named 'google'": (
        FailureClass.MISSING_MODULE,
        "google.cloud.storage",
    ),
    "ImportError: cannot import name 'event' from 'zope' (unknown location)": (
        FailureClass.MISSING_MODULE,
        "zope.event",
    ),
    "ModuleNotFoundError: No module named 'google'": (FailureClass.MISSING_MODULE, "google"),
    "Skipped: could not import 'numpy': No module named 'numpy'": (
        FailureClass.MISSING_MODULE,
        "numpy",
    ),
    "ERROR: usage: __main__.py [options] [file_or_dir] [file_or_dir] [...]\n"
    "__main__.py: error: unrecognized arguments: --cov --cov-report=term-missing\n"
    "  inifile: /testbed/pytest.ini\n  rootdir: /testbed": (
        FailureClass.MISSING_PLUGIN,
        "pytest-cov",
    ),
    "file /testbed/tests/test_a.py, line 1\n  def test_a(mocker):\n"
    "E       fixture 'mocker' not found\n>       available fixtures: cache, capfd": (
        FailureClass.MISSING_PLUGIN,
        "pytest-mock",
    ),
    "'asyncio' not found in `markers` configuration option": (
        FailureClass.MISSING_PLUGIN,
        "pytest-asyncio",
    ),
    "async def functions are not natively supported.\nYou need to install a suitable plugin": (
        FailureClass.MISSING_PLUGIN,
        "pytest-asyncio",
    ),
    "file /testbed/tests/lib/test_canonical.py, line 5\n"
    "  def test_canonical_scanner(canonical_filename, verbose=False):\n"
    "E       fixture 'canonical_filename' not found": (
        FailureClass.OWN_RUNNER,
        "canonical_filename",
    ),
    "FileNotFoundError: [Errno 2] No such file or directory: "
    "'/testbed/tests/toml-test/tests/valid'": (
        FailureClass.MISSING_TEST_DATA,
        "tests/toml-test is a submodule",
    ),
    "FileNotFoundError: [Errno 2] No such file or directory: 'tests/data/big.bin'": (
        FailureClass.MISSING_TEST_DATA,
        "tests/data/big.bin",
    ),
    'OSError: no library called "cairo-2" was found': (
        FailureClass.MISSING_SYSTEM_LIBRARY,
        "cairo-2",
    ),
    "ImportError: libGL.so.1: cannot open shared object file: No such file or directory": (
        FailureClass.MISSING_SYSTEM_LIBRARY,
        "libGL.so.1",
    ),
    "FileNotFoundError: [Errno 2] No such file or directory: 'dot'": (
        FailureClass.MISSING_SYSTEM_LIBRARY,
        "'dot'",
    ),
    "locale.Error: unsupported locale setting": (FailureClass.LOCALE, "unsupported locale"),
    "zoneinfo._common.ZoneInfoNotFoundError: 'No time zone found with key Europe/Kyiv'": (
        FailureClass.TIME_ZONE,
        "Europe/Kyiv",
    ),
    "socket.gaierror: [Errno -3] Temporary failure in name resolution": (
        FailureClass.NETWORK,
        "name resolution",
    ),
    "ConnectionRefusedError: [Errno 111] Connection refused": (
        FailureClass.NETWORK,
        "Connection refused",
    ),
    "ImportError: cannot import name 'Mapping' from 'collections' (/usr/local/lib/python3.10/"
    "collections/__init__.py)": (FailureClass.WRONG_PYTHON, "Mapping"),
    "AttributeError: module 'inspect' has no attribute 'getargspec'": (
        FailureClass.WRONG_PYTHON,
        "getargspec",
    ),
    "ModuleNotFoundError: No module named 'imp'": (FailureClass.WRONG_PYTHON, "'imp"),
}


def _verdict(
    messages: Sequence[str],
    *,
    phase: Phase = Phase.AFTER,
    flaw: Flaw | None = Flaw.NO_FAIL_TO_PASS,
    output: str = "",
) -> Verdict:
    results = {
        f"tests/test_a.py::test_{number}": TestResult(status=TestStatus.FAILED, message=message)
        for number, message in enumerate(messages)
    }
    run = Run(
        phase=phase,
        attempt=1,
        results=results,
        outcome=Outcome(exit_code=1, output=output.encode()),
        image_digest="sha256:0",
        started_at=datetime(2021, 5, 1, tzinfo=UTC),
    )
    return Verdict(flaw=flaw, runs=(run,))


@pytest.mark.parametrize("message", CASES)
def test_a_real_message_tells_class_and_name(message: str) -> None:
    expected, detail = CASES[message]
    found = diagnose(_verdict([message]), FILES)
    assert found is not None
    assert found.failure_class is expected
    assert detail in found.detail


def test_every_class_that_runs_tell_has_a_message() -> None:
    told = {failure_class for failure_class, _ in CASES.values()}
    assert set(FailureClass) - told == {
        FailureClass.PACKAGE_NOT_FOUND,
        FailureClass.NO_MATCHING_VERSION,
        FailureClass.BUILD_ISOLATION,
        FailureClass.EDITABLE_IMPOSSIBLE,
        FailureClass.REUPLOADED,
        FailureClass.OUTSIDE_TREE,
        FailureClass.RESOURCE_LIMIT,
        FailureClass.TIMED_OUT,
        FailureClass.OTHER,
    }


def test_the_class_of_most_messages_is_told_with_its_commonest_name() -> None:
    yaml, dot = "No module named 'yaml'", "No such file or directory: 'dot'"
    sh = "No module named 'sh'"
    found = diagnose(_verdict([dot, dot, yaml, yaml, sh]), FILES)
    assert found == Diagnosis(FailureClass.MISSING_MODULE, "yaml")
    assert str(found) == "missing_module: yaml"


def test_where_no_test_was_seen_the_output_tells() -> None:
    verdict = _verdict([], flaw=Flaw.NO_TESTS_SEEN, output="No module named 'yaml'")
    assert diagnose(verdict, FILES) == Diagnosis(FailureClass.MISSING_MODULE, "yaml")


@pytest.mark.parametrize("message", ["AssertionError: 1 != 2", "No module named 'a'", ""])
def test_the_tests_own_affairs_are_no_class(message: str) -> None:
    assert diagnose(_verdict([message]), FILES) is None


def test_what_only_before_runs_say_and_what_is_accepted_misses_nothing() -> None:
    yaml = ["No module named 'yaml'"]
    assert diagnose(_verdict(yaml, phase=Phase.BEFORE), FILES) is None
    assert diagnose(_verdict(yaml, flaw=None), FILES) is None


@pytest.mark.parametrize(
    "message", ["a" * 1_000_000, "No such file or directory: '" + "/" * 1_000_000]
)
def test_no_message_takes_for_ever(message: str) -> None:
    assert diagnose(_verdict([message]), FILES) is None
