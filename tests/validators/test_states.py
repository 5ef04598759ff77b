"""Repeated runs on the real engine: no state of a tree is taken for another."""

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.toy import RECIPE, Repository, Toy, environment_of, task_of
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


def _zipped(value: int) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as out:
        out.writestr(zipfile.ZipInfo("inner.py"), f"X = {value}\n")
    return packed.getvalue()


EVERY_WAY = Toy(
    base={
        "pkg/__init__.py": "",
        "pkg/sub/__init__.py": "from pkg.sub.deep import X as X\n",
        "pkg/sub/deep.py": "X = 1\n",
        "pkg/kept.py": "X = 1\n",
        "bundle.zip": _zipped(1),
        "conftest.py": "import pytest\n\n\n@pytest.fixture\ndef wanted():\n    return 1\n",
        "test_kept.py": "import pkg.kept\n\n\ndef test_kept():\n    assert pkg.kept.X == 1\n",
    },
    tests={
        "conftest.py": "import pytest\n\n\n@pytest.fixture\ndef wanted():\n    return 2\n",
        "test_every.py": "import importlib, sys\nimport pkg.sub, pkg.sub.deep\n"
        "sys.path.insert(0, 'bundle.zip')\nimport inner\n\n\n"
        "def test_deep(wanted):\n    assert pkg.sub.X == pkg.sub.deep.X == wanted\n\n\n"
        "def test_zipped(wanted):\n    assert inner.X == wanted\n\n\n"
        "def test_reloaded(wanted):\n    assert importlib.reload(pkg.sub.deep).X == wanted\n",
        "test_kept.py": "import pkg.kept\n\n\ndef test_kept(wanted):\n"
        "    assert pkg.kept.X == 1\n    assert wanted == 2\n",
    },
    gold={"pkg/sub/deep.py": "X = 2\n", "bundle.zip": _zipped(2)},
    fail_to_pass=(
        "test_every.py::test_deep",
        "test_every.py::test_reloaded",
        "test_every.py::test_zipped",
    ),
    pass_to_pass=("test_kept.py::test_kept",),
)
"""Sources of one size that are read through packages, archives, reloads and fixtures."""

BUILT = Toy(
    base={
        "rules.py": "WORD = 'a'\n",
        "table.py": "WORD = '-'\n",
        "kept.py": "X = 1\n",
        "make.py": "import rules\nopen('table.py', 'w').write('WORD = %r\\n' % rules.WORD)\n",
    },
    tests={
        "test_table.py": "import kept, rules, table\n\n\ndef test_word():\n"
        "    assert table.WORD == 'b'\n\n\ndef test_same():\n"
        "    assert table.WORD == rules.WORD\n    assert kept.X == 1\n"
    },
    gold={"rules.py": "WORD = 'b'\n"},
    fail_to_pass=("test_table.py::test_word",),
    pass_to_pass=("test_table.py::test_same",),
    recipe=replace(RECIPE, build_cmd="python make.py"),
)
"""A tracked module that the build writes anew in each run, from what is patched."""


@pytest.mark.parametrize("toy", [EVERY_WAY, BUILT], ids=["every way", "built"])
def test_every_run_tests_its_own_state(
    toy: Toy, engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    verdict, told = verified(toy, engine, toy_image, tmp_path)
    assert verdict.accepted, (verdict.detail, told)
    assert verdict.fail_to_pass == toy.fail_to_pass
    assert verdict.pass_to_pass == toy.pass_to_pass
    assert verdict.flaky == ()


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
        environment_of(image, toy.recipe),
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
