"""Poetry's carets and tildes in the words of PEP 440."""

import pytest
from packaging.requirements import Requirement

from validators.languages.python.poetry import groups, python_specifier, requirements


@pytest.mark.parametrize(
    ("constraint", "admits", "refuses"),
    [
        ("^1.2.3", "1.9", "2.0"),
        ("^0.2.3", "0.2.9", "0.3.0"),
        ("^0.0.3", "0.0.3", "0.0.4"),
        ("~1.2", "1.2.9", "1.3"),
        ("1.2.3", "1.2.3", "1.2.4"),
        ("1.*", "1.5", "2.0"),
        (">=1,<3", "2", "3"),
        (">=1 <3", "2", "3"),
        ("^1 || ^2", "2.1", "3"),
    ],
)
def test_a_constraint_admits_the_same_versions(constraint: str, admits: str, refuses: str) -> None:
    (line,) = groups({"dev-dependencies": {"pkg": constraint}})["dev"]
    specifier = Requirement(line).specifier
    assert admits in specifier
    assert refuses not in specifier


def test_groups_old_and_new_are_read() -> None:
    table = {
        "dev-dependencies": {"pytest": "^7"},
        "group": {"test": {"dependencies": {"mock": {"version": "^4", "extras": ["build"]}}}},
    }
    assert groups(table) == {"dev": ("pytest>=7,<8",), "test": ("mock[build]>=4,<5",)}


def test_sources_off_the_index_are_left_out() -> None:
    table = {"dev-dependencies": {"a": {"git": "https://x.invalid/a"}, "python": "^3.8", "b": "*"}}
    assert groups(table)["dev"] == ("b",)


def test_poetrys_python_is_a_specifier() -> None:
    assert python_specifier("^3.8") == ">=3.8,<4"
    assert python_specifier("*") is None


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ({"markers": "sys_platform == 'win32'"}, 'a; sys_platform == "win32"'),
        ({"sys_platform": "== 'win32'"}, 'a; sys_platform == "win32"'),
        ({"platform": "darwin", "version": "^1"}, 'a>=1,<2; sys_platform == "darwin"'),
        ({"python": "<3.8"}, 'a; python_version < "3.8"'),
        ({"python": "^3.8"}, 'a; python_version >= "3.8" and python_version < "4"'),
        ({"markers": "no marker"}, "a"),
        ({"python": "*"}, "a"),
    ],
)
def test_where_a_requirement_holds_is_its_marker(entry: dict[str, str], line: str) -> None:
    assert requirements({"a": entry}) == (line,)
    Requirement(line)


def test_alternatives_are_one_line_each() -> None:
    wanted = [{"version": "1", "python": "<3.8"}, {"version": "2", "python": ">=3.8"}]
    assert requirements({"a": wanted}) == (
        'a==1; python_version < "3.8"',
        'a==2; python_version >= "3.8"',
    )
