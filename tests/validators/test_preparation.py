"""What a model's tree is like is read off the output of our own script."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from validators.model import Environment, GradingTask, Image, Outcome, Recipe, Tree
from validators.preparation import configurations, places_of_tests, read_prepared, surroundings_of

MARK = "m" * 16
RECIPE = Recipe(language="python", python="3.12", lock="")
IMAGE = Image(digest="sha256:1", tag="t:1")
ENVIRONMENT = Environment(image=IMAGE, base_image=IMAGE, base_origin="built", recipe=RECIPE, key="")
DIFF = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+\0" + MARK.encode() + b"\0b\n"
TASK = GradingTask(
    instance_id="o__n-1",
    repo="o/n",
    tree=Tree(commit="c", committed_at=datetime(2024, 1, 2, tzinfo=UTC), tar=b""),
    patch=b"--- a/calc/core.py\n+++ b/calc/core.py\n@@ -1 +1 @@\n-a\n+b\n",
    test_patch=b"--- a/expected.txt\n+++ b/expected.txt\n@@ -1 +1 @@\n-a\n+b\n",
    fail_to_pass=("checks/check_a.py::test_a",),
    pass_to_pass=("calc/core.py::test_inside",),
    recipe=RECIPE,
)


def told(
    *changes: str,
    paths: tuple[str, ...],
    linked: str = "",
    conftests: str = "",
    support: tuple[str, ...] = (*[MARK] * 4, ""),
) -> bytes:
    fields = [*changes, MARK, *paths, MARK, "pytest", MARK, linked, "tox.ini", "[x]\n", MARK]
    return (
        b"model\0final\0%d\0" % len(DIFF)
        + DIFF
        + "\0".join([*fields, conftests, *support]).encode()
    )


def test_every_part_is_found() -> None:
    output = told(
        *("A", "new.py", "M", "same.py", "D", "gone.py"),
        paths=("new.py", "same.py", "odd\nname.py"),
        linked="/testbed\n/testbed/code/\n",
        conftests="pytest_plugins = ['a.b']\n",
    )
    found = read_prepared(Outcome(exit_code=0, output=output), output, MARK)
    assert found.added == DIFF
    assert (found.trees.model, found.trees.final) == ("model", "final")
    assert [(each.path, each.in_model, each.in_final) for each in found.changes] == [
        ("new.py", False, True),
        ("same.py", True, True),
        ("gone.py", True, False),
    ]
    assert found.final_paths == {"new.py", "same.py", "odd\nname.py"}
    assert found.model_paths == {"same.py", "gone.py", "odd\nname.py"}
    assert found.installed == ("pytest",)
    assert found.linked == ("", "code")
    assert found.configurations == (("tox.ini", "[x]\n"),)
    surroundings = surroundings_of(TASK, ENVIRONMENT, found)
    assert surroundings.plugins == ("a/b",)
    assert surroundings.source_paths == ("", "code")


def test_what_tests_may_rest_on_is_found() -> None:
    support = (
        *(
            MARK,
            "final:calc/odd:ly.py",
            MARK,
            "calc/a.json",
            MARK,
            "calc.py",
            "1",
            "2\n",
            "3",
            MARK,
        ),
        *("final:tests/test_a.py", "a.json\nfinal:calc/b.py", "a.json\nfinal:calc/cut.py"),
    )
    output = told(paths=(), support=support)
    found = read_prepared(Outcome(exit_code=0, output=output), output, MARK)
    assert (found.helpers, found.data) == (("calc/odd:ly.py",), ("calc/a.json",))
    assert found.examples == (("calc.py", "1", "2\n", "3"),)
    assert found.mentions == (("tests/test_a.py", "a.json"), ("calc/b.py", "a.json"))


def test_a_tree_without_anything_is_read_too() -> None:
    output = told(paths=())
    found = read_prepared(Outcome(exit_code=0, output=output), output, MARK)
    assert (found.changes, found.final_paths, found.linked) == ((), frozenset(), ())


def test_files_of_required_tests_are_held_unless_the_fix_changes_them() -> None:
    output = told(paths=("checks/check_a.py", "calc/core.py", "expected.txt"))
    found = read_prepared(Outcome(exit_code=0, output=output), output, MARK)
    assert surroundings_of(TASK, ENVIRONMENT, found).held == {"checks/check_a.py", "expected.txt"}


@pytest.mark.parametrize(
    ("test_cmd", "roots"),
    [
        ("python -m unittest discover -s checks -t .", ("", "checks")),
        ("python -m unittest discover checks", ("checks",)),
        ("cd sub && python -m pytest", ("sub",)),
        ("python -m pytest -s checks", ()),
    ],
)
def test_folders_that_the_command_goes_to_are_imported_from(
    test_cmd: str, roots: tuple[str, ...]
) -> None:
    output = told(paths=())
    found = read_prepared(Outcome(exit_code=0, output=output), output, MARK)
    environment = replace(ENVIRONMENT, recipe=replace(RECIPE, test_cmd=test_cmd))
    assert tuple(sorted(surroundings_of(TASK, environment, found).source_paths)) == roots


def test_a_package_that_the_patch_makes_a_mere_folder_is_named() -> None:
    paths = ("calc/__init__.py", "calc/test_a.py", "checks/check_a.py")
    output = told("A", "calc/__init__.py", paths=paths)
    found = read_prepared(Outcome(exit_code=0, output=output), output, MARK)
    surroundings = surroundings_of(TASK, ENVIRONMENT, found)
    assert places_of_tests(found, surroundings) == (["", "calc", "checks"], ["calc"])


@pytest.mark.parametrize(
    ("test_cmd", "env_vars", "path", "early"),
    [
        ("python -m pytest -p tools.plug", (), "tools/plug.py", True),
        ("python -m pytest", (("PYTEST_ADDOPTS", "-ptools.plug"),), "tools/plug.py", True),
        ("python -m pytest", (), "src/pluggy/__init__.py", True),
        ("python -p tools.plug -m pytest", (), "tools/plug.py", False),
        ("python -m pytest", (), "calc/core.py", False),
        ("python -W error::calc.core.Slow -m pytest", (), "calc/core.py", True),
        ("python -Werror::calc.core.Slow -m pytest", (), "calc/core.py", True),
        ("python -m pytest -W error::calc.core.Slow", (), "calc/core.py", False),
        ("python -W error::UserWarning -m pytest", (), "calc/core.py", False),
        ("pytest", (("PYTHONWARNINGS", "ignore, error::calc.core.Slow"),), "calc/core.py", True),
        ("python ./tools/run.py", (), "tools/run.py", True),
        ("python -m tools.run", (), "tools/run.py", True),
        ("python -m pytest tools/run.py", (), "tools/run.py", False),
        ("python -W", (), "tools/run.py", False),
    ],
)
def test_code_that_is_imported_before_the_reporter_is_known(
    test_cmd: str, env_vars: tuple[tuple[str, str], ...], path: str, *, early: bool
) -> None:
    output = told(paths=(path,))
    found = read_prepared(Outcome(exit_code=0, output=output), output, MARK)
    recipe = replace(RECIPE, test_cmd=test_cmd, env_vars=env_vars)
    surroundings = surroundings_of(TASK, replace(ENVIRONMENT, recipe=recipe), found)
    assert surroundings.runs_early is early


def test_configuration_is_looked_for_above_what_is_selected() -> None:
    recipe = replace(
        RECIPE,
        test_cmd="python -m pytest -c ci/x.ini",
        env_vars=(
            ("COVERAGE_RCFILE", "/dev/null"),
            ("COVERAGE_PROCESS_START", "../x"),
            ("PYTEST_ADDOPTS", "-c ''"),
        ),
    )
    names = configurations(recipe, ("sub/tests/test_a.py", "test_b.py"))
    assert {"tox.ini", "sub/tox.ini", "sub/tests/pytest.toml", "ci/x.ini"} <= set(names)
    assert len(names) == len(set(names)) == 3 * 7 + 1
    deep = [f"tests/{'d' * 200}/{number}/test_a.py" for number in range(200)]
    assert len(configurations(recipe, deep)) == 7 + 1
