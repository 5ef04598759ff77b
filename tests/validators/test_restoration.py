"""What is put back before a model's run, as pure rules."""

import configparser
import tomllib
from dataclasses import replace

import pytest

from validators.languages import LANGUAGES
from validators.restoration import Change, Surroundings, is_protected, merged, plan

PYTHON = LANGUAGES["python"]
SURROUNDINGS = Surroundings(
    language=PYTHON,
    packages=("pytest==9.0", "PyYAML==6.0", "attrs==24.1", "calc @ file:///testbed"),
    final_paths=frozenset({"calc/__init__.py", "tests/test_a.py", "src/attrs/__init__.py"}),
)


def only_in_model(path: str) -> Change:
    return Change(path=path, in_model=True, in_final=False)


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py",
        "calc/conftest.py",
        "pytest.ini",
        "sub/pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        "sitecustomize.py",
        "src/usercustomize.py",
        "x.pth",
        "evil.egg-info/entry_points.txt",
        "src/evil-1.dist-info/METADATA",
        "tests/test_mine.py",
        "tests/__init__.py",
        "tests/data/x.json",
        "calc/__pycache__/__init__.cpython-312.pyc",
        "pytest.py",
        "_pytest/__init__.py",
        "json.py",
        "src/typing.py",
        "lib/unittest/__init__.py",
        "pyyaml.py",
        ".env",
        ".coveragerc",
    ],
)
def test_what_a_patch_may_not_add_is_removed_with_a_note(path: str) -> None:
    found = plan([only_in_model(path)], SURROUNDINGS)
    assert found.remove == (path,)
    (note,) = found.notes
    assert note.startswith(f"removed {path}: ")


@pytest.mark.parametrize(
    "path",
    [
        "calc/new.py",
        "calc/json.py",
        "calc/pytest.py",
        "docs/conftest.md",
        "new_package/__init__.py",
        "src/attrs/extra.py",  # the project itself
        "calc/testing.py",
        "latest.py",
        "README.rst",
    ],
)
def test_honest_additions_stay(path: str) -> None:
    assert plan([only_in_model(path)], SURROUNDINGS) == plan([], SURROUNDINGS)


@pytest.mark.parametrize(
    "path", ["yaml/__init__.py", "yaml.py", "src/_yaml.pyi", "lib/six.py", "speedups.so"]
)
def test_a_module_is_not_shadowed_whatever_its_package_is_called(path: str) -> None:
    lying = ("yaml", "_yaml", "six.py", "speedups.cpython-312-x86_64-linux-gnu.so")
    installed = replace(SURROUNDINGS, installed=(*lying, "PyYAML-6.0.dist-info", "new.libs"))
    assert plan([only_in_model(path)], installed).remove == (path,)
    honest = [only_in_model("new/__init__.py"), only_in_model("calc/yaml.py")]
    assert plan(honest, installed).remove == ()


def test_changed_and_deleted_tests_are_restored() -> None:
    changes = [
        Change(path="tests/test_a.py", in_model=True, in_final=True),
        Change(path="tests/test_b.py", in_model=False, in_final=True),
        Change(path="calc/__init__.py", in_model=True, in_final=True),
        Change(path="calc/gone.py", in_model=False, in_final=True),
    ]
    found = plan(changes, SURROUNDINGS)
    assert found.restore == ("tests/test_a.py", "tests/test_b.py")
    assert found.remove == ()


def test_what_stands_where_tests_are_goes() -> None:
    changes = [
        Change(path="checks/tests/test_a.py", in_model=False, in_final=True),
        only_in_model("checks"),
    ]
    found = plan(changes, SURROUNDINGS)
    assert found.remove == ("checks",)
    assert found.restore == ("checks/tests/test_a.py",)


def test_shared_configuration_is_merged_also_where_the_model_deletes_it() -> None:
    changes = [
        Change(path="setup.cfg", in_model=True, in_final=True),
        only_in_model("tox.ini"),
        Change(path="pyproject.toml", in_model=False, in_final=True),
    ]
    found = plan(changes, SURROUNDINGS)
    assert found.merge == ("pyproject.toml", "setup.cfg", "tox.ini")
    assert found.restore == ()


def test_rules_go_by_path_component() -> None:
    assert is_protected("tests/test_a.py", PYTHON)
    assert not is_protected("contest/latest.py", PYTHON)


FINAL_TOML = (
    '[project]\nname = "a"\n\n[tool.pytest.ini_options]\naddopts = "-ra"\n\n[tool.x]\ny = 1\n'
)


def test_other_changes_of_a_shared_file_stay() -> None:
    model = FINAL_TOML.replace('name = "a"', 'name = "b"')
    assert merged("pyproject.toml", model=model, final=FINAL_TOML) is None


@pytest.mark.parametrize(
    "model",
    [
        FINAL_TOML.replace('"-ra"', '"-p evil"'),
        FINAL_TOML.replace('[tool.pytest.ini_options]\naddopts = "-ra"\n', ""),
        FINAL_TOML + '\n[project.entry-points.pytest11]\nevil = "evil"\n',
        FINAL_TOML + '\n[project.entry-points."pytest11"]\nevil = "evil"\n',
        'tool.pytest.ini_options.addopts = "-p evil"\n[project]\nname = "a"\n',
        '[project]\nname = "a"\n[tool]\npytest = {ini_options = {addopts = "-p evil"}}\n',
        "this is no toml [",
    ],
)
def test_test_tables_are_the_final_states(model: str) -> None:
    text = merged("pyproject.toml", model=model, final=FINAL_TOML)
    assert text is not None
    parsed = tomllib.loads(text)
    assert parsed["tool"]["pytest"] == {"ini_options": {"addopts": "-ra"}}
    assert "pytest11" not in parsed["project"].get("entry-points", {})


def test_merging_keeps_the_models_own_tables() -> None:
    model = FINAL_TOML.replace('"-ra"', '"-p evil"').replace("y = 1", "y = 2")
    text = merged("pyproject.toml", model=model, final=FINAL_TOML)
    assert text is not None
    assert tomllib.loads(text)["tool"]["x"] == {"y": 2}


@pytest.mark.parametrize(
    "model",
    [
        "[metadata]\nname = b\n[tool:pytest]\naddopts = -p evil\n",
        "[metadata]\nname = b\n[tool:pytest]  # mine\naddopts = -p evil\n",
        "[metadata]\nname = b\n[tool:pytest]\naddopts = -ra\n[tool:pytest]\naddopts = -p evil\n",
        "[metadata]\nname = b\n[pytest]\naddopts = -p evil\n",
    ],
)
def test_test_sections_of_ini_files(model: str) -> None:
    final = "[metadata]\nname = a\n[tool:pytest]\naddopts = -ra\n"
    text = merged("setup.cfg", model=model, final=final)
    assert text is not None
    parser = configparser.RawConfigParser()
    parser.read_string(text)
    assert dict(parser["tool:pytest"]) == {"addopts": "-ra"}
    assert not parser.has_section("pytest")


def test_entry_points_of_setup_cfg() -> None:
    final = "[metadata]\nname = a\n"
    model = final + "[options.entry_points]\npytest11 =\n    evil = evil\n"
    text = merged("setup.cfg", model=model, final=final)
    assert text == final
    honest = final + "[options.entry_points]\nconsole_scripts =\n    a = a:main\n"
    assert merged("setup.cfg", model=honest, final=final) is None


def test_a_deleted_file_comes_back_with_its_test_sections_alone() -> None:
    final = "[metadata]\nname = a\n[tool:pytest]\naddopts = -ra\n"
    assert (merged("setup.cfg", model="", final=final) or "").split() == [
        "[tool:pytest]",
        "addopts",
        "=",
        "-ra",
    ]
    assert merged("setup.cfg", model="", final="[metadata]\nname = a\n") is None


def test_a_new_file_loses_only_its_test_sections() -> None:
    model = "[metadata]\nname = a\n[tool:pytest]\naddopts = -p evil\n"
    assert (merged("setup.cfg", model=model, final="") or "").strip() == "[metadata]\nname = a"
