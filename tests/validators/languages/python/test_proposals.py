"""Recipes from a repository's own files, kind by kind."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from validators.languages.python.proposals import manifest_paths, propose_recipes
from validators.model import ProjectInstall, Recipe

DATE = datetime(2024, 5, 6, tzinfo=UTC)
SETUP = "from setuptools import setup\nsetup(name='a', py_modules=['a'])\n"


def _propose(files: Mapping[str, str], *, date: datetime = DATE) -> list[Recipe]:
    every = {"a.py": "", "tests/test_a.py": "def test_a(): pass\n", **files}
    wanted = manifest_paths(list(every))
    return list(propose_recipes({path: every[path] for path in wanted}, list(every), date))


KINDS: Mapping[str, tuple[Mapping[str, str], tuple[str, ...]]] = {
    "extra": (
        {"pyproject.toml": '[project]\nname = "a"\n'
                           '[project.optional-dependencies]\ntests = ["b"]\n'},
        (".[tests]", "pytest"),
    ),
    "group": (
        {"pyproject.toml": '[project]\nname = "a"\n[dependency-groups]\ntest = ["b>=1"]\n'},
        (".", "b>=1", "pytest"),
    ),
    "poetry": (
        {"pyproject.toml": '[tool.poetry]\nname = "a"\n[tool.poetry.dev-dependencies]\n'
                           'pytest = "^7"\nblack = "*"\n'},
        (".", "pytest>=7,<8"),
    ),
    "extra that tox names": (
        {"setup.py": "setup(name='a', extras_require={'all': ['b'], 'docs': ['c']})",
         "tox.ini": "[testenv]\nextras = all\n"},
        (".[all]", "pytest"),
    ),
    "tests_require": (
        {"setup.py": "setup(name='a', tests_require=['b', 'pytest-cov'])"},
        (".", "b", "pytest-cov", "pytest"),
    ),
    "developers' extra, opened": (
        {"setup.py": "setup(name='a', extras_require={'dev': ['pytest', 'flake8', 'b']})"},
        (".", "pytest", "b"),
    ),
    "tox": (
        {"setup.py": SETUP, "tox.ini": "[testenv]\ndeps =\n    pytest\n    b\n"},
        (".", "pytest", "b"),
    ),
    "test requirements file": (
        {"setup.py": SETUP, "requirements-test.txt": "b==1\n-r more.txt\n", "more.txt": "c"},
        (".", "b==1", "c", "pytest"),
    ),
    "noxfile": (
        {"setup.py": SETUP, "noxfile.py": "def tests(s):\n    s.install('b', 'pytest')\n"},
        (".", "b", "pytest"),
    ),
    "Pipfile": (
        {"setup.py": SETUP, "Pipfile": '[dev-packages]\nb = "*"\nflake8 = "*"\n'},
        (".", "b", "pytest"),
    ),
    "environment.yml": (
        {"setup.py": SETUP, "environment.yml": "dependencies:\n  - b=1.2\n  - python=3.11\n"},
        (".", "b", "pytest"),
    ),
    "undeclared import": (
        {"setup.py": SETUP, "tests/test_b.py": "import yaml\nimport a\nfrom tests import x\n"},
        (".", "pyyaml", "pytest"),
    ),
    "plug-in of an option": (
        {"setup.py": SETUP, "pytest.ini": "[pytest]\naddopts = --cov=a\n"},
        (".", "pytest-cov", "pytest"),
    ),
    "no distribution": ({"requirements.txt": "b\nc>=1  # why\n"}, ("b", "c>=1", "pytest")),
    "address": (
        {"setup.py": "setup(name='a', tests_require=['b @ https://x.invalid/b.zip'])"},
        (".", "b", "pytest"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_recipe_asks_for_what_tests_need(kind: str) -> None:
    files, expected = KINDS[kind]
    assert _propose(files)[0].requirements == expected


def test_a_project_that_is_no_distribution_is_run_from_its_sources() -> None:
    first = _propose({"requirements.txt": "b\n"})[0]
    assert first.project_install is ProjectInstall.NONE
    assert first.source_paths == (".",)


def test_the_second_recipe_leaves_out_what_was_declared() -> None:
    first, second, *_ = _propose({"setup.py": "setup(name='a', tests_require=['b'])"})
    assert second.requirements == (".", "pytest")
    assert second.python == first.python


def test_classifiers_ci_tox_and_conda_tell_the_python() -> None:
    for files in (
        {"setup.py": "setup(name='a', classifiers=['Programming Language :: Python :: 3.10'])"},
        {"setup.py": SETUP, ".github/workflows/t.yml": "j: {m: {python-version: [3.10]}}\n"},
        {"setup.py": SETUP, "tox.ini": "[tox]\nenvlist = py310\n"},
        {"setup.py": SETUP, "environment.yml": "dependencies: [python=3.10]\n"},
    ):
        assert _propose(files)[0].python == "3.10"


def test_before_editable_installs_a_copy_is_made_and_the_sources_come_first() -> None:
    files = {"setup.py": "setup(name='a', package_dir={'': 'src'})", "src/a.py": ""}
    first = _propose(files, date=datetime(2017, 3, 1, tzinfo=UTC))[0]
    assert first.python == "3.6"
    assert first.project_install is ProjectInstall.PLAIN
    assert first.source_paths == ("src",)


def test_a_copy_of_packages_that_lie_elsewhere_is_built_again_before_every_run() -> None:
    files = {"setup.py": "setup(name='a', package_dir={'a': 'source'})", "source/a.py": ""}
    then = _propose(files, date=datetime(2017, 3, 1, tzinfo=UTC))[0]
    assert (then.project_install, then.source_paths) == (ProjectInstall.PLAIN, (".",))
    assert (then.build_cmd or "").endswith(" --directory=.")
    assert then.build_requirements == ("setuptools", "wheel")
    assert _propose(files)[0].build_cmd is None  # an editable install finds them


def test_compiled_projects_are_built_again_before_every_run() -> None:
    first = _propose({"setup.py": "setup(name='a', ext_modules=[x])"})[0]
    assert first.build_cmd == "python setup.py build_ext --inplace"
    assert first.build_requirements == ("setuptools", "wheel")


def test_cases_made_in_functions_are_run_by_unittest() -> None:
    made = "def f():\n    class A(TestCase): pass\ndef load_tests(a, b, c): pass\n"
    assert _propose({"setup.py": SETUP, "tests/test_b.py": made})[0].runner == "unittest"


def test_modules_of_one_letter_are_samples_not_distributions() -> None:
    files = {"setup.py": SETUP, "tests/test_b.py": "import b\nimport c.d\nimport yaml\n"}
    assert _propose(files)[0].requirements == (".", "pyyaml", "pytest")


def test_ten_thousand_lines_are_read() -> None:
    lines = "".join(f"p{number}\n" for number in range(10_000))
    first = _propose({"setup.py": SETUP, "requirements-test.txt": lines})[0]
    assert len(first.requirements) == 10_002


@pytest.mark.parametrize(
    "files",
    [
        {"tox.ini": "[testenv]\ndeps =\n  b\n  -c{toxinidir}/limits/ci.txt\n"},
        {"noxfile.py": "def tests(s):\n    s.install('-c', 'limits/ci.txt', 'b')\n"},
        {"Makefile": "deps:\n\tpip install -c limits/ci.txt b\n"},
    ],
)
def test_constraints_hold_at_first_and_not_later(files: Mapping[str, str]) -> None:
    every = {"setup.py": SETUP, "limits/ci.txt": "b<2\n", **files}
    first, second, *_ = _propose(every)
    assert first.requirements == (".", "b", "-c limits/ci.txt", "pytest")
    assert second.requirements == (".", "pytest")


@pytest.mark.parametrize("name", ["limits/gone.txt", "limits/lowest.txt", "limits/ci-oldest.txt"])
def test_constraints_that_are_not_there_or_of_lowest_versions_hold_not(name: str) -> None:
    tox = f"[testenv]\ndeps =\n  b\n  -c {name}\n"
    present = {"limits/lowest.txt": "b==1\n", "limits/ci-oldest.txt": "b==1\n"}
    first = _propose({"setup.py": SETUP, "tox.ini": tox, **present})[0]
    assert first.requirements == (".", "b", "pytest")


NOSE = "from nose.tools import eq_\ndef test_b():\n    for x in (1, 2):\n        yield eq_, x, x\n"


def test_generators_of_tests_get_the_last_pytest_that_runs_them() -> None:
    files = {"setup.py": SETUP, "tests/test_b.py": NOSE}
    assert _propose(files)[0].requirements == (".", "nose", "pytest<4")
    declared = {**files, "test-requirements.txt": "pytest\n"}
    assert _propose(declared)[0].requirements == (".", "pytest", "nose", "pytest<4")


@pytest.mark.parametrize(
    "test",
    [
        "@pytest.fixture\ndef test_client():\n    yield a, 1\n",
        "def test_b():\n    def f():\n        yield a, 1\n    list(f())\n",
        "@gen_test\ndef test_b():\n    yield a, 1\n",
        "def test_b():\n    yield client.fetch()\n",
        "def helper():\n    yield a, 1\n",
    ],
)
def test_other_generators_are_none(test: str) -> None:
    files = {"setup.py": SETUP, "tests/test_b.py": test}
    assert "pytest<4" not in _propose(files)[0].requirements


@pytest.mark.parametrize(
    ("backend", "extensions", "command"),
    [
        ("setuptools.build_meta", True, "setuptools.setup()"),
        ("setuptools.build_meta", False, None),
        ("mesonpy", True, "uv build"),
    ],
)
def test_extensions_declared_in_pyproject_are_built_before_every_run(
    backend: str, extensions: bool, command: str | None
) -> None:
    requires = "setuptools" if backend != "mesonpy" else "meson-python"
    text = f'[build-system]\nrequires = ["{requires}"]\nbuild-backend = "{backend}"\n'
    if extensions:
        text += '[[tool.setuptools.ext-modules]]\nname = "a._c"\nsources = ["a/_c.c"]\n'
    first = _propose({"pyproject.toml": text, "a/_c.c": ""})[0]
    assert (first.build_cmd is None) == (command is None)
    assert (command or "") in (first.build_cmd or "")
    assert ("gcc" in first.apt) == extensions
