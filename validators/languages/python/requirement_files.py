"""Lines of requirements: which files hold them, what tox asks for, which are not for tests."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from posixpath import normpath

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from validators.languages.python import documents

_TEST_WORD = re.compile(r"(^|[-_.])(unit)?(tests?|testing|pytest)([-_.]|$)")
_DEV_WORD = re.compile(r"(^|[-_.])(dev|devel|develop|development|ci|qa)([-_.]|$)")
_REQUIREMENTS = re.compile(r".*(require|deps).*\.(txt|in|pip)")
_IN_REQUIREMENTS = re.compile(r"(.*/)?(requires?|requirements?|reqs|deps)/[^/]+\.(txt|in|pip)")

_UNUSUAL = re.compile(
    r"(lowest|oldest|min\w*|dev\w*|main|master|nightly|pre\w*|trunk|latest|docs?)"
)
"""Factors of environments that install other versions than a user would."""

_OTHER_INDEX = re.compile(
    r"(-i\b|--index-url\b|--extra-index-url\b|-f\b|--find-links\b|--no-index\b)([\s=]*\S+)?"
)
_INCLUDED = re.compile(r"(?:-r|-c|--requirement|--constraint)[\s=]*(.+)")

_SPECIAL = re.compile(r"constraint|(^|/)(py(thon)?)?[23]\.?\d{1,2}/")
"""Files that require nothing by themselves, or that are for one Python."""

NOT_FOR_TESTS = frozenset(
    [
        *("sphinx", "furo", "mkdocs", "mkdocs-material", "tox", "nox", "twine", "build", "black"),
        *("flake8", "pylint", "mypy", "isort", "ruff", "pre-commit", "bumpversion", "bump2version"),
        *("check-manifest", "readme-renderer", "codecov", "coveralls", "python-coveralls"),
        *("tox-gh-actions", "tox-travis", "tox-uv", "sphinx-rtd-theme", "sphinx-autobuild"),
        *(
            "pyright",
            "pyroma",
            "pydocstyle",
            "pycodestyle",
            "towncrier",
            "zest-releaser",
            "watchdog",
        ),
        *("jupyter", "notebook", "jupyterlab", "commitizen", "poetry", "pipenv", "hatch", "pip"),
        *("autopep8", "yapf", "docformatter", "interrogate", "pyupgrade", "vulture", "bandit"),
        *("safety", "cibuildwheel", "pip-tools", "wheel", "virtualenv", "m2r", "recommonmark"),
        *("pytest-mypy", "pytest-flake8", "pytest-pycodestyle", "pytest-black", "pytest-isort"),
        *("pytest-pylint", "pytest-pep8", "pytest-flakes", "pytest-pydocstyle", "pytest-sugar"),
        *("pydata-sphinx-theme", "myst-parser", "releases", "semver", "pyinstaller", "codespell"),
    ]
)
"""Tools of a developers' list that no test runs; a test that imports one gets it by its import."""

_INCLUDED_MOST = 50
"""Files that a file includes, one in the other."""


def is_test_word(name: str) -> bool:
    """Names an extra, group or file of test requirements ("tests", "testing", "unit-test")."""
    return bool(_TEST_WORD.search(name.lower()))


def is_dev_word(name: str) -> bool:
    """Names an extra, group or file of developers' requirements."""
    return bool(_DEV_WORD.search(name.lower()))


def is_requirement_file(path: str) -> bool:
    """A requirements or constraints file, by its name and at most two folders deep."""
    parts = PurePosixPath(path).parts
    if len(parts) > 3:
        return False
    lowered = path.lower()
    return bool(_REQUIREMENTS.fullmatch(parts[-1].lower()) or _IN_REQUIREMENTS.fullmatch(lowered))


def test_requirement_files(paths: Iterable[str]) -> Sequence[str]:
    """The files of test requirements; those for developers when there are none."""
    files = [path for path in sorted(paths) if is_requirement_file(path) and not _is_docs(path)]
    files = [path for path in files if not _SPECIAL.search(path.lower())]
    for is_word in (is_test_word, is_dev_word):
        if found := [path for path in files if is_word(_stem(path))]:
            return _without_compiled_twins(found)
    return ()


def lines(text: str) -> Sequence[str]:
    """The requirements a file holds, without comments, hashes and options but -r and -c."""
    joined = re.sub(r"\\\r?\n", " ", text)
    found = []
    for raw in joined.splitlines():
        line = re.sub(r"(^|\s)#.*$", "", raw).strip()
        line = re.split(r"\s--hash", line)[0].strip()
        if line and (not line.startswith("-") or line.startswith(("-r", "-c", "--requirement"))):
            found.append(line)
    return tuple(found)


def tox_lines(text: str) -> Sequence[str]:
    """What `[testenv]` (or another environment that runs tests) of a tox.ini installs."""
    parser = documents.ini(text)
    if not parser.has_option("testenv", "deps"):
        return ()
    found = []
    for line in lines(parser.get("testenv", "deps")):
        factors, bare = _split_factors(line)
        if not _is_usual(factors):
            continue
        bare = re.sub(r"\{(toxinidir|tox_root)\}/?", "", bare)
        if "{" not in bare and not bare.startswith((".", "-e")):
            found.append(re.sub(r"^(-[rc])\s*", r"\1 ", bare))
    return tuple(found)


def _split_factors(line: str) -> tuple[Sequence[str], str]:
    """ "py{36,37}-lowest: mock" → its factors and the requirement."""
    match = re.match(r"([\w{},.!-]+):\s+(.*)", line)
    if match is None:
        return (), line
    return tuple(filter(None, re.split(r"[{},-]+", match.group(1)))), match.group(2)


def _is_usual(factors: Sequence[str]) -> bool:
    """Whether a line is for an ordinary environment of a Python that we have."""
    if any(_UNUSUAL.fullmatch(factor) for factor in factors):
        return False
    # in py{36,37} the braces leave bare numbers behind
    pythons = [factor for factor in factors if re.fullmatch(r"(py|pypy|jython)?\d[\d.]*", factor)]
    return not pythons or any(re.fullmatch(r"(py)?3\.?([6-9]|1\d)", each) for each in pythons)


def is_unusual(stem: str) -> bool:
    """A file of other versions than a user would get ("constraints-lowest", "dev")."""
    return any(_UNUSUAL.fullmatch(word) for word in re.split(r"[-_.]", stem.lower()))


def tox_extras(text: str) -> Sequence[str]:
    """The extras with which `[testenv]` installs the project."""
    parser = documents.ini(text)
    extras = parser.get("testenv", "extras", fallback="")
    in_deps = re.findall(r"\.\[([\w,. -]+)\]", parser.get("testenv", "deps", fallback=""))
    names = re.split(r"[\s,]+", " ".join((extras, *in_deps)))
    return tuple(dict.fromkeys(name for name in names if re.fullmatch(r"[\w.-]+", name)))


def without_tools(requirements: Iterable[str]) -> Sequence[str]:
    """A developers' list without what no test runs."""
    named = [(requirement_name(line) or "", line) for line in requirements]
    return tuple(
        line
        for name, line in named
        if name not in NOT_FOR_TESTS and not name.startswith(("types-", "sphinx", "pallets-sphinx"))
    )


def requirement_name(line: str) -> str | None:
    """The canonical distribution name of a PEP 508 line; None for options, paths and URLs."""
    try:
        return canonicalize_name(Requirement(line).name)
    except InvalidRequirement:
        return None


def expand(path: str, files: Mapping[str, str]) -> Sequence[str]:
    """The lines of a requirements file with the files it includes, as far as they are known.

    A file that is included again adds nothing: each could include all of them, itself too.
    """
    return tuple(line for line in _expanded(path, files, set()) if not line.startswith("-"))


def _expanded(path: str, files: Mapping[str, str], met: set[str]) -> Iterator[str]:
    if path in met or path not in files or len(met) == _INCLUDED_MOST:
        return
    met.add(path)
    for line in lines(files[path]):
        match = re.match(r"(?:-r|--requirement)[\s=]*(.+)", line)
        if match is None:
            yield line
        else:
            target = _join(PurePosixPath(path).parent, match.group(1).strip())
            yield from _expanded(target, files, met)


def from_elsewhere(path: str, files: Mapping[str, str]) -> str | None:
    """A line of a requirements file, or of one that it includes, that wants something from neither
    the index nor the tree: another index, a file outside. None when there is none."""
    waiting = [path]
    met = {path}
    while waiting:
        here = waiting.pop()
        for line in map(str.strip, files.get(here, "").splitlines()):
            if (match := _OTHER_INDEX.match(line)) is not None:
                return match.group()
            if (match := _INCLUDED.match(line)) is None:
                continue
            target = normpath(PurePosixPath(here).parent / match.group(1).strip())
            if target.startswith(("../", "/")) or "://" in line:
                return line
            if target not in met:
                met.add(target)
                waiting.append(target)
    return None


def _join(folder: PurePosixPath, name: str) -> str:
    parts: list[str] = []
    for part in (*folder.parts, *PurePosixPath(name).parts):
        if part == ".." and parts:
            parts.pop()
        elif part not in {".", ".."}:
            parts.append(part)
    return "/".join(parts)


def _stem(path: str) -> str:
    parts = PurePosixPath(path).parts
    # "tests/requirements.txt" says by its folder what it is for
    return "-".join((*parts[:-1], PurePosixPath(path).stem))


def _is_docs(path: str) -> bool:
    return bool(re.search(r"(^|[-_./])docs?([-_./]|$)", path.lower()))


def _without_compiled_twins(paths: Sequence[str]) -> Sequence[str]:
    """Of `x.in` and the `x.txt` compiled from it, what people wrote."""
    written = {path.removesuffix(".in") for path in paths if path.endswith(".in")}
    return tuple(
        path for path in paths if path.rpartition(".")[0] not in written or path.endswith(".in")
    )
