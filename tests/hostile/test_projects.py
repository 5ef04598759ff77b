"""Whole hostile projects under verification: what they do stays in the run that they did it in."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.toy import RECIPE, Repository, Toy, environment_of, task_of
from validators.engines import DockerEngine
from validators.model import QUICK, Environment, Flaw, Image, Verdict
from validators.verification import verify

pytestmark = [pytest.mark.docker, pytest.mark.hostile]

BUG, FIX = "def add(a, b): return a - b\n", "def add(a, b): return a + b\n"
TEST = "from calc import add\ndef test_add(): assert add(1, 1) == 2\n"
KEPT = "def test_kept(): pass\n"


def verdict_of(
    tests: dict[str, str | None], engine: DockerEngine, environment: Environment, folder: Path
) -> Verdict:
    toy = Toy(
        base={"calc.py": BUG, "test_kept.py": KEPT},
        tests=tests,
        gold={"calc.py": FIX},
        fail_to_pass=(),
        pass_to_pass=(),
    )
    return verify(
        task_of(toy, Repository(folder / "toy", toy.base)),
        environment,
        test_files=tuple(sorted(tests)),
        engine=engine,
        policy=QUICK,
        progress=print,
    )


def test_a_test_that_rewrites_the_other_tests_reaches_no_other_run(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    """It empties every test file, and the bytecode that later runs could be given."""
    rewriting = """
import pathlib, py_compile
def test_rewrites():
    for path in pathlib.Path(".").glob("**/test_*.py"):
        path.write_text("def test_add(): pass\\n")
        py_compile.compile(str(path))
"""
    tests: dict[str, str | None] = {"test_a_first.py": rewriting, "test_calc.py": TEST}
    verdict = verdict_of(tests, engine, environment_of(toy_image), tmp_path)
    assert verdict.accepted, verdict.detail
    assert verdict.fail_to_pass == ("test_calc.py::test_add",)
    before = [run for run in verdict.runs if run.phase == "before"]
    assert [run.results["test_calc.py::test_add"].status for run in before] == ["failed"] * 2


@pytest.mark.parametrize("wait", ["while True: pass", "import time; time.sleep(3600)"])
def test_a_hang_before_the_first_test_is_a_timed_out_run(
    wait: str, engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    environment = environment_of(toy_image)
    short = replace(environment, recipe=replace(RECIPE, timeout_s=5))
    tests: dict[str, str | None] = {"conftest.py": f"{wait}\n", "test_calc.py": TEST}
    verdict = verdict_of(tests, engine, short, tmp_path)
    assert verdict.flaw is Flaw.TIMED_OUT_BEFORE
    assert len(verdict.runs) == 1
    assert "no test started" in verdict.detail


_LEAVES_MUCH = """
import os, pathlib, struct, subprocess, sys
def test_leaves_much():
    folder = pathlib.Path("__pycache__")
    folder.mkdir(exist_ok=True)
    code = bytes(4) + struct.pack("<II", 0, int(os.stat("calc.py").st_mtime)) + bytes(4000)
    for number in range(5000):
        (folder / ("calc.x%d.pyc" % number)).write_bytes(code)
    for number in range(60):
        deep = pathlib.Path("/".join(["deep"] * number))
        deep.mkdir(exist_ok=True)
    os.mkfifo("__pycache__/pipe.pyc")
    writing = "import time\\nwhile True:\\n    open('__pycache__/more.pyc', 'wb').write(bytes(999))"
    for _ in range(40):
        subprocess.Popen([sys.executable, "-c", writing], start_new_session=True)
"""
_FULL = """
import os, signal
def test_leaves_no_room():
    if os.fork():
        return
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.setsid()
    for number in range(64):
        try:
            os.close(number)
        except OSError:
            pass
    while True:
        try:
            if not os.fork():
                signal.pause()
        except OSError:
            signal.pause()
"""
"""As many processes as are allowed: not even one of ours can start."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("left", [_LEAVES_MUCH, _FULL], ids=["much", "no room"])
def test_what_a_test_leaves_does_not_hold_the_row(
    left: str, engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    """Bytecode is collected from such containers, after what was left in them was ended."""
    tests: dict[str, str | None] = {"test_calc.py": TEST, "test_left.py": left}
    verdict = verdict_of(tests, engine, environment_of(toy_image), tmp_path)
    assert verdict.accepted, verdict.detail
    assert "test_calc.py::test_add" in verdict.fail_to_pass
