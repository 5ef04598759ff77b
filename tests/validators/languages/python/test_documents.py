"""Whatever strangers wrote, a tree gets its recipes: what raised would be called the machine's
failure, and three of them in a row end a pass."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from validators.languages.python.documents import ini, table, toml, words, yaml_document
from validators.languages.python.proposals import manifest_paths, propose_recipes

DATE = datetime(2024, 5, 6, tzinfo=UTC)
DEEP = "[" * 3000 + "]" * 3000
LONG = "9" * 5000
SUM = "+".join(["'a'"] * 1500)

ALIASES = "a0: &a0 [3.9]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
MERGES = "a0: &a0 {b0: 1}\n" + "".join(
    f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}], b{n}: 1}}\n" for n in range(1, 40)
)
SUMS = "a = ['b']\n" + "a = a + a\n" * 40
SPREAD = "a = ['b']\n" + "a = [*a, *a]\n" * 40
SELVES = "-r requirements-test.txt\n" * 200
GROUPS = "".join(
    f"g{n} = [{', '.join(f'{{include-group = {chr(34)}g{m}{chr(34)}}}' for m in range(40))}]\n"
    for n in range(40)
)

KEYS = {
    "pyproject.toml": (
        *("project", "project.name", "project.dependencies", "project.requires-python"),
        *("project.classifiers", "project.optional-dependencies"),
        *("project.optional-dependencies.test", "build-system", "build-system.requires"),
        *("build-system.build-backend", "dependency-groups", "dependency-groups.test", "tool"),
        *("tool.pytest", "tool.pytest.ini_options", "tool.pytest.ini_options.addopts"),
        *("tool.pytest.ini_options.required_plugins", "tool.poetry", "tool.poetry.name"),
        *("tool.poetry.dependencies", "tool.poetry.dependencies.python", "tool.poetry.extras"),
        *("tool.poetry.dev-dependencies", "tool.poetry.dev-dependencies.x", "tool.poetry.group"),
        *("tool.poetry.group.test", "tool.poetry.group.test.dependencies", "tool.poetry.packages"),
        *("tool.hatch", "tool.hatch.envs", "tool.hatch.envs.default", "tool.uv", "tool.pdm"),
        *("tool.hatch.envs.default.dependencies", "tool.uv.dev-dependencies", "tool.flit"),
        *("tool.pdm.dev-dependencies", "tool.pdm.dev-dependencies.test", "tool.flit.metadata"),
        *("tool.flit.metadata.requires", "tool.flit.metadata.requires-extra", "tool.setuptools"),
        *("tool.setuptools.packages", "tool.setuptools.packages.find", "tool.setuptools.dynamic"),
        *("tool.setuptools.packages.find.where", "tool.setuptools.package-dir", "tool.tox"),
        *("tool.tox.env_run_base", "tool.tox.env_run_base.deps", "tool.tox.env_run_base.set_env"),
        *("tool.tox.env", "tool.tox.env.test", "tool.tox.env_list", "tool.tox.legacy_tox_ini"),
    ),
    "Pipfile": ("packages", "packages.x", "packages.x.version", "packages.x.extras", "requires"),
    "pytest.toml": ("pytest", "pytest.addopts"),
    "tox.toml": ("env", "env.test", "env_run_base", "env_run_base.deps", "env_list"),
}
YAML_SHAPES = (
    *("{}", "jobs: {}", "jobs: {{a: {}}}", "jobs: {{a: {{steps: {}}}}}", "env: {}"),
    *("jobs: {{a: {{steps: [{}]}}}}", "jobs: {{a: {{env: {}, steps: [{{run: pytest}}]}}}}"),
    *("env: {{global: {}}}", "env: {{global: [{}]}}", "addons: {}", "addons: {{apt: {}}}"),
    *("addons: {{apt: {{packages: {}}}}}", "dependencies: {}", "dependencies: [{}]"),
    *("dependencies: [{{pip: {}}}]", "dependencies: [{{pip: [{}]}}]", "python: {}"),
)


def _recipes(files: Mapping[str, str]) -> int:
    every = {"a.py": "", "tests/test_a.py": "def test_a(): pass\n", **files}
    wanted = manifest_paths(list(every))
    known = {path: every[path] for path in wanted}
    assert set(files) <= set(known)
    return len(propose_recipes(known, list(every), DATE))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pyproject.toml", f"x = {DEEP}"),
        ("pyproject.toml", f"x = {LONG}"),
        ("Pipfile", f"x = {DEEP}"),
        ("Pipfile", f"x = {LONG}"),
        ("pytest.toml", f"x = {DEEP}"),
        ("tox.toml", f"x = {LONG}"),
        ("pyproject.toml", f"[project]\nname = 'a'\nrequires-python = '>={LONG}'\n"),
        ("pyproject.toml", f"[tool.poetry]\nname = 'a'\ndependencies = {{b = '^{LONG}'}}\n"),
        (".travis.yml", DEEP),
        ("environment.yml", DEEP),
        (".github/workflows/ci.yml", DEEP),
        ("setup.cfg", "no section\n"),
        ("tox.ini", "[testenv\n"),
        ("setup.py", f"from setuptools import setup\nsetup(name={SUM}, install_requires=['b'])\n"),
        ("noxfile.py", f"def tests(s):\n    s.install({SUM})\n"),
        ("tests/test_b.py", f"if {SUM}:\n    import b\n"),
        ("tests/test_b.py", f"@({SUM})\ndef test_b(x): pass\n"),
        ("tests/test_b.py", f"def load_tests(a):\n    class B({SUM}): pass\n"),
    ],
    ids=lambda value: value[:24].replace("\n", " "),
)
def test_what_is_too_deep_or_too_long_says_nothing(path: str, text: str) -> None:
    assert _recipes({path: text})


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".travis.yml", f"{ALIASES}python: *a39\n"),
        (".travis.yml", f"{ALIASES}addons: {{apt: {{packages: *a39}}}}\n"),
        (".github/workflows/ci.yml", f"{ALIASES}jobs: {{a: {{python-version: *a39}}}}\n"),
        (".travis.yml", MERGES),
        ("environment.yml", f"{ALIASES}dependencies: *a39\n"),
        ("setup.py", f"{SUMS}setup(name='a', install_requires=a)\n"),
        ("setup.py", f"{SPREAD}setup(name='a', install_requires=a)\n"),
        ("requirements-test.txt", f"{SELVES}b\n"),
        ("pyproject.toml", f"[dependency-groups]\ntest = [{{include-group = 'g0'}}]\n{GROUPS}"),
    ],
    ids=[
        *("aliases", "aliases of packages", "aliases in a job", "merges", "aliases for conda"),
        *("sums", "lists of lists", "a file that includes itself", "groups that include all"),
    ],
)
def test_what_names_itself_many_times_comes_to_an_end(path: str, text: str) -> None:
    """Each of these would hold the miner, or fill its memory, for ever."""
    assert _recipes({path: text})


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("Makefile", "apt -" * 200_000),
        ("Makefile", "-pip " * 200_000),
        ("Makefile", "{{" * 500_000),
        (".travis.yml", "py{" * 300_000),
        (".travis.yml", f"env: {{global: [{'a' * 500_000}]}}\n"),
        (".gitmodules", "\n" * 500_000),
        ("setup.cfg", "[options]\npackage_dir =\n" + "\n" * 500_000 + "  = src\n"),
        ("pytest.ini", "[pytest]\nrequired_plugins = a" + " " * 500_000 + "1\n"),
        ("requirements-test.txt", "a" + " " * 500_000 + "b\n"),
    ],
    ids=lambda value: value[:12].replace("\n", " "),
)
def test_no_text_takes_for_ever(path: str, text: str) -> None:
    """A time that is the square of a text's length would hold the miner."""
    assert _recipes({path: text})


@pytest.mark.parametrize("value", ["5", '"s"', "[[5]]", "{a=5}", "[{a=5}]"])
@pytest.mark.parametrize("path", KEYS)
def test_a_table_of_another_shape_says_nothing(path: str, value: str) -> None:
    for key in KEYS[path]:
        assert _recipes({path: f"{key} = {value}\n"}), key


@pytest.mark.parametrize("value", ["5", "s", "[[5]]", "{a: 5}", "[{a: 5}]"])
@pytest.mark.parametrize("path", [".github/workflows/ci.yml", ".travis.yml", "environment.yml"])
def test_yaml_of_another_shape_says_nothing(path: str, value: str) -> None:
    for shape in YAML_SHAPES:
        assert _recipes({path: shape.format(value)}), shape


def test_what_cannot_be_read_is_empty() -> None:
    assert toml("=") == {}
    for text in ("a: [", "!!bool a", '!!int ""', '!!float ""', "!!timestamp a", f"a: {LONG}"):
        assert yaml_document(text) is None, text
    assert ini("[a]\nb = 1\n[a\n").sections() == []
    assert table({"a": 5}, "a") == table([], "a") == {}
    assert words("a 'b c") == ["a", "'b", "c"]
