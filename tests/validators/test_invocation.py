"""How test commands are called."""

from dataclasses import replace

import pytest

from validators.errors import UnknownRecipeError
from validators.invocation import header, invocation
from validators.model import Recipe

PYTEST = Recipe(language="python", python="3.12")
UNITTEST = replace(PYTEST, runner="unittest", test_cmd="python -m unittest -v")
DJANGO = replace(PYTEST, runner="django", test_cmd="python tests/runtests.py")
WATCH = "/run/miner/kit/lib/miner_reporter.py watch"


def test_pytest_gets_the_plug_in_and_the_selection() -> None:
    call = invocation(PYTEST, selection=["tests/a b.py"])
    assert call.line == 'python -m pytest -p miner_reporter "$@"'
    assert call.selection == ("tests/a b.py",)
    assert call.env["PYTHONPATH"] == "/run/miner/kit/lib"
    assert call.env["TZ"] == "UTC"


def test_source_paths_and_a_recipes_variables_are_kept() -> None:
    recipe = replace(
        PYTEST, source_paths=("src", "."), env_vars=(("PYTHONPATH", "/x"), ("TZ", "Asia/Tokyo"))
    )
    call = invocation(recipe, selection=[], env={"PYTHONHASHSEED": "7"})
    assert call.env["PYTHONPATH"] == "/run/miner/kit/lib:/testbed/src:/testbed:/x"
    assert (call.env["TZ"], call.env["PYTHONHASHSEED"]) == ("Asia/Tokyo", "7")


def test_commands_of_the_image_come_before_those_of_the_tree() -> None:
    """Else a patch that adds `bin/python` would be asked what the tests say."""
    given = "/testbed/bin:bin::/usr/../testbed/x:/tmp:/home/guest/bin:/opt/venv/bin:/usr/bin:/bin"
    recipe = replace(PYTEST, env_vars=(("PATH", given),))
    assert invocation(recipe, selection=[]).env["PATH"] == (
        "/opt/venv/bin:/usr/bin:/bin:/testbed/bin:bin::/usr/../testbed/x:/tmp:/home/guest/bin"
    )
    assert "PATH" not in invocation(PYTEST, selection=[]).env


@pytest.mark.parametrize(
    ("test_cmd", "line"),
    [
        ("python -m unittest", f'python {WATCH} -m unittest "$@"'),
        ("python3.9 -W error -m unittest", f'python3.9 -W error {WATCH} -m unittest "$@"'),
        ("cd x && python run.py --all", f'cd x && python {WATCH} run.py --all "$@"'),
        ("X=1 /opt/venv/bin/python -B t.py", f'X=1 /opt/venv/bin/python -B {WATCH} t.py "$@"'),
    ],
)
def test_unittest_is_watched(test_cmd: str, line: str) -> None:
    assert invocation(replace(UNITTEST, test_cmd=test_cmd), selection=[]).line == line


@pytest.mark.parametrize("test_cmd", ["./run-tests", "make check", "nosetests"])
def test_what_cannot_be_watched_is_said(test_cmd: str) -> None:
    with pytest.raises(UnknownRecipeError, match="does not start Python visibly"):
        invocation(replace(UNITTEST, test_cmd=test_cmd), selection=[])
    with pytest.raises(UnknownRecipeError, match="known are pytest, unittest and django"):
        invocation(replace(UNITTEST, runner="nose"), selection=[])


def test_selections_become_dotted_names() -> None:
    recipe = replace(UNITTEST, source_paths=("src",))
    call = invocation(recipe, selection=["src/pkg/tests/test_a.py", "tests/test_b.py"])
    assert call.selection == ("pkg.tests.test_a", "tests.test_b")
    assert invocation(recipe, selection=["tests"]).selection == ()
    suite = replace(UNITTEST, test_cmd="python -m unittest -v isodate.tests.test_suite")
    assert invocation(suite, selection=["isodate/tests/test_a.py"]).selection == ()


def test_django_labels_are_relative_to_its_script() -> None:
    call = invocation(DJANGO, selection=["tests/admin_views/test_x.py"])
    assert call.selection == ("admin_views.test_x",)
    assert "--parallel=1" in call.line


def test_the_header_is_one_line_and_a_test_gets_a_fifth_of_the_time() -> None:
    line = header(replace(PYTEST, timeout_s=900), "0123", shuffle_seed=7)
    assert line == b"miner-report 0123 /run/miner/report 180 7\n"
