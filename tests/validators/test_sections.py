"""The test sections of shared configuration are the final state's, the rest the model's."""

import configparser
import tomllib

import pytest

from validators.sections import merged

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


@pytest.mark.parametrize("table", ["tool.pytest_env", "tool.coverage.run", "tool.inline-snapshot"])
def test_tables_of_the_runners_plug_ins_are_the_final_states(table: str) -> None:
    model = FINAL_TOML + f'\n[{table}]\nplugins = ["evil"]\n'
    text = merged("pyproject.toml", model=model, final=FINAL_TOML)
    assert text is not None
    assert tomllib.loads(text) == tomllib.loads(FINAL_TOML)


def test_what_cannot_be_read_is_the_final_states() -> None:
    final = "no header\n[tool:pytest]\naddopts = -ra\n"
    assert merged("setup.cfg", model=final.replace("-ra", "-p evil"), final=final) == final
    assert merged("setup.cfg", model=final, final=final) is None


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
        "[metadata]\nname = b\n[tool:pytest] # ]\naddopts = -p evil\n",
        "[metadata]\nname = b\n[tool:pytest] ; ]\naddopts = -p evil\n",
        "[metadata]\nname = b\r[tool:pytest]\raddopts = -p evil\r",
        "[metadata]\nname = b\n# x\x0c[tool:pytest]\x0caddopts = -p evil",
        "[metadata]\nname = b\n# x\u2028[tool:pytest]\u2028addopts = -p evil",
        "[metadata]\nname = b\n[tool:pytest]\nADDOPTS = -ra\n",
    ],
)
def test_test_sections_of_ini_files(model: str) -> None:
    final = "[metadata]\nname = a\n[tool:pytest]\naddopts = -ra\n"
    text = merged("setup.cfg", model=model.encode().decode("latin-1"), final=final)
    assert text is not None
    parser = configparser.RawConfigParser()
    parser.optionxform = str  # type: ignore[assignment, method-assign]  # as documented
    parser.read_string("\n".join(text.splitlines()))
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


LONG = 400_000


@pytest.mark.parametrize(
    "model",
    ["a = " + "[" * LONG, "a = " + "9" * LONG, "a" + " " * LONG + "b", "[" + " " * LONG + "x"],
    ids=["too deep", "too large", "wide", "an open header"],
)
@pytest.mark.parametrize("name", ["pyproject.toml", "setup.cfg"])
def test_no_text_raises_or_takes_for_ever(name: str, model: str) -> None:
    """What does would keep a patch out of the score."""
    final = FINAL_TOML if name.endswith(".toml") else "[tool:pytest]\naddopts = -ra\n"
    assert merged(name, model=model, final=final) is not None
