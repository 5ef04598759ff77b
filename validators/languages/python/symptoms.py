"""What runs say is missing: messages of tests that did not pass → a class and the name in it."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from validators.languages.python import advice, distributions, shell_lines
from validators.languages.python.imports import not_of, own_modules
from validators.languages.python.manifest import read_manifest
from validators.languages.python.requirement_files import requirement_name
from validators.model import (
    Diagnosis,
    FailureClass,
    Flaw,
    Phase,
    TestResult,
    TestStatus,
    Verdict,
)

_MISSING = re.compile(r"No module named '?([A-Za-z_][\w.]*)'?")
_NOT_IMPORTED = re.compile(r"could not import '([A-Za-z_][\w.]*)")
_NOT_IN_NAMESPACE = re.compile(r"cannot import name '(\w+)' from '([\w.]+)' \(unknown location\)")
_IMPORTED = re.compile(r"\b(?:from ([\w.]+) )?import ([\w.]+)")
_NOT_LOADED = re.compile(
    r"(cannot load library[^\n]{,80}|(?<!\S)\S{1,300}: cannot open shared object file"
    r"|[Nn]o library called[^\n]{,80}|No such file or directory: '[\w.+-]+')"
)
"""A library or a program outside of Python; a bare name, for tests' own files come with folders."""

_NO_FILE = re.compile(r"No such file or directory: '([^'/\n]*/[^'\n]*)'")
_UNKNOWN_OPTION = re.compile(r"unrecognized arguments: ([^\n]+)")
_UNKNOWN_FIXTURE = re.compile(r"fixture '(\w+)' not found")
_UNKNOWN_MARK = re.compile(r"'(\w+)' not found in `markers`|Unknown pytest\.mark\.(\w+)")
_REQUIRED_PLUGINS = re.compile(r"Missing required plugins: ([^\n]+)")
_ASYNC = re.compile(r"async def functions are not natively supported")
_LOCALE = re.compile(r"(locale\.Error: unsupported locale setting|unknown locale: \S+)")
_TIME_ZONE = re.compile(r"(?:No time zone found with key|Can not find timezone) ([\w/+-]+)")
_NETWORK = re.compile(
    r"(Temporary failure in name resolution|Name or service not known|Network is unreachable"
    r"|Connection refused)"
)
_OTHER_PYTHON = re.compile(
    r"(cannot import name '\w+' from 'collections'|module 'collections' has no attribute '\w+'"
    r"|No module named '(?:imp|asyncore|asynchat|smtpd|lib2to3)\b"
    r"|module 'inspect' has no attribute '\w+'|module 'configparser' has no attribute '\w+'"
    r"|'SafeConfigParser' from 'configparser'|module 'ast' has no attribute '\w+'"
    r"|module 'unittest' has no attribute 'makeSuite')"
)
_ADVISED_MOST = 5
"""The report is the guest's, and may name as many as it likes."""

_PATTERNS = (
    (FailureClass.WRONG_PYTHON, _OTHER_PYTHON),
    (FailureClass.OWN_RUNNER, _UNKNOWN_FIXTURE),
    (FailureClass.LOCALE, _LOCALE),
    (FailureClass.TIME_ZONE, _TIME_ZONE),
    (FailureClass.MISSING_TEST_DATA, _NO_FILE),
    (FailureClass.MISSING_SYSTEM_LIBRARY, _NOT_LOADED),
    (FailureClass.NETWORK, _NETWORK),
)
"""A fixture that no plug-in has is an argument that another runner would give."""


def diagnose(verdict: Verdict, files: Mapping[str, str]) -> Diagnosis | None:
    """What most of the failing messages of a verdict's after-runs have in common, if we know it.

    `files` has every path of the tree, the text only of manifests. None for an accepted verdict,
    and where messages are of the tests' own affairs.
    """
    if verdict.accepted:
        return None
    submodules = shell_lines.submodules(files.get(".gitmodules", ""))
    project = read_manifest(files).name
    found = Counter(
        told
        for text, error in _said(verdict)
        if (told := _of_message(text, files, submodules) or _of_error(error, project)) is not None
    )
    if not found:
        return None
    classes = Counter[FailureClass]()
    for each, count in found.items():
        classes[each.failure_class] += count
    (most, _), *_ = classes.most_common(1)
    return next(each for each, _ in found.most_common() if each.failure_class is most)


def _of_message(text: str, files: Mapping[str, str], submodules: Sequence[str]) -> Diagnosis | None:
    """The particular before the general, as in a build's log."""
    for folder in submodules:
        if re.search(rf"(^|[\s/'\"]){re.escape(folder)}\b", text):
            return Diagnosis(FailureClass.MISSING_TEST_DATA, f"{folder} is a submodule")
    if not _OTHER_PYTHON.search(text):
        if modules := not_of(missing_modules(text), own_modules(files)):
            return Diagnosis(FailureClass.MISSING_MODULE, min(modules))
        if names := missing_plugins(text):
            return Diagnosis(FailureClass.MISSING_PLUGIN, names[0])
    for failure_class, pattern in _PATTERNS:
        if match := pattern.search(text):
            return Diagnosis(failure_class, match.group(1)[:200])
    return None


def _of_error(error: str, project: str | None) -> Diagnosis | None:
    """What the error says to install."""
    wanted = advice.for_tree(advice.named(error), project)
    return Diagnosis(FailureClass.MISSING_MODULE, wanted[0]) if wanted else None


def advised(verdict: Verdict, files: Mapping[str, str]) -> Sequence[str]:
    """Requirements that errors of after-runs say to install: a few, those most said first."""
    said = Counter(line for _, error in _said(verdict) for line in advice.named(error))
    most = [line for line, _ in said.most_common(_ADVISED_MOST)]
    return advice.for_tree(most, read_manifest(files).name)


def messages(verdict: Verdict) -> Iterable[str]:
    """What after-runs say; where no test was seen, what any run printed."""
    return (text for text, _ in _said(verdict))


def _said(verdict: Verdict) -> Iterable[tuple[str, str]]:
    """Each message with the error in it."""
    for run in verdict.runs:
        if run.phase is not Phase.AFTER:
            continue
        for result in run.results.values():
            if result.status is not TestStatus.PASSED:
                yield result.message, _error_of(result)
        if run.flaw is not None or verdict.flaw is Flaw.NO_TESTS_SEEN:
            output = run.outcome.output.decode("utf-8", "replace")
            yield run.detail, ""
            yield output, advice.of_output(output)


def _error_of(result: TestResult) -> str:
    if result.status not in {TestStatus.FAILED, TestStatus.ERROR}:
        return ""
    return advice.of_message(result.message, raised=result.status is TestStatus.ERROR)


def missing_modules(said: str) -> frozenset[str]:
    """Modules that could not be imported, by the part for which a distribution answers.

    Of a namespace of which nothing is there, only its name is told; the import stands beside it.
    """
    names = [*_MISSING.findall(said), *_NOT_IMPORTED.findall(said)]
    names += [f"{package}.{name}" for name, package in _NOT_IN_NAMESPACE.findall(said)]
    found = {distributions.importable(name) for name in names}
    for bare in filter(distributions.is_namespace, tuple(found)):
        written = (".".join(filter(None, words)) for words in _IMPORTED.findall(said))
        meant = {distributions.importable(name) for name in written if name.startswith(f"{bare}.")}
        found = (found - {bare}) | meant if meant else found
    return frozenset(found)


def missing_plugins(said: str) -> Sequence[str]:
    """Distributions of pytest plug-ins whose options, fixtures or marks are unknown."""
    options = [word for words in _UNKNOWN_OPTION.findall(said) for word in words.split()]
    names = [distributions.plugin_of_option(word) for word in options if word.startswith("-")]
    names += [distributions.plugin_of_fixture(name) for name in _UNKNOWN_FIXTURE.findall(said)]
    names += [distributions.plugin_of_mark(a or b) for a, b in _UNKNOWN_MARK.findall(said)]
    for listed in _REQUIRED_PLUGINS.findall(said):
        names += [requirement_name(name.strip()) for name in listed.split(",")]
    if _ASYNC.search(said):
        names.append("pytest-asyncio")
    return tuple(dict.fromkeys(name for name in names if name))


def misses_a_library(said: str) -> bool:
    """A library or program outside of Python was not there."""
    return _NOT_LOADED.search(said) is not None


def misses_a_locale(said: str) -> bool:
    """A locale that the system does not have was asked for."""
    return _LOCALE.search(said) is not None


def misses_a_time_zone(said: str) -> bool:
    """A time zone was not found."""
    return _TIME_ZONE.search(said) is not None


def wants_another_python(said: str) -> bool:
    """Something was used that this Python has no more."""
    return _OTHER_PYTHON.search(said) is not None
