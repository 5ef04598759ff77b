"""Runs, verdicts and grades of toy projects on a real engine."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.toy import RECIPE, Repository, Toy, environment_of, grading_task_of, task_of
from validators.engines import DockerEngine
from validators.evaluation import grade
from validators.model import FULL, QUICK, Flaw, Image, Phase, Recipe, Run, TestStatus
from validators.procession import runs_of
from validators.selection import selected
from validators.trial import Trial
from validators.verification import verify

pytestmark = pytest.mark.docker

BUG = "def add(a, b):\n    return a - b\n"
FIX = "def add(a, b):\n    return a + b\n"
TESTS = (
    "import pytest\nfrom calc import add\n\n\n"
    "@pytest.mark.parametrize('a', [1, 2], ids=['one of `them`', 'zwei\\n業'])\n"
    "def test_add(a):\n    assert add(a, 1) == a + 1\n\n\n"
    "def test_zero():\n    assert add(0, 0) == 0\n"
)
TOY = Toy(
    base={"calc.py": BUG, "tests/test_old.py": "def test_old():\n    pass\n"},
    tests={"tests/test_calc.py": TESTS},
    gold={"calc.py": FIX},
    fail_to_pass=(
        "tests/test_calc.py::test_add[one of `them`]",
        "tests/test_calc.py::test_add[zwei\\n\\u696d]",
    ),
    pass_to_pass=("tests/test_calc.py::test_zero",),
)


def run(
    files: Mapping[str, str],
    engine: DockerEngine,
    image: Image,
    tmp_path: Path,
    *,
    recipe: Recipe = RECIPE,
    selection: tuple[str, ...] = (),
) -> Run:
    """One after-run of a project as it is."""
    tree = Repository(tmp_path / "project", files).tree()
    trials = [Trial(phase=Phase.AFTER)]
    environment = environment_of(image, recipe)
    (found,) = runs_of(tree, environment, trials, selection=selection, engine=engine)
    return found


def test_a_fix_is_verified_and_its_gold_patch_resolves(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    repository = Repository(tmp_path / "toy", TOY.base)
    task, environment = task_of(TOY, repository), environment_of(toy_image)
    verdict = verify(
        task,
        environment,
        test_files=selected(task.test_patch, RECIPE),
        engine=engine,
        policy=QUICK,
        progress=print,
    )
    assert verdict.accepted, verdict
    assert verdict.fail_to_pass == TOY.fail_to_pass
    assert verdict.pass_to_pass == TOY.pass_to_pass
    assert [r.phase for r in verdict.runs] == [
        Phase.BEFORE,
        Phase.AFTER,
        Phase.BEFORE,
        Phase.AFTER,
        Phase.BASE,
    ]
    instance = grading_task_of(TOY, repository)
    gold = grade(instance, environment, model_patch=task.patch, engine=engine, progress=print)
    assert gold.resolved, gold
    assert gold.flags == ()
    empty = grade(instance, environment, model_patch=b"", engine=engine, progress=print)
    assert (empty.resolved, empty.flaw, empty.run) == (False, Flaw.EMPTY_PATCH, None)
    remark = repository.diff({"calc.py": BUG + "# a remark\n"})
    unfixed = grade(instance, environment, model_patch=remark, engine=engine, progress=print)
    assert (unfixed.resolved, unfixed.applied, unfixed.flaw) == (False, True, None)
    assert (unfixed.fail_to_pass.passed, unfixed.pass_to_pass.passed) == (0, 1)
    stranger = task.patch.replace(b"-    return a - b", b"-    return what_is_not_there")
    refused = grade(instance, environment, model_patch=stranger, engine=engine, progress=print)
    assert (refused.resolved, refused.applied) == (False, False)
    assert refused.flaw is Flaw.PATCH_DOES_NOT_APPLY


def test_the_whole_suite_runs_when_the_policy_says_so(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    task = task_of(TOY, Repository(tmp_path / "toy", TOY.base))
    verdict = verify(
        task,
        environment_of(toy_image),
        test_files=selected(task.test_patch, RECIPE),
        engine=engine,
        policy=replace(QUICK, whole_suite=True),
        progress=print,
    )
    assert "tests/test_old.py::test_old" in verdict.pass_to_pass


def test_unittest_suites_are_verified_too(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    toy = Toy(
        base={"src/calc.py": BUG},
        tests={
            "tests/__init__.py": "",
            "tests/test_calc.py": "import unittest\nfrom calc import add\n\n\n"
            "class T(unittest.TestCase):\n    def test_add(self):\n"
            "        self.assertEqual(add(1, 1), 2)\n\n    def test_zero(self):\n"
            "        self.assertEqual(add(0, 0), 0)\n",
        },
        gold={"src/calc.py": FIX},
        fail_to_pass=("tests.test_calc.T.test_add",),
        pass_to_pass=("tests.test_calc.T.test_zero",),
    )
    recipe = replace(
        RECIPE, runner="unittest", test_cmd="python -m unittest", source_paths=("src",)
    )
    task = task_of(toy, Repository(tmp_path / "toy", toy.base))
    verdict = verify(
        task,
        environment_of(toy_image, recipe),
        test_files=selected(task.test_patch, recipe),
        engine=engine,
        policy=QUICK,
        progress=print,
    )
    assert verdict.accepted, verdict
    assert verdict.fail_to_pass == toy.fail_to_pass
    assert verdict.pass_to_pass == toy.pass_to_pass


def test_the_tree_is_a_repository_of_one_commit_with_its_tag(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    code = """
import subprocess
def git(*words):
    return subprocess.check_output(("git",) + words, text=True).strip()
def test_history():
    assert git("log", "--format=%cI %s") == "2024-01-02T03:04:05+00:00 base"
    assert git("describe", "--tags") == "v1.0"
    assert git("status", "--porcelain", "--untracked-files=no") == ""
"""
    tree = replace(Repository(tmp_path / "p", {"test_git.py": code}).tree(), nearest_tag="v1.0")
    trials = [Trial(phase=Phase.AFTER)]
    environment = environment_of(toy_image)
    (found,) = runs_of(tree, environment, trials, selection=(), engine=engine)
    assert found.results["test_git.py::test_history"].status is TestStatus.PASSED, found.outcome


def test_what_a_probe_needs_and_cannot_have_is_no_failure_of_the_machine(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    files = {"test_a.py": "def test_a():\n    pass\n"}
    tree = Repository(tmp_path / "p", files).tree()
    found, plain = runs_of(
        tree,
        environment_of(toy_image),
        [
            Trial(phase=Phase.PROBE, variant="v", after_patching="no-such-compiler x\ntrue\n"),
            Trial(phase=Phase.PROBE, variant="w", after_patching="true\n"),
        ],
        selection=(),
        engine=engine,
    )
    assert found.flaw is Flaw.BUILD_FAILED
    assert "no-such-compiler" in found.detail
    assert plain.flaw is None


def test_build_runs_after_patching_and_its_failure_is_a_flaw(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    files = {"test_built.py": "import built\n\n\ndef test_it():\n    assert built.X == 1\n"}
    recipe = replace(RECIPE, build_cmd="echo 'X = 1' >built.py")
    found = run(files, engine, toy_image, tmp_path, recipe=recipe)
    assert found.results["test_built.py::test_it"].status is TestStatus.PASSED
    (tmp_path / "again").mkdir()
    broken = replace(RECIPE, build_cmd="echo no compiler >&2; exit 3")
    found = run(files, engine, toy_image, tmp_path / "again", recipe=broken)
    assert found.flaw is Flaw.BUILD_FAILED
    assert "no compiler" in found.detail


def test_build_that_rewrites_tests_is_tampering(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    recipe = replace(RECIPE, build_cmd="echo '# rewritten' >>tests/test_calc.py")
    toy = replace(TOY, recipe=recipe)
    instance = grading_task_of(toy, Repository(tmp_path / "toy", toy.base))
    found = grade(
        instance,
        environment_of(toy_image, recipe),
        model_patch=instance.patch,
        engine=engine,
        progress=print,
    )
    assert (found.resolved, found.flaw) == (False, Flaw.TESTS_TAMPERED), found


def test_options_that_hide_statuses_are_calmed(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    files = {
        "pytest.ini": "[pytest]\naddopts = -x --maxfail=1 -rA --color=yes\n",
        "test_a.py": "def test_a():\n    assert 0\n",
        "test_b.py": "import no_such_module\n",
        "test_c.py": "def test_c():\n    pass\n",
    }
    found = run(files, engine, toy_image, tmp_path)
    assert {key: str(result.status) for key, result in found.results.items()} == {
        "test_a.py::test_a": "failed",
        "test_b.py": "error",
        "test_c.py::test_c": "passed",
    }
    assert found.flaw is None, found.detail
    assert b"\x1b[" not in found.outcome.output


@pytest.mark.hostile
def test_hang_before_the_first_test(engine: DockerEngine, toy_image: Image, tmp_path: Path) -> None:
    files = {"conftest.py": "while True:\n    pass\n", "test_a.py": "def test_a():\n    pass\n"}
    recipe = replace(RECIPE, timeout_s=3)
    found = run(files, engine, toy_image, tmp_path, recipe=recipe)
    assert found.flaw is Flaw.TIMED_OUT_AFTER
    assert "no test started" in found.detail


@pytest.mark.hostile
def test_hang_in_a_test_costs_that_test(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    code = "import time\ndef test_a():\n    time.sleep(99)\ndef test_b():\n    pass\n"
    recipe = replace(RECIPE, timeout_s=10)  # a fifth of it a test
    found = run({"test_a.py": code}, engine, toy_image, tmp_path, recipe=recipe)
    assert [str(result.status) for result in found.results.values()] == ["timed_out", "passed"]
    assert found.flaw is None


@pytest.mark.hostile
@pytest.mark.parametrize(
    "death",
    ["os._exit(0)", "os.kill(os.getpid(), 9)", "ctypes.string_at(0)", "os.kill(os.getppid(), 9)"],
)
def test_death_in_mid_run_names_the_test(
    death: str, engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    code = (
        "import ctypes, os, time\ndef test_a():\n    pass\n"
        f"def test_b():\n    {death}\n    time.sleep(1)\ndef test_c():\n    pass\n"
    )
    found = run({"test_a.py": code}, engine, toy_image, tmp_path)
    statuses = {key[-1]: result.status for key, result in found.results.items()}
    assert statuses["a"] is TestStatus.PASSED
    if "getppid" not in death:
        assert statuses["b"] is TestStatus.ERROR
        assert statuses["c"] is TestStatus.NOT_RUN
    assert "died" in found.detail or found.flaw is Flaw.COUNTS_DISAGREE, found


@pytest.mark.hostile
def test_test_that_rewrites_the_others_changes_one_run_only(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    rewriting = (
        "from pathlib import Path\nPath('test_b.py').write_text('def test_b(): pass')\n"
        "def test_a():\n    pass\n"
    )
    files = {"test_a.py": rewriting, "test_b.py": "def test_b():\n    assert 0\n"}
    first = run(files, engine, toy_image, tmp_path, selection=("test_a.py", "test_b.py"))
    (tmp_path / "again").mkdir()
    second = run(files, engine, toy_image, tmp_path / "again", selection=("test_b.py",))
    assert first.results["test_b.py::test_b"].status is TestStatus.PASSED  # its own project's doing
    assert second.results["test_b.py::test_b"].status is TestStatus.FAILED


@pytest.mark.hostile
def test_the_kit_and_the_environment_are_out_of_reach(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    code = """
import os, pytest
@pytest.mark.parametrize("path", [
    "/run/miner/kit/test.sh", "/run/miner/kit/lib/miner_reporter.py",
    "/run/miner/kit/lib/pytest.py",
    "/opt/venv/lib/python3.12/site-packages/pytest/__init__.py", "/opt/miner/x", "/etc/x",
])
def test_refused(path):
    with pytest.raises(OSError):
        open(path, "a")
def test_report_is_not_readable():
    with pytest.raises(PermissionError):
        os.open("/run/miner/report", os.O_RDONLY | os.O_NONBLOCK)
def test_report_is_not_removable():
    with pytest.raises(PermissionError):
        os.unlink("/run/miner/report")
"""
    found = run({"test_reach.py": code}, engine, toy_image, tmp_path)
    assert {str(result.status) for result in found.results.values()} == {"passed"}, found


def test_full_policy_repeats_three_times(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    flaky = {
        "tests/test_calc.py": TESTS
        + "\n\ndef test_coin():\n    import os\n    assert os.urandom(1)[0] < 128\n"
        + "\n\n@pytest.mark.parametrize('now', [__import__('time').time_ns()])\n"
        "def test_now(now):\n    pass\n"
    }
    toy = replace(TOY, tests=flaky)
    task = task_of(toy, Repository(tmp_path / "toy", toy.base))
    verdict = verify(
        task,
        environment_of(toy_image),
        test_files=("tests/test_calc.py",),
        engine=engine,
        policy=replace(FULL, repeats=5, probes=False),
        progress=print,
    )
    assert verdict.fail_to_pass == TOY.fail_to_pass
    volatile = [reason for key, reason in verdict.left_out if "test_now" in key]
    assert volatile
    assert {reason.partition(":")[0] for reason in volatile} == {"volatile id"}
    coin = "tests/test_calc.py::test_coin"  # the same in all ten runs once in 512
    assert coin in (*verdict.flaky, *verdict.pass_to_pass, *verdict.fail_to_fail)


def test_a_tree_of_which_much_is_to_be_told_is_graded(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    """Paths, seals and configuration are told in more bytes than a guest may print."""
    deep = "/".join(["tests", *["d" * 200] * 16])
    many = {f"{deep}/{number}/conftest.py": "" for number in range(1400)}
    recipe = replace(RECIPE, build_cmd="true")
    toy = replace(TOY, base={**TOY.base, **many}, recipe=recipe)
    repository = Repository(tmp_path / "toy", toy.base)
    task, environment = grading_task_of(toy, repository), environment_of(toy_image, recipe)
    patch = repository.diff(toy.gold)
    found = grade(task, environment, model_patch=patch, engine=engine, progress=print)
    assert found.resolved, (found.flaw, found.detail)


def test_a_whole_suite_is_what_the_project_calls_so_and_a_selection_is_run_all_the_same(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    """`testpaths` is pytest's own to obey: no path may be given where none is selected."""
    files = {
        "pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['checks']\n",
        "checks/test_a.py": "def test_a():\n    pass\n",
        "slow/test_b.py": "def test_b():\n    pass\n",
    }
    for selection, expected in (
        ((), "checks/test_a.py::test_a"),
        (("slow/test_b.py",), "slow/test_b.py::test_b"),
    ):
        folder = tmp_path / str(len(selection))
        folder.mkdir()
        found = run(files, engine, toy_image, folder, selection=selection)
        assert list(found.results) == [expected]


def test_tests_that_no_runner_finds_by_itself_are_run_by_path(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    """As the test patch names them: Django's tests.py, a test.py at the root."""
    patch = b"".join(
        b"diff --git a/%s b/%s\n--- a/%s\n+++ b/%s\n@@ -0,0 +1 @@\n+x = 1\n"
        % (path, path, path, path)
        for path in (b"test.py", b"pkg/tests.py", b"pkg/core_test.py", b"README.md")
    )
    selection = selected(patch, RECIPE)
    assert selection == ("test.py", "pkg/tests.py", "pkg/core_test.py")
    test = "def test_a():\n    pass\n"
    files = {"pkg/__init__.py": "", **dict.fromkeys(selection, test)}
    found = run(files, engine, toy_image, tmp_path, selection=selection)
    assert {key: str(result.status) for key, result in found.results.items()} == {
        f"{path}::test_a": "passed" for path in selection
    }
