"""Facts from every place where Python projects declare them."""

import pytest

from validators.languages.python.manifest import read_manifest

CASES = {
    "PEP 621": (
        '[project]\nname = "a"\nrequires-python = ">=3.9"\n'
        'classifiers = ["Programming Language :: Python :: 3.9"]\n'
        '[project.optional-dependencies]\ntests = ["pytest"]\n'
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
    ),
    "poetry": (
        '[tool.poetry]\nname = "a"\nclassifiers = ["Programming Language :: Python :: 3.9"]\n'
        '[tool.poetry.dependencies]\npython = ">=3.9"\n[tool.poetry.extras]\ntests = ["pytest"]\n'
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
    ),
    "flit": (
        '[tool.flit.metadata]\nmodule = "a"\nrequires-python = ">=3.9"\n'
        'classifiers = ["Programming Language :: Python :: 3.9"]\n'
        '[tool.flit.metadata.requires-extra]\ntests = ["pytest"]\n'
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
    ),
}


@pytest.mark.parametrize("kind", CASES)
def test_pyproject_of_every_kind_says_the_same(kind: str) -> None:
    manifest = read_manifest({"pyproject.toml": CASES[kind]})
    assert manifest.installable
    assert manifest.requires_python == ">=3.9"
    assert manifest.classifiers == ("Programming Language :: Python :: 3.9",)
    assert list(manifest.extras) == ["tests"]
    assert manifest.backend == "hatchling.build"


@pytest.mark.parametrize(
    "text",
    [
        '[dependency-groups]\nbase = ["mock"]\ntest = ["pytest", {include-group = "base"}]\n',
        '[tool.pdm.dev-dependencies]\ntest = ["pytest", "mock"]\n',
        '[tool.hatch.envs.test]\ndependencies = ["pytest"]\nextra-dependencies = ["mock"]\n',
        '[tool.poetry.group.test.dependencies]\npytest = "*"\nmock = "*"\n',
    ],
)
def test_groups_of_every_tool_are_read(text: str) -> None:
    assert read_manifest({"pyproject.toml": text}).groups["test"] == ("pytest", "mock")


def test_groups_that_include_themselves_end() -> None:
    text = '[dependency-groups]\ntest = ["a", {include-group = "test"}]\n'
    assert "a" in read_manifest({"pyproject.toml": text}).groups["test"]


def test_setup_cfg_is_read_where_pyproject_is_silent() -> None:
    manifest = read_manifest({
        "pyproject.toml": '[build-system]\nrequires = ["setuptools"]\n',
        "setup.cfg": (
            "[metadata]\nname = a\n[options]\npython_requires = >=3.6\npackage_dir =\n    =src\n"
            "tests_require =\n    pytest\n    mock\n[options.extras_require]\ntest =\n    six\n"
        ),
        "setup.py": "from setuptools import setup\nsetup()\n",
    })  # fmt: skip
    assert manifest.name == "a"
    assert manifest.requires_python == ">=3.6"
    assert manifest.tests_require == ("pytest", "mock")
    assert manifest.extras == {"test": ("six",)}
    assert manifest.folders == ("src",)


def test_a_tool_table_alone_is_no_project() -> None:
    assert not read_manifest({"pyproject.toml": "[tool.black]\nline-length = 9\n"}).installable


def test_compiled_and_converted_projects_are_told() -> None:
    manifest = read_manifest({"setup.py": "setup(name='a', ext_modules=[e], use_2to3=True)"})
    assert manifest.compiled
    assert manifest.uses_2to3


@pytest.mark.parametrize("name", ["pyproject.toml", "setup.cfg", "setup.py"])
def test_a_broken_file_tells_nothing(name: str) -> None:
    assert read_manifest({name: "]=(["}).name is None


@pytest.mark.parametrize(
    ("folders", "scattered"),
    [
        ("{'': 'src'}", False),
        ("{'': '.'}", False),
        ("{'a': 'a'}", False),
        ("{'a': './src/a', 'a.b': 'src/a/b'}", False),
        ("{'a': 'source'}", True),
        ("{'a': '.'}", True),
        ("{'a': 'one/a', 'b': 'two/b'}", True),
        ("{'a': 'xa'}", True),
    ],
)
def test_packages_that_no_one_folder_holds_are_told(folders: str, *, scattered: bool) -> None:
    script = {"setup.py": f"setup(name='a', package_dir={folders})"}
    assert read_manifest(script).scattered is scattered
    lines = folders.strip("{}").replace("'", "").replace(":", " =").split(", ")
    config = "[metadata]\nname = a\n[options]\npackage_dir =\n  " + "\n  ".join(lines)
    assert read_manifest({"setup.cfg": config}).scattered is scattered
    document = f"[tool.setuptools]\npackage-dir = {folders.replace(':', ' =')}\n"
    assert read_manifest({"pyproject.toml": document.replace("'a.b'", '"a.b"')}).scattered is (
        scattered
    )
