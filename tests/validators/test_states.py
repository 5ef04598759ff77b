"""Repeated runs on the real engine: no state of a tree is taken for another."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.toy import Repository, Toy, environment_of, task_of
from validators.engines import DockerEngine
from validators.model import FULL, Image, Verdict
from validators.verification import verify

pytestmark = pytest.mark.docker

MAKE_LIKE = Toy(
    base={
        "rules.py": "WORD = 'a'\n",
        "rules.txt": "a",
        "table.py": "import os\nimport rules\n\n\ndef word():\n"
        "    if os.path.getmtime(rules.__file__) > os.path.getmtime('rules.txt'):\n"
        "        with open('rules.txt', 'w') as out:\n            out.write(rules.WORD)\n"
        "    with open('rules.txt') as made:\n        return made.read()\n",
    },
    tests={"test_table.py": "import table\n\n\ndef test_word():\n    assert table.word() == 'b'\n"},
    gold={"rules.py": "WORD = 'b'\n"},
    fail_to_pass=("test_table.py::test_word",),
    pass_to_pass=(),
)
"""What is made of a module is made again when the module is newer."""

SAME_SIZE = Toy(
    base={
        "core.py": "X = 1\n",
        "other.py": "X = 1\n",
        "kept.py": "Y = 1\n",
    },
    tests={
        "test_core.py": "import core, kept, other, alias\n\n\ndef test_core():\n"
        "    assert core.X == 2\n    assert alias.X == 2\n\n\ndef test_other():\n"
        "    assert other.X == 1\n    assert kept.Y == 1\n"
    },
    gold={"core.py": "X = 2\n"},
    fail_to_pass=("test_core.py::test_core",),
    pass_to_pass=("test_core.py::test_other",),
)
"""Contents of one size, one of them read through a link that the tests bring."""


def verified(
    toy: Toy, engine: DockerEngine, image: Image, folder: Path, **links: str
) -> tuple[Verdict, list[str]]:
    repository = Repository(folder / "toy", toy.base)
    task = task_of(toy, repository)
    linked = {f"{name}.py": target for name, target in links.items()}
    task = replace(task, test_patch=repository.diff(toy.tests, links=linked))
    told: list[str] = []
    verdict = verify(
        task,
        environment_of(image),
        test_files=sorted(toy.tests),
        engine=engine,
        policy=replace(FULL, probes=False),
        progress=told.append,
    )
    return verdict, told


def test_what_a_project_makes_of_a_patched_module_is_made_again(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    verdict, told = verified(MAKE_LIKE, engine, toy_image, tmp_path)
    assert verdict.fail_to_pass == MAKE_LIKE.fail_to_pass, (verdict.detail, told)


def test_contents_of_one_size_are_told_apart_in_every_run(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    verdict, told = verified(SAME_SIZE, engine, toy_image, tmp_path, alias="core.py")
    assert verdict.accepted, (verdict.detail, told)
    assert verdict.fail_to_pass == SAME_SIZE.fail_to_pass
    assert verdict.pass_to_pass == SAME_SIZE.pass_to_pass
    assert verdict.flaky == ()
