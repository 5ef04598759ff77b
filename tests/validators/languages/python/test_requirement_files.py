"""Lines of requirements, wherever projects keep them."""

import pytest

from validators.languages.python import requirement_files as requirements


@pytest.mark.parametrize(
    ("paths", "chosen"),
    [
        (["requirements.txt", "requirements-test.txt"], ("requirements-test.txt",)),
        (["requirements/dev.txt", "requirements/tests.txt"], ("requirements/tests.txt",)),
        (["tests/requirements.txt", "docs/requirements.txt"], ("tests/requirements.txt",)),
        (["dev-requirements.txt"], ("dev-requirements.txt",)),
        (["requirements_dev.txt", "latest-requirements.txt"], ("requirements_dev.txt",)),
        (["requirements/tests.in", "requirements/tests.txt"], ("requirements/tests.in",)),
        (["requirements.txt"], ()),
        (["tests/res/test.txt", "tests/dev.txt"], ()),  # data
        (["reqs/test-py39.txt", "reqs/docs.txt"], ("reqs/test-py39.txt",)),
        (["test-constraints.txt"], ()),
        (["requirements/3.3/requirements-test.txt"], ()),
    ],
)
def test_files_of_test_requirements_are_found(paths: list[str], chosen: tuple[str, ...]) -> None:
    assert tuple(requirements.test_requirement_files(paths)) == chosen


def test_lines_lose_comments_hashes_and_options() -> None:
    text = "# c\na==1 \\\n    --hash=sha256:00\nb  # why\n--index-url x\n-e .\n-r more.txt\n\n"
    assert requirements.lines(text) == ("a==1", "b", "-r more.txt")


def test_included_files_are_followed_and_circles_end() -> None:
    files = {
        "r/test.txt": "-r base.txt\n-r ../x.txt\nmock",
        "r/base.txt": "six",
        "x.txt": "-r x.txt",
    }
    assert requirements.expand("r/test.txt", files) == ("six", "mock")


def test_tox_deps_lose_factors_and_places() -> None:
    text = """
[testenv]
deps =
    pytest
    py27: mock
    py{36,37}: sh
    lowest: mock==1.0
    !py27: six
    -r{toxinidir}/requirements/test.txt
    {[base]deps}
    .[test]
[testenv:docs]
deps = sphinx
"""
    assert requirements.tox_lines(text) == ("pytest", "sh", "six", "-r requirements/test.txt")


def test_a_broken_tox_ini_tells_nothing() -> None:
    assert requirements.tox_lines("deps = x") == ()


def test_tools_that_no_test_runs_are_left_out() -> None:
    wanted = requirements.without_tools(["Sphinx>=1", "pytest", "flake8", "types-PyYAML", "mock"])
    assert wanted == ("pytest", "mock")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("--index-url https://x.invalid/simple\nsix", "--index-url https://x.invalid/simple"),
        ("six\n  --extra-index-url=https://x.invalid", "--extra-index-url=https://x.invalid"),
        ("-i https://x.invalid", "-i https://x.invalid"),
        ("-f wheels/", "-f wheels/"),
        ("--no-index", "--no-index"),
        ("-r more.txt", "--find-links=/mnt"),
        ("-r ../../etc/passwd", "-r ../../etc/passwd"),
        ("-c /etc/passwd", "-c /etc/passwd"),
        ("-r https://x.invalid/r.txt", "-r https://x.invalid/r.txt"),
        ("-r ../needs/../needs/needs.txt\n" * 500, None),  # circles: no walk in each
        ("--no-binary :all:\n--pre\nindex-url\nsix --hash=sha256:00\n-c gone.txt", None),
    ],
)
def test_what_is_wanted_from_elsewhere_is_told_wherever_it_stands(
    text: str, line: str | None
) -> None:
    files = {"needs/needs.txt": text, "needs/more.txt": "a\n--find-links=/mnt\n"}
    assert requirements.from_elsewhere("needs/needs.txt", files) == line


def test_a_long_row_of_files_is_followed_to_its_end() -> None:
    files = {f"{number}.txt": f"-r {number + 1}.txt" for number in range(2000)}
    assert requirements.from_elsewhere("0.txt", files) is None
    assert requirements.from_elsewhere("0.txt", {**files, "2000.txt": "--no-index"}) == "--no-index"
