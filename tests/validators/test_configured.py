"""Plug-ins and folders are read off the configuration as pytest reads it."""

import pytest

from validators.configured import Configured, configured


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pytest.ini", "[pytest]\naddopts = -ra -p tools.plug\n"),
        ("pytest.ini", "[pytest]\naddopts =\n    -ra\n    -ptools.plug\n"),
        ("tox.ini", "[tox]\nenvlist = py\n[pytest]\naddopts = -p 'tools.plug'\n"),
        ("setup.cfg", "[mypy]\nx = -p calc\n[tool:pytest]\naddopts = -p tools.plug\n"),
        ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = ["-p", "tools.plug"]\n'),
        ("pyproject.toml", '[tool.pytest]\naddopts = ["-ptools.plug"]\n'),
        ("pytest.toml", '[pytest]\naddopts = ["-p", "tools.plug"]\n'),
        (".pytest.toml", '[pytest]\naddopts = "-p tools.plug -p no:cacheprovider"\n'),
    ],
)
def test_plug_ins_that_options_name(name: str, text: str) -> None:
    assert configured({name: text}, "") == Configured(
        plugins=("tools/plug",), early=("tools/plug",)
    )


@pytest.mark.parametrize(
    "text",
    [
        'pytest_plugins = ["tools.plug"]\n',
        'pytest_plugins = "tools.plug"\n',
        "pytest_plugins = (\n    'tools.plug',  # what tests are given\n)\nx = ['no.more']\n",
        "pytest_plugins: list[str] = [\n    'tools.plug',\n]\n",
    ],
)
def test_plug_ins_that_conftests_name(text: str) -> None:
    assert configured({}, text) == Configured(plugins=("tools/plug",))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pytest.ini", "[pytest]\nDJANGO_SETTINGS_MODULE = proj.settings\n"),
        ("setup.cfg", "[tool:pytest]\naddopts = -ra --ds=proj.settings\n"),
        ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = ["--ds", "proj.settings"]\n'),
        ("pyproject.toml", '[tool.pytest]\nDJANGO_SETTINGS_MODULE = "proj.settings"\n'),
    ],
)
def test_settings_are_named_and_not_early(name: str, text: str) -> None:
    assert configured({name: text}, "") == Configured(plugins=("proj/settings",))


@pytest.mark.parametrize(
    "text",
    [
        'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "proj.settings")\n',
        "    os.environ['DJANGO_SETTINGS_MODULE'] = 'proj.settings'\n",
    ],
)
def test_settings_that_conftests_name(text: str) -> None:
    assert configured({}, text) == Configured(plugins=("proj/settings",))


def test_files_of_variables_lie_beside_the_configuration() -> None:
    text = "[pytest]\nenv_files =\n    .test.env\n    ../x.env\naddopts = --ds\n"
    assert configured({"sub/pytest.ini": text}, "") == Configured(files=("sub/.test.env", "x.env"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pytest.ini", "[pytest]\npythonpath = tools src/x\n"),
        ("pyproject.toml", '[tool.pytest.ini_options]\npythonpath = ["tools", "src/x"]\n'),
    ],
)
def test_folders_to_import_from(name: str, text: str) -> None:
    assert configured({name: text}, "") == Configured(folders=("tools", "src/x"))
    assert configured({f"sub/{name}": text}, "").folders == ("sub/tools", "sub/src/x")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "this is no toml ["),
        ("pyproject.toml", "tool = 1"),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = [1, true]\npythonpath = 3\n"),
        ("setup.cfg", "no section"),
        ("tox.ini", "[testenv]\ncommands = mypy -p calc\n"),
        ("pytest.ini", "[pytest]\naddopts = -p 'no end\n"),
    ],
)
def test_what_names_none(name: str, text: str) -> None:
    assert configured({name: text}, "pytest_plugins = make()\n").folders == ()
