"""What is tried after a failure: the next recipe, told from the one before."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from validators.languages.python.repair import repair
from validators.model import (
    BuildFailure,
    FailureClass,
    Flaw,
    Outcome,
    Phase,
    ProjectInstall,
    Recipe,
    Run,
    TestResult,
    TestStatus,
    Verdict,
)

RECIPE = Recipe(
    language="python",
    python="3.9",
    requirements=(".[test]", "mock>=99", "pytest", "guess"),
    cutoff_at=datetime(2021, 5, 1, tzinfo=UTC),
    lock="pytest==6.2.4\n",
)
FILES: Mapping[str, str] = {
    "setup.py": "setup(name='a', install_requires=['six>=1'])",
    "src/a/__init__.py": "",
    "tests/test_a.py": "",
    "tests/helpers.py": "",
}


MAKEFILE = "deps:\n\tapt-get install -y libcairo2-dev graphviz\n"


def _after(failure_class: FailureClass, detail: str, *, step: str = "project") -> list[Recipe]:
    failure = BuildFailure(
        outcome=Outcome(exit_code=1, output=b""),
        failure_class=failure_class,
        detail=detail,
        step=step,
    )
    return list(repair(RECIPE, failure, FILES))


def _after_run(
    message: str,
    *,
    output: str = "",
    phase: Phase = Phase.AFTER,
    flaw: Flaw | None = None,
    more: Mapping[str, str] | None = None,
    recipe: Recipe = RECIPE,
) -> list[Recipe]:
    run = Run(
        phase=phase,
        attempt=1,
        results={
            "tests/test_a.py": TestResult(status=TestStatus.ERROR, phase="collect", message=message)
        },
        outcome=Outcome(exit_code=2, output=output.encode()),
        image_digest="sha256:0",
        started_at=datetime(2021, 5, 1, tzinfo=UTC),
        flaw=flaw,
    )
    return list(repair(recipe, Verdict(flaw=flaw, runs=(run,)), {**FILES, **(more or {})}))


def test_every_repair_is_resolved_anew_and_says_what_it_is() -> None:
    for one in _after(FailureClass.OTHER, "x"):
        assert one.lock is None
        assert one.origin == "repaired"


def test_a_package_that_is_not_there_is_left_out() -> None:
    (first, *_) = _after(FailureClass.PACKAGE_NOT_FOUND, "guess", step="resolve")
    assert first.requirements == (".[test]", "mock>=99", "pytest")


def test_a_header_that_nobody_knows_leaves_the_sources_alone() -> None:
    (alone,) = _after(FailureClass.MISSING_SYSTEM_LIBRARY, "unac.h")
    assert (alone.project_install, alone.apt) == (ProjectInstall.NONE, ())


def test_what_the_projects_build_asks_for_in_vain_leaves_its_sources_alone() -> None:
    (alone,) = _after(FailureClass.PACKAGE_NOT_FOUND, "acme-build", step="project")
    assert (alone.project_install, alone.source_paths) == (ProjectInstall.NONE, ("src",))
    assert alone.requirements == ("six>=1", "mock>=99", "pytest", "guess")
    failure = BuildFailure(
        outcome=Outcome(exit_code=1, output=b""),
        failure_class=FailureClass.PACKAGE_NOT_FOUND,
        detail="acme-build",
        step="project",
    )
    assert repair(alone, failure, FILES) == ()


def test_a_private_package_that_the_projects_runs_require_is_not_left_out() -> None:
    assert _after(FailureClass.PACKAGE_NOT_FOUND, "six", step="resolve") == []


def test_what_the_project_itself_asks_for_may_be_a_year_younger() -> None:
    first, *others = _after(FailureClass.NO_MATCHING_VERSION, "hatchling", step="resolve")
    assert first.requirements == RECIPE.requirements
    assert dict(first.cutoff_exempt) == {"hatchling": datetime(2022, 5, 1, tzinfo=UTC)}
    assert [one.python for one in others] == ["3.8", "3.7", "3.10"]


def test_a_package_that_is_already_exempt_leaves_other_pythons() -> None:
    exempt = (("hatchling", datetime(2021, 12, 1, tzinfo=UTC)),)
    failure = BuildFailure(
        outcome=Outcome(exit_code=1, output=b""),
        failure_class=FailureClass.NO_MATCHING_VERSION,
        detail="hatchling",
        step="resolve",
    )
    found = repair(replace(RECIPE, cutoff_exempt=exempt), failure, FILES)
    assert [one.python for one in found] == ["3.8", "3.7", "3.10"]


def test_a_system_package_that_is_not_there_is_left_out() -> None:
    failure = BuildFailure(
        outcome=Outcome(exit_code=100, output=b""),
        failure_class=FailureClass.PACKAGE_NOT_FOUND,
        detail="libgone-dev",
        step="apt",
    )
    (first,) = repair(replace(RECIPE, apt=("gcc", "libgone-dev")), failure, FILES)
    assert first.apt == ("gcc",)


def test_a_version_that_is_not_there_is_loosened_then_let_go() -> None:
    first, second, *rest = _after(FailureClass.NO_MATCHING_VERSION, "mock", step="resolve")
    assert "mock" in first.requirements
    assert not any("mock" in line for line in second.requirements)
    assert [one.python for one in rest] == ["3.8", "3.7", "3.10"]


def test_a_wrong_python_goes_back_first() -> None:
    assert [one.python for one in _after(FailureClass.WRONG_PYTHON, "x")] == ["3.8", "3.7", "3.10"]


@pytest.mark.parametrize(
    ("said", "pythons"),
    [
        ("Python>=3.10", ["3.10", "3.11", "3.12"]),
        (">=3.6,<3.9", ["3.8", "3.7", "3.6"]),
        ("Python>=3.13", ["3.13", "3.14"]),
        ("Python>=3.99", []),
    ],
)
def test_a_python_that_is_asked_for_is_the_only_one_tried(said: str, pythons: list[str]) -> None:
    assert [one.python for one in _after(FailureClass.WRONG_PYTHON, said)] == pythons


def test_a_build_script_gets_what_it_imports() -> None:
    first, second, *_ = _after(FailureClass.BUILD_ISOLATION, "numpy.distutils")
    assert first.build_requirements == ("setuptools", "wheel", "numpy")
    assert second.project_install is ProjectInstall.PLAIN


def test_what_cannot_tell_its_requirements_for_want_of_a_module_is_built_from_its_sources() -> None:
    """They are asked for in isolation: to have the module in the environment helps builds alone."""
    first, *others = _after(FailureClass.BUILD_ISOLATION, "numpy", step="resolve")
    assert first.project_install is ProjectInstall.NONE
    assert first.build_requirements == ("setuptools", "wheel", "numpy")
    assert first.requirements[0] == "six>=1"
    assert others == []


def test_a_build_gets_what_its_error_says_to_install() -> None:
    first, second, *_ = _after(FailureClass.BUILD_ISOLATION, "pip install numpy>=1.20 cython")
    assert first.build_requirements == ("setuptools", "wheel", "numpy>=1.20", "cython")
    assert second.project_install is ProjectInstall.PLAIN


def test_a_build_that_says_to_install_the_project_itself_is_given_nothing() -> None:
    first, *_ = _after(FailureClass.BUILD_ISOLATION, "pip install a[fast]")
    assert (first.build_requirements, first.project_install) == ((), ProjectInstall.PLAIN)


def test_a_build_without_wheel_gets_it() -> None:
    first, *_ = _after(FailureClass.BUILD_ISOLATION, "wheel")
    assert first.build_requirements == ("setuptools", "wheel")


def test_a_private_module_is_asked_of_nobody() -> None:
    (only,) = _after_run("No module named '_ldap'\nNo module named 'yaml'")
    assert only.requirements == (*RECIPE.requirements, "pyyaml")
    assert _after_run("No module named '_ldap'") == []
    first, *_ = _after(FailureClass.BUILD_ISOLATION, "_ldap")
    assert first.project_install is ProjectInstall.PLAIN


def test_what_fails_for_no_known_reason_gets_what_ci_installs() -> None:
    failure = BuildFailure(
        outcome=Outcome(exit_code=1, output=b""),
        failure_class=FailureClass.OTHER,
        detail="error: command 'gcc' failed with exit code 1",
        step="project",
    )
    first, *_ = repair(RECIPE, failure, {**FILES, "Makefile": MAKEFILE})
    assert first.apt == ("libcairo2-dev", "graphviz")


def test_a_build_script_gets_a_setuptools_that_still_has_what_it_imports() -> None:
    first, *_ = _after(FailureClass.BUILD_ISOLATION, "pkg_resources")
    assert first.build_requirements == ("setuptools", "wheel", "setuptools<82")


@pytest.mark.parametrize("step", ["resolve", "project"])
def test_a_build_script_gets_the_last_setuptools_with_pkg_resources(step: str) -> None:
    failure = BuildFailure(
        outcome=Outcome(exit_code=1, output=b""),
        failure_class=FailureClass.BUILD_ISOLATION,
        detail="pkg_resources",
        step=step,
    )
    late = replace(RECIPE, cutoff_at=datetime(2026, 11, 1, tzinfo=UTC))
    (first,) = repair(late, failure, FILES)
    assert dict(first.cutoff_exempt) == {"setuptools": datetime(2026, 2, 8, tzinfo=UTC)}
    assert first == replace(late, cutoff_exempt=first.cutoff_exempt, lock=None, origin="repaired")
    second, *_ = repair(first, failure, FILES)
    assert second.build_requirements == ("setuptools", "wheel", "setuptools<82")


def test_a_limit_is_set_where_the_distribution_is_there_without_one() -> None:
    recipe = replace(RECIPE, requirements=("setuptools", "pyyaml"))
    said = "No module named 'pkg_resources'\nNo module named 'yaml'"
    (first,) = _after_run(said, recipe=recipe)
    assert first.requirements == ("setuptools", "pyyaml", "setuptools<82")


def test_a_part_of_a_namespace_that_the_project_has_is_its_own() -> None:
    more = {"src/zope/event/__init__.py": ""}
    said = "No module named 'zope.event.classhandler'\nNo module named 'zope.component'"
    first, second = _after_run(said, more=more)
    assert first.requirements == (*RECIPE.requirements, "zope-component")
    assert second.source_paths == ("src",)


def test_python_2_sources_are_converted_by_the_last_that_can() -> None:
    (first,) = _after(FailureClass.BUILD_ISOLATION, "use_2to3 is invalid")
    assert dict(first.cutoff_exempt)["setuptools"] < datetime(2021, 9, 4, tzinfo=UTC)
    assert first.build_cmd is not None
    assert "lib2to3" in first.build_cmd
    assert first.source_paths == ("src",)
    assert first.python == "3.8"


def test_what_cannot_be_edited_is_copied_with_its_sources_first_on_the_path() -> None:
    (first,) = _after(FailureClass.EDITABLE_IMPOSSIBLE, "build_editable")
    assert first.project_install is ProjectInstall.PLAIN
    assert first.source_paths == ("src",)


def test_what_cannot_tell_its_requirements_is_run_from_its_sources() -> None:
    (first,) = _after(FailureClass.EDITABLE_IMPOSSIBLE, "Multiple top-level", step="resolve")
    assert first.project_install is ProjectInstall.NONE
    assert first.requirements == ("six>=1", "mock>=99", "pytest", "guess")


@pytest.mark.parametrize(
    ("detail", "package"),
    [("libpq-fe.h", "libpq-dev"), ("-lz", "zlib1g-dev"), ("xslt-config", "libxslt1-dev")],
)
def test_a_missing_library_is_a_system_package(detail: str, package: str) -> None:
    first = _after(FailureClass.MISSING_SYSTEM_LIBRARY, detail)[0]
    assert package in first.apt


def test_a_header_that_no_table_knows_is_sought_in_the_projects_own_packages() -> None:
    failure = BuildFailure(
        outcome=Outcome(exit_code=1, output=b""),
        failure_class=FailureClass.MISSING_SYSTEM_LIBRARY,
        detail="unheard-of.h",
        step="install",
    )
    first, *_ = repair(RECIPE, failure, {**FILES, "Makefile": MAKEFILE})
    assert first.apt == ("libcairo2-dev", "graphviz")


@pytest.mark.parametrize(
    "message",
    [
        'OSError: no library called "cairo-2" was found',
        "OSError: libcairo.so.2: cannot open shared object file: No such file or directory",
        "FileNotFoundError: [Errno 2] No such file or directory: 'dot'",
    ],
)
def test_what_runs_miss_outside_of_python_is_sought_there_too(message: str) -> None:
    (first,) = _after_run(message, more={"Makefile": MAKEFILE})
    assert first.apt == ("libcairo2-dev", "graphviz")
    assert _after_run(message) == []


def test_a_missing_data_file_is_no_system_package() -> None:
    message = "FileNotFoundError: [Errno 2] No such file or directory: 'tests/data/a.json'"
    assert _after_run(message, more={"Makefile": MAKEFILE}) == []


def test_all_packages_that_debian_does_not_have_are_left_out_at_once() -> None:
    output = (
        b"E: Unable to locate package libgone-dev\n"
        b"E: Package 'libold1' has no installation candidate\n"
    )
    failure = BuildFailure(
        outcome=Outcome(exit_code=100, output=output),
        failure_class=FailureClass.PACKAGE_NOT_FOUND,
        detail="libgone-dev",
        step="apt",
    )
    (first,) = repair(replace(RECIPE, apt=("gcc", "libgone-dev", "libold1")), failure, FILES)
    assert first.apt == ("gcc",)


def test_a_requirement_that_cannot_be_built_is_left_out() -> None:
    failure = BuildFailure(
        outcome=Outcome(exit_code=1, output=b"error: Failed to build `guess==1.0`\n"),
        failure_class=FailureClass.OTHER,
        detail="RuntimeError: no compiler of that kind",
        step="install",
    )
    first, *_ = repair(RECIPE, failure, FILES)
    assert first.requirements == (".[test]", "mock>=99", "pytest")


@pytest.mark.parametrize(
    "failure_class",
    [FailureClass.TIMED_OUT, FailureClass.RESOURCE_LIMIT, FailureClass.OUTSIDE_TREE],
)
def test_what_no_other_recipe_would_mend_is_not_repaired(failure_class: FailureClass) -> None:
    assert _after(failure_class, "x") == []


@pytest.mark.parametrize(
    ("message", "added"),
    [
        ("ModuleNotFoundError: No module named 'yaml'", "pyyaml"),
        ("E   ImportError: No module named bson.objectid", "pymongo"),
        ("Skipped: could not import 'numpy'", "numpy"),
        ("ModuleNotFoundError: No module named 'google.auth.crypt'", "google-auth"),
        ("ModuleNotFoundError: No module named 'pkg_resources'", "setuptools<82"),
        ("fixture 'mocker' not found", "pytest-mock"),
        ("async def functions are not natively supported.", "pytest-asyncio"),
    ],
)
def test_what_tests_miss_is_added_by_its_distribution(message: str, added: str) -> None:
    (first,) = _after_run(message)
    assert first.requirements == (*RECIPE.requirements, added)


@pytest.mark.parametrize(
    ("message", "added"),
    [
        ("RuntimeError: The x module requires httpx.\nRun:\n    $ pip install httpx\n", "httpx"),
        ("ImportError: it is not there, run `pip install pydantic[email]`", "pydantic[email]"),
        ("E   ImportError: Use pip or conda to install openpyxl.", "openpyxl"),
        ("RuntimeError: try `pip install 'a[redis]'`", ".[redis]"),
    ],
)
def test_what_the_errors_of_tests_say_to_install_is_added(message: str, added: str) -> None:
    (first,) = _after_run(message)
    assert first.requirements == (*RECIPE.requirements, added)


def test_what_errors_say_of_the_project_itself_or_of_a_test_is_not_added() -> None:
    assert _after_run("RuntimeError: `pip install a` first") == []
    assert _after_run("AssertionError: `pip install b` is not in the output") == []
    assert _after_run("E   AssertionError: assert '' == 'pip install b'") == []
    alone = replace(RECIPE, project_install=ProjectInstall.NONE)
    assert _after_run("RuntimeError: try `pip install 'a[redis]'`", recipe=alone) == []


def test_what_is_there_by_the_same_line_is_not_added_again() -> None:
    there = replace(RECIPE, requirements=("pytest", "b[c]>=1"))
    assert _after_run("RuntimeError: `pip install 'b[c]>=1'`", recipe=there) == []


def test_of_a_thousand_names_that_errors_name_a_few_are_added() -> None:
    results = {
        f"test_a.py::test_{number}": TestResult(
            status=TestStatus.FAILED, message=f"RuntimeError: `pip install n{number % 500}`"
        )
        for number in range(1000)
    }
    run = Run(
        phase=Phase.AFTER,
        attempt=1,
        results=results,
        outcome=Outcome(exit_code=1, output=b""),
        image_digest="sha256:0",
        started_at=datetime(2021, 5, 1, tzinfo=UTC),
    )
    (first,) = repair(RECIPE, Verdict(flaw=None, runs=(run,)), FILES)
    assert len(first.requirements) == len(RECIPE.requirements) + 5


@pytest.mark.parametrize(
    ("output", "added"),
    [
        (
            "ImportError while loading conftest '/testbed/conftest.py'.\n"
            "E   RuntimeError: it requires httpx:\nE       $ pip install httpx",
            "httpx",
        ),
        ("pytest: error: unrecognized arguments: --cov=a --cov-report=term", "pytest-cov"),
        ("ERROR: Missing required plugins: pytest-randomly", "pytest-randomly"),
        ("ImportError while loading conftest\nNo module named 'sh'", "sh"),
    ],
)
def test_where_no_test_was_seen_the_output_tells(output: str, added: str) -> None:
    (first,) = _after_run("", output=output, flaw=Flaw.NO_TESTS_SEEN)
    assert first.requirements == (*RECIPE.requirements, added)


def test_the_projects_own_module_is_put_on_the_path_not_installed() -> None:
    (first,) = _after_run("ModuleNotFoundError: No module named 'a'")
    assert first.requirements == RECIPE.requirements
    assert first.source_paths == ("src",)


def test_what_only_before_runs_miss_is_what_the_fix_brings() -> None:
    assert _after_run("ModuleNotFoundError: No module named 'yaml'", phase=Phase.BEFORE) == []


def test_a_plain_failure_needs_no_repair() -> None:
    assert _after_run("AssertionError: 1 != 2") == []


def test_a_missing_locale_is_debians() -> None:
    (first,) = _after_run("locale.Error: unsupported locale setting")
    assert first.apt == ("locales-all",)


def test_a_missing_time_zone_comes_with_its_distribution() -> None:
    (first,) = _after_run("ZoneInfoNotFoundError: 'No time zone found with key Europe/Kyiv'")
    assert first.requirements == (*RECIPE.requirements, "tzdata")


def test_what_this_python_has_no_more_another_has() -> None:
    found = _after_run("ImportError: cannot import name 'Mapping' from 'collections' (x)")
    assert [one.python for one in found] == ["3.8", "3.7", "3.10"]
    assert [one.python for one in _after_run("No module named 'imp'")] == ["3.8", "3.7", "3.10"]


def test_distutils_comes_with_setuptools() -> None:
    (first,) = _after_run("No module named 'distutils'")
    assert first.requirements == (*RECIPE.requirements, "setuptools")


def test_a_reupload_is_passed_with_younger_needs_of_pytest() -> None:
    (first,) = _after(FailureClass.REUPLOADED, "pytest==2.9 for 2021-05-01", step="resolve")
    assert dict(first.cutoff_exempt)["pluggy"] == datetime(2022, 5, 1, tzinfo=UTC)
    assert first.requirements == RECIPE.requirements


def test_an_untested_python_goes_back_to_a_tested_one() -> None:
    failure = BuildFailure(
        outcome=Outcome(exit_code=1, output=b""),
        failure_class=FailureClass.WRONG_PYTHON,
        detail="x",
        step="resolve",
    )
    found = repair(replace(RECIPE, python="3.14"), failure, FILES)
    assert [one.python for one in found] == ["3.13", "3.12"]


def test_constraints_that_fit_nothing_go_first() -> None:
    failure = BuildFailure(
        outcome=Outcome(exit_code=1, output=b""),
        failure_class=FailureClass.NO_MATCHING_VERSION,
        detail="mock",
        step="resolve",
    )
    bound = replace(RECIPE, requirements=(".", "-c constraints.txt", "mock>=99"))
    (first,) = repair(bound, failure, FILES)
    assert first.requirements == (".", "mock>=99")


def test_what_has_archives_of_another_kind_alone_is_a_year_younger_then_three() -> None:
    output = (
        b"Because all versions of guess have a non-PEP 625-compliant source distribution filename"
    )
    failure = BuildFailure(
        outcome=Outcome(exit_code=1, output=output),
        failure_class=FailureClass.NO_MATCHING_VERSION,
        detail="guess",
        step="resolve",
    )
    recipe, until = RECIPE, []
    while "guess" in recipe.requirements:
        recipe = repair(recipe, failure, FILES)[0]
        until.append(dict(recipe.cutoff_exempt)["guess"].year)
    assert until == [2022, 2024, 2024]
