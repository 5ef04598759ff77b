"""Orders to the container, and seals that are taken when everything is in its place."""

from tests.fakes.engine import DONE
from tests.fakes.grading import GUARDED, SEALS, GradingContainer, GradingTalk, seals
from validators.engine import TREE
from validators.grade_scripts import ABSENT
from validators.guarded import Guards
from validators.model import Outcome
from validators.putting_back import PutBack, Trees, put_back
from validators.restoration import Plan

TREES = Trees(model="m" * 40, final="f" * 40)
OURS = Outcome(exit_code=0, output=b"[tool:pytest]\naddopts = -ra\n")


def done(container: GradingContainer, todo: Plan, *guarded: str) -> PutBack:
    talk = GradingTalk(container, (), parts=1)
    found = put_back(
        container,
        talk,
        todo,
        trees=TREES,
        guards=Guards(paths=guarded, closed=("c",), laid=("l",)),
        mark=b"end",
    )
    assert isinstance(found, PutBack)
    return found


def test_orders_name_what_goes_what_comes_back_and_what_is_guarded() -> None:
    container = GradingContainer()
    todo = Plan(remove=("conftest.py",), restore=("tests/ü.py",))
    found = done(container, todo, *GUARDED)
    line, _, told = container.orders.partition(b"\n")
    assert line.split() == [str(len(told)).encode(), TREES.final.encode()]
    assert told.decode() == "D\0conftest.py\0R\0tests/ü.py\0C\0c\0L\0l\0G\0tests/test_a.py\0G\0c\0"
    assert (found.notes, found.seals.paths) == ((), (*GUARDED, "c"))
    assert container.files == {}


def test_a_guarded_file_that_is_merged_is_sealed_as_merged() -> None:
    path = "tests/pyproject.toml"
    after = Outcome(exit_code=0, output=seals({path: ("merged", 2)}))
    container = GradingContainer(
        restore=Outcome(exit_code=0, output=seals({path: ("the model's", 1)})),
        looks=[after],
        blobs={
            (TREES.model, path): Outcome(exit_code=0, output=b"[tool.pytest]\nx = 1\n"),
            (TREES.final, path): Outcome(exit_code=ABSENT, output=b""),
        },
    )
    found = done(container, Plan(merge=(path,)), path)
    assert found.seals.each[path].digest.strip() == "merged"
    assert found.notes == (f"restored the test sections of {path}",)


def test_a_shared_file_with_the_right_sections_stays_as_it_is() -> None:
    blobs = {(tree, "setup.cfg"): OURS for tree in (TREES.model, TREES.final)}
    container = GradingContainer(blobs=blobs, looks=[DONE])
    found = done(container, Plan(merge=("setup.cfg",)), *GUARDED)
    assert (found.notes, container.files.get(TREE)) == ((), None)
    assert container.restore == SEALS
