"""Environment variables that a project's own tox and CI give its tests."""

import re
from collections.abc import Iterator, Mapping

from validators.languages.python import documents
from validators.languages.python.documents import table

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_NOT_TO_SET = re.compile(
    r"PYTHON(?!PATH$).*|\w+_PYTHON(_\w+)?|PYTEST.*|PIP.*|UV_.*|TOX.*|NOX.*|COV.*|VIRTUALENV.*|PATH|HOME|CI|USER|SHELL"
    r"|(FORCE|NO|PY|CLI)_?COLOR.*|TERM|COLUMNS|LINES|LD_.*|LANG|LC_.*|TZ|DEBIAN_.*|GITHUB_.*"
    r"|CIBW_.*|MACOSX_.*|HOMEBREW.*|CONDA.*|MAMBA.*|POETRY.*|PDM_.*|HATCH_.*|PRE_COMMIT.*|SETUPTOOLS_.*"
    r"|TRAVIS.*|CODECOV.*|NODE_.*|NPM_.*|CC|CXX|C(XX|PP)?FLAGS|LDFLAGS|ARCHFLAGS|MAKEFLAGS|OS|ARCH"
    r"|.*(TOKEN|SECRET|PASSWORD|_KEY|COVERAGE|_HOST|_PORT|_UR[IL]|CACHE).*"
)
"""Names of the runner, of installers, of the machine, of services and of secrets: none of the
project's business here."""

_TESTS = re.compile(
    r"(?<![\w-])(py\.?test|tox|nox|unittest|nosetests|manage\.py|make|hatch)\b|test"
)
_MOST = 200


def variables(files: Mapping[str, str], tox: str) -> tuple[tuple[str, str], ...]:
    """What tox's `[testenv]` sets and CI gives to jobs that test; tox's word is the last.

    `tox` is the text of a tox.ini. Left out is what depends on where it is run, what CI's jobs do
    not agree on, and what belongs to the runner.
    """
    return tuple(sorted({**_of_ci(files), **_of_tox(tox)}.items()))


def _of_tox(text: str) -> Mapping[str, str]:
    parser = documents.ini(text)
    pairs = [line.partition("=") for line in
             parser.get("testenv", "setenv", fallback="").splitlines()]  # fmt: skip
    return {name: value for left, _, right in pairs
            if _is_meant(name := left.strip(), value := right.strip())}  # fmt: skip


def _of_ci(files: Mapping[str, str]) -> Mapping[str, str]:
    found: dict[str, set[str]] = {}
    for path, text in files.items():
        of_workflow = path.startswith(".github/workflows/")
        if not of_workflow and path != ".travis.yml":
            continue
        document = documents.yaml_document(text)
        for name, value in _workflow(document) if of_workflow else _travis(document):
            found.setdefault(name, set()).add(value)
    single = {name: values.pop() for name, values in found.items() if len(values) == 1}
    return {name: value for name, value in single.items() if _is_meant(name, value)}


def _workflow(document: object) -> Iterator[tuple[str, str]]:
    """The variables of jobs with a step that tests: the workflow's, the job's, the step's."""
    for job in table(document, "jobs").values():
        steps = job.get("steps") if isinstance(job, dict) else None
        listed = steps if isinstance(steps, list) else []
        dicts = [step for step in listed if isinstance(step, dict)]
        testing = [step for step in dicts if _TESTS.search(str(step.get("run", "")))]
        for holder in (document, job, *testing) if testing else ():
            yield from _pairs(table(holder, "env"))


def _travis(document: object) -> Iterator[tuple[str, str]]:
    """`env: global:`; the lines of `env: matrix:` are one of many each."""
    lines = table(document, "env").get("global")
    for line in lines if isinstance(lines, list) else [lines]:
        if isinstance(line, str):
            yield from re.findall(r"\b([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|\S+)", line)
        else:
            yield from _pairs(line)


def _pairs(table: object) -> Iterator[tuple[str, str]]:
    for name, value in table.items() if isinstance(table, dict) else ():
        if isinstance(value, bool):
            yield str(name), str(value).lower()  # what a shell is given for YAML's true
        elif isinstance(value, str | int | float):
            yield str(name), str(value)


def _is_meant(name: str, value: str) -> bool:
    if not _VARIABLE.fullmatch(name) or _NOT_TO_SET.fullmatch(name):
        return False
    # another variable, a folder of theirs, an address
    return 0 < len(value) <= _MOST and not re.search(r"[{}$\n]|://|^[~/]|localhost", value)
