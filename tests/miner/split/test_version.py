"""Tags and files to "major.minor"."""

import pytest

from miner.split.version import version_of_files, version_of_tag, version_paths


@pytest.mark.parametrize(
    ("tag", "version"),
    [
        ("v8.1.7", "8.1"),
        ("8.1", "8.1"),
        ("release-8.1rc1", "8.1"),
        ("REL_4_12_3", "4.12"),
        ("pkg@0.13.2", "0.13"),
        ("v3", "3.0"),
        ("2023.01.02", "2023.1"),
        ("stable", None),
    ],
)
def test_tags(tag: str, version: str | None) -> None:
    assert version_of_tag(tag) == version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('[project]\nversion = "1.2.3"\n', "1.2"),
        ("[metadata]\nversion = 4.5\n", "4.5"),
        ("setup(\n    name='x',\n    version='0.9.1',\n)\n", "0.9"),
        ("Metadata-Version: 2.1\nName: x\nVersion: 7.8.9\n", "7.8"),
        ('__version__: str = "v2.0b1"\n', "2.0"),
        ('requires = ["x>=1.2"]\npython_version = "3.8"\n', "0.0"),
        ("version = attr: x.__version__\n", "0.0"),
    ],
)
def test_files(text: str, version: str) -> None:
    assert version_of_files({"f": text}) == version


def test_the_first_file_that_says_it_counts() -> None:
    assert version_of_files({"a": "nothing", "b": "version = 2.1", "c": "version = 3.1"}) == "2.1"


def test_paths_worth_reading_in_order() -> None:
    paths = [
        "src/pkg/__init__.py",
        "pkg/_version.py",
        "setup.py",
        "a/b/c/__init__.py",
        "pyproject.toml",
        "__init__.py",
    ]
    assert version_paths(paths) == (
        "pyproject.toml",
        "setup.py",
        "pkg/_version.py",
        "src/pkg/__init__.py",
    )
