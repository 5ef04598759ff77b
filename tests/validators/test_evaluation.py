"""Grades from scripted containers: whose fault is what goes wrong, and what is seen of a cheat."""

import io
import tarfile
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.fakes.engine import Script, passing
from tests.fakes.grading import GUARDED, SEALS, GradingContainer, GradingEngine, prepared, seals
from tests.real_engine import untar
from validators.engine import END_GUEST, TREE
from validators.errors import EngineUnavailableError
from validators.evaluation import grade
from validators.grade_scripts import ABSENT, NOT_PLAIN, PATCHING, PUT_BACK_FAILED
from validators.languages.python.conversion import converted
from validators.model import (
    Environment,
    Flaw,
    Grade,
    GradingTask,
    Image,
    Outcome,
    Recipe,
    Tree,
)
from validators.worktree import PATCH_FAILED

IMAGE = Image(digest="sha256:1", tag="t:1")
RECIPE = Recipe(language="python", python="3.12", lock="")
ENVIRONMENT = Environment(image=IMAGE, base_image=IMAGE, base_origin="built", recipe=RECIPE, key="")
PATCH = b"--- a/calc.py\n+++ b/calc.py\n@@ -1 +1 @@\n-a\n+b\n"
TASK = GradingTask(
    instance_id="o__n-1",
    repo="o/n",
    tree=Tree(commit="c", committed_at=datetime(2024, 1, 2, tzinfo=UTC), tar=bytes(10240)),
    patch=PATCH,
    test_patch=b"",
    fail_to_pass=("t.py::a",),
    pass_to_pass=(),
    recipe=RECIPE,
)
PASSING = Script(records=passing("t.py::a"))
BEGUN = f"\0{PATCHING}\x002\n".encode()
FULL = b"tar: x: Cannot write: No space left on device"


def graded(
    container: GradingContainer,
    recipe: Recipe = RECIPE,
    *,
    patch: bytes = PATCH,
    test_patch: bytes = b"",
) -> Grade:
    engine = GradingEngine([], container=container)
    environment = replace(ENVIRONMENT, recipe=recipe)
    task = replace(TASK, test_patch=test_patch)
    try:
        return grade(task, environment, model_patch=patch, engine=engine, progress=print)
    finally:
        assert engine.open == 0


def failed(exit_code: int, output: bytes = b"", *, timed_out: bool = False) -> Outcome:
    return Outcome(exit_code=exit_code, output=output, timed_out=timed_out)


def test_a_patch_whose_tests_pass_is_resolved() -> None:
    found = graded(GradingContainer(script=PASSING))
    assert (found.resolved, found.applied, found.flaw) == (True, True, None)
    assert (found.flags, found.notes, found.fail_to_pass.passed) == ((), (), 1)


def test_a_fix_may_name_files_in_bytes_that_are_no_text() -> None:
    fix = PATCH.replace(b"a/calc.py", b'"a/pkg/\\351.py"').replace(
        b"b/calc.py", b'"b/pkg/\\351.py"'
    )
    engine = GradingEngine([], container=GradingContainer(script=PASSING))
    task = replace(TASK, patch=fix)
    assert grade(task, ENVIRONMENT, model_patch=PATCH, engine=engine, progress=print).resolved


def test_a_patch_whose_tests_fail_is_not() -> None:
    found = graded(GradingContainer(script=Script(records=passing("t.py::b"))))
    assert (found.resolved, found.flaw, found.fail_to_pass.failed) == (False, None, 1)


@pytest.mark.parametrize(
    ("outcome", "detail"),
    [
        (failed(PATCH_FAILED, BEGUN + b"error: no such file"), "no such file"),
        (failed(137, BEGUN, timed_out=True), "not applied within 300 s"),
        (replace(failed(137, BEGUN + b"Killed"), out_of_memory=True), "Killed"),
    ],
)
def test_what_goes_wrong_once_patching_began_is_the_patchs_doing(
    outcome: Outcome, detail: str
) -> None:
    found = graded(GradingContainer(prepare=outcome))
    assert (found.flaw, found.resolved) == (Flaw.PATCH_DOES_NOT_APPLY, False)
    assert detail in found.detail


@pytest.mark.parametrize(
    "outcome",
    [
        failed(137, timed_out=True),
        failed(PATCH_FAILED, b"fatal: before the patch was looked at"),
        failed(128, b"fatal: git is broken"),
        failed(137, BEGUN + b"killed, and not for want of memory"),
    ],
)
def test_what_goes_wrong_earlier_is_the_machines_and_no_grade(outcome: Outcome) -> None:
    with pytest.raises(EngineUnavailableError, match="could not be prepared"):
        graded(GradingContainer(prepare=outcome))


def test_a_machine_that_is_slow_before_the_patch_gives_no_grade_for_want_of_time() -> None:
    late = failed(137, f"\0{PATCHING}\x00280\n".encode(), timed_out=True)
    with pytest.raises(EngineUnavailableError, match="too busy"):
        graded(GradingContainer(prepare=late))
    does_not_apply = failed(PATCH_FAILED, f"\0{PATCHING}\x00280\n".encode())
    found = graded(GradingContainer(prepare=does_not_apply))
    assert found.flaw is Flaw.PATCH_DOES_NOT_APPLY


@pytest.mark.parametrize(
    ("patch", "detail"),
    [
        (b" \n", "the patch changes nothing"),
        (b"I would fix it in a.py.\n", "the text holds no diff that changes a file"),
    ],
)
def test_prose_is_told_from_no_answer(patch: bytes, detail: str) -> None:
    found = graded(GradingContainer(), patch=patch)
    assert (found.flaw, found.detail) == (Flaw.EMPTY_PATCH, detail)


def test_a_long_complaint_is_cut_between_its_lines() -> None:
    lines = b"".join(b"Hunk #%d FAILED at line %d.\n" % (n, n) for n in range(1000))
    found = graded(GradingContainer(prepare=failed(PATCH_FAILED, BEGUN + lines)))
    assert found.detail.startswith("Hunk #")
    assert found.detail.endswith("FAILED at line 999.")
    assert 1000 < len(found.detail) <= 2000


def test_more_changes_than_can_be_seen_are_refused() -> None:
    found = graded(GradingContainer(prepare=Outcome(exit_code=0, output=BEGUN, truncated=True)))
    assert found.flaw is Flaw.PATCH_REFUSED


@pytest.mark.parametrize(
    "restore",
    [
        failed(PUT_BACK_FAILED, b"error: unable to create file"),
        failed(1, FULL),
        replace(failed(137), out_of_memory=True),
    ],
)
def test_a_tree_that_leaves_no_room_for_tests_is_refused(restore: Outcome) -> None:
    found = graded(GradingContainer(script=PASSING, restore=restore))
    assert (found.flaw, found.applied) == (Flaw.PATCH_REFUSED, False)
    assert "could not be put back" in found.detail


@pytest.mark.parametrize("restore", [failed(137), failed(137, timed_out=True), failed(126)])
def test_restoring_that_was_ended_from_outside_is_no_grade(restore: Outcome) -> None:
    with pytest.raises(EngineUnavailableError, match="could not be put back"):
        graded(GradingContainer(script=PASSING, restore=restore))


@pytest.mark.parametrize(
    "output",
    [
        b"",
        SEALS.output[:-5],
        SEALS.output + SEALS.output,
    ],
)
def test_guards_without_seals_are_no_grade(output: bytes) -> None:
    """Else a file would silently be guarded no more."""
    with pytest.raises(EngineUnavailableError, match="could not be looked at"):
        graded(GradingContainer(script=PASSING, restore=Outcome(exit_code=0, output=output)))


def shared(model: Outcome, final: Outcome, *, written: Outcome | None = None) -> GradingContainer:
    """A model that changed setup.cfg."""
    changes = prepared(("M", "setup.cfg"), final_paths=("setup.cfg", *GUARDED))
    container = GradingContainer(
        script=PASSING,
        prepare=Outcome(exit_code=0, output=changes),
        blobs={("model", "setup.cfg"): model, ("final", "setup.cfg"): final},
    )
    return container if written is None else replace(container, written=written)


def put_files(container: GradingContainer) -> Mapping[str, bytes]:
    return {
        name: text for tar in container.files.get(TREE, ()) for name, text in untar(tar).items()
    }


CONFIGURED = Outcome(exit_code=0, output=b"[tool:pytest]\naddopts = -ra\n")
EVIL = Outcome(exit_code=0, output=b"[tool:pytest]\naddopts = -p evil\n")


@pytest.mark.parametrize(
    "model",
    [EVIL, replace(EVIL, truncated=True), failed(NOT_PLAIN), failed(ABSENT)],
    ids=["changed", "too long", "a link", "deleted"],
)
def test_test_sections_are_put_back(model: Outcome) -> None:
    container = shared(model, CONFIGURED)
    found = graded(container)
    assert found.resolved
    assert put_files(container)["setup.cfg"].strip() == CONFIGURED.output.strip()
    assert found.notes == ("restored the test sections of setup.cfg",)


@pytest.mark.parametrize("broken", [failed(128), failed(137, timed_out=True)])
def test_a_file_that_cannot_be_read_is_not_taken_for_an_empty_one(broken: Outcome) -> None:
    for container in (shared(broken, CONFIGURED), shared(EVIL, broken)):
        with pytest.raises(EngineUnavailableError, match="could not be read in its"):
            graded(container)


def test_files_that_find_no_room_are_the_patchs_doing_and_slow_ones_are_not() -> None:
    found = graded(shared(EVIL, CONFIGURED, written=failed(2, b"tar: Cannot open: File exists")))
    assert found.flaw is Flaw.PATCH_REFUSED
    with pytest.raises(EngineUnavailableError, match="could not be put back"):
        graded(shared(EVIL, CONFIGURED, written=failed(137, timed_out=True)))


@pytest.mark.parametrize(
    "after",
    [
        Outcome(exit_code=0, output=seals({"tests/test_a.py": ("another", 2)})),
        Outcome(exit_code=0, output=seals({})),
        failed(137, timed_out=True),
        Outcome(exit_code=0, output=SEALS.output, truncated=True),
    ],
    ids=["changed", "gone", "cannot be looked at", "cannot be seen whole"],
)
def test_a_test_that_is_not_what_it_was_is_tampered_with(after: Outcome) -> None:
    found = graded(GradingContainer(script=PASSING, looks=[after]))
    assert (found.flaw, found.resolved) == (Flaw.TESTS_TAMPERED, False)
    assert "tests/test_a.py" in found.detail


@pytest.mark.parametrize(
    ("after", "name"),
    [
        (seals({"tests/test_a.py": ("as it was", 2)}), "tests/test_a.py"),
        (seals(GUARDED, data="other"), "data of the tests"),
    ],
)
def test_what_was_written_to_is_flagged(after: bytes, name: str) -> None:
    found = graded(GradingContainer(script=PASSING, looks=[Outcome(exit_code=0, output=after)]))
    assert (found.resolved, found.flags) == (True, ("files_of_tests",))
    assert found.notes == (f"written to while the tests ran: {name}",)


def test_forged_records_are_flagged() -> None:
    found = graded(GradingContainer(script=PASSING, forged=3))
    assert (found.resolved, found.flags) == (True, ("forged_records",))
    assert found.notes == ("3 lines in the report not our own",)


def test_what_is_put_back_is_not_flagged() -> None:
    """A model may write tests of its own: they are gone when the tests run."""
    diff = "diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -0,0 +1 @@\n+import pytest\n"
    for path, expected in (("tests/test_a.py", ()), ("calc.py", ("runner_internals",))):
        told = prepared(("M", path), final_paths=("calc.py", *GUARDED), added=diff.format(path))
        prepare = Outcome(exit_code=0, output=told)
        found = graded(GradingContainer(script=PASSING, prepare=prepare))
        assert (found.resolved, found.flags) == (True, expected)


def layout_of(**files: bytes) -> Outcome:
    """What lies in the tree: configuration by name, with `__` for a dot."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(f"./{name.replace('__', '.')}")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text))
    names = b"./calc.py\0//parted\0./calc/__pycache__\0//parted\0"
    return Outcome(exit_code=0, output=names + packed.getvalue())


BUILT = replace(RECIPE, build_cmd="python setup.py build_ext --inplace")
REBUILT = [Outcome(exit_code=0, output=seals({"tests/test_a.py": ("converted", 2)}))]


def built(container: GradingContainer, recipe: Recipe = BUILT, *, test_patch: bytes = b"") -> Grade:
    if not container.layouts:
        container.layouts = [layout_of(), layout_of()]
    container.script = PASSING
    return graded(container, recipe, test_patch=test_patch)


def test_a_build_that_fails_is_the_models() -> None:
    found = built(GradingContainer(built=failed(1, b"no compiler")))
    assert (found.flaw, found.resolved, found.detail) == (Flaw.BUILD_FAILED, False, "no compiler")


def test_an_honest_build_is_not_told() -> None:
    assert built(GradingContainer()).notes == ()


def test_what_a_build_left_running_is_ended_before_the_tests() -> None:
    """It runs as the user of the tests, and could write into their process."""
    container = GradingContainer()
    assert built(container).resolved
    commands = [" ".join(command) for command in container.commands]
    order = [
        next(n for n, command in enumerate(commands) if part in command)
        for part in (str(BUILT.build_cmd), " ".join(END_GUEST), "tests.sh")
    ]
    assert order == sorted(order)


def test_what_a_build_plants_is_removed_before_the_tests() -> None:
    container = GradingContainer(layouts=[layout_of(), layout_of(conftest__py=b"x = 1")])
    found = built(container)
    assert found.resolved
    assert found.notes == ("removed conftest.py: the build made it",)
    assert any("rm -rf" in command[-1] for command in container.commands)


def test_what_a_build_plants_and_cannot_be_removed_is_tampering() -> None:
    container = GradingContainer(
        layouts=[layout_of(), layout_of(conftest__py=b"x = 1")],
        removed=failed(1, b"rm: cannot remove 'conftest.py': Permission denied"),
    )
    found = built(container)
    assert (found.flaw, found.resolved) == (Flaw.TESTS_TAMPERED, False)
    assert "conftest.py (by the build)" in found.detail


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (layout_of(), layout_of(setup__cfg=EVIL.output)),
        (layout_of(pytest__ini=b""), layout_of(pytest__ini=b"[pytest]")),
        (layout_of(), failed(1)),
    ],
)
def test_a_build_that_changes_how_tests_run_tampers(before: Outcome, after: Outcome) -> None:
    found = built(GradingContainer(layouts=[before, after]))
    assert (found.flaw, found.resolved) == (Flaw.TESTS_TAMPERED, False)
    assert "(by the build)" in found.detail


def test_the_conversion_to_python_3_may_change_tests() -> None:
    conversion = converted(RECIPE, "src")
    found = built(GradingContainer(looks=[*REBUILT]), replace(conversion, python="3.8"))
    assert (found.resolved, found.flaw) == (True, None)


@pytest.mark.parametrize("recipe", [BUILT, converted(RECIPE, "src")], ids=["built", "converted"])
def test_after_every_build_bytecode_of_the_tests_is_closed_and_sealed(recipe: Recipe) -> None:
    """What comes then may import code of the model before the tests, a conversion or not."""
    told = prepared(final_paths=("t.py", *GUARDED))
    container = GradingContainer(prepare=Outcome(exit_code=0, output=told))
    found = built(container, recipe, test_patch=PATCH.replace(b"calc.py", b"t.py"))
    assert (found.resolved, found.flags) == (True, ())
    commands = [" ".join(command) for command in container.commands]
    order = [
        next(n for n, command in enumerate(commands) if part in command)
        for part in (str(recipe.build_cmd), "}\nclose")
    ]
    assert order == sorted(order)
    assert [b"\0__pycache__\0" in asked for asked in container.looked] == [False, True, True]


@pytest.mark.parametrize("more", [" && python setup.py build", "; true", " --fix all"])
def test_no_other_build_may(more: str) -> None:
    recipe = replace(BUILT, build_cmd=f"{converted(RECIPE, 'src').build_cmd}{more}")
    found = built(GradingContainer(looks=[*REBUILT]), recipe)
    assert (found.flaw, found.resolved) == (Flaw.TESTS_TAMPERED, False)


def test_a_conversion_after_which_tests_cannot_be_looked_at_is_no_grade() -> None:
    with pytest.raises(EngineUnavailableError, match="could not be looked at"):
        built(GradingContainer(looks=[failed(1)]), converted(RECIPE, "src"))


@pytest.mark.parametrize(
    ("patch", "flaw"),
    [
        (b"", Flaw.EMPTY_PATCH),
        (b" \n\r\n", Flaw.EMPTY_PATCH),
        (bytes(100), Flaw.EMPTY_PATCH),
        (bytes(range(256)) * 9, Flaw.EMPTY_PATCH),
        (b"I cannot solve this.", Flaw.EMPTY_PATCH),
        (b"x" * 50_000_000, Flaw.EMPTY_PATCH),
        (PATCH.replace(b"calc.py", b"../calc.py"), Flaw.PATCH_REFUSED),
        (PATCH.replace(b"+++ b/calc.py", b"+++ /etc/passwd"), Flaw.PATCH_REFUSED),
        (PATCH.replace(b"calc.py", b".git/config"), Flaw.PATCH_REFUSED),
        (PATCH + b"+" + b"x" * 50_000_000 + b"\n", Flaw.PATCH_REFUSED),
    ],
    ids=["none", "blank", "zeros", "noise", "words", "50 MB of x", "..", "/", ".git", "50 MB"],
)
def test_some_patches_need_no_container(patch: bytes, flaw: Flaw) -> None:
    engine = GradingEngine([])
    found = grade(TASK, ENVIRONMENT, model_patch=patch, engine=engine, progress=print)
    assert (found.flaw, found.resolved, engine.container.commands) == (flaw, False, [])
