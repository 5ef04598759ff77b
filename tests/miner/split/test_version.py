"""Tags and files to "major.minor"."""

import pytest

from miner.split.version import METADATA_PATHS, module_paths, version_of_files, version_of_tag


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
    assert version_of_files({"f": text}, paths=["none", "f"]) == version


def test_the_first_file_that_says_it_counts() -> None:
    texts = {"c": "version = 3.1", "b": "version = 2.1", "a": "nothing"}
    assert version_of_files(texts, paths=["a", "b", "c"]) == "2.1"
    assert version_of_files(texts, paths=METADATA_PATHS) == "0.0"


def test_modules_worth_reading_in_order() -> None:
    paths = [
        "src/pkg/__init__.py",
        "pkg/_version.py",
        "setup.py",
        "a/b/c/__init__.py",
        "__init__.py",
    ]
    assert module_paths(paths) == ("pkg/_version.py", "src/pkg/__init__.py")
    assert len(module_paths([f"p{number}/__init__.py" for number in range(20)])) == 8
