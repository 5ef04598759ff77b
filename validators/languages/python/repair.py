"""What went wrong with a recipe → the recipes worth trying next."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from validators.languages.python import distributions, system_packages
from validators.languages.python.conversion import converted
from validators.languages.python.imports import own_modules
from validators.languages.python.interpreters import RELEASED_AT
from validators.languages.python.manifest import read_manifest
from validators.languages.python.requirement_files import expand, requirement_name
from validators.languages.python.shell_lines import apt_packages
from validators.model import (
    BuildFailure,
    FailureClass,
    Flaw,
    Phase,
    ProjectInstall,
    Recipe,
    TestStatus,
    Verdict,
)

_MISSING = re.compile(r"No module named '?([A-Za-z_][\w.]*)'?")
_NOT_BUILT = re.compile(rb"Failed to (?:download and )?build `([\w.-]+)(?:==| @)")
_NOT_IN_DEBIAN = re.compile(
    rb"E: (?:Unable to locate package |Package ')([a-z0-9][a-z0-9+.-]+?)(?:'|\s|$)"
)
_NOT_IMPORTED = re.compile(r"could not import '([A-Za-z_]\w*)")
_NOT_LOADED = re.compile(
    r"cannot load library|cannot open shared object file|[Nn]o library called"
    r"|No such file or directory: '[\w.+-]+'"
)
"""A library or a program outside of Python; a bare name, for tests' own files come with folders."""

_UNKNOWN_OPTION = re.compile(r"unrecognized arguments: ([^\n]+)")
_UNKNOWN_FIXTURE = re.compile(r"fixture '(\w+)' not found")
_UNKNOWN_MARK = re.compile(r"'(\w+)' not found in `markers`|Unknown pytest\.mark\.(\w+)")
_REQUIRED_PLUGINS = re.compile(r"Missing required plugins: ([^\n]+)")
_ASYNC = re.compile(r"async def functions are not natively supported")


def repair(
    recipe: Recipe, problem: BuildFailure | Verdict, files: Mapping[str, str]
) -> Sequence[Recipe]:
    """Recipes that mend `problem`, likeliest first; none when nothing known would.

    `files` has every path of the tree (text only where a manifest was asked for).
    """
    if isinstance(problem, Verdict):
        found = _repair_runs(recipe, problem, files)
    else:
        found = _REPAIRS.get(problem.failure_class, _nothing)(recipe, problem, files)
        if (offender := _offender(recipe, problem)) is not None:
            found = (_without(recipe, offender), *found[:1])
    repaired = [replace(one, origin="repaired", lock=None) for one in found]
    same = replace(recipe, origin="repaired", lock=None)
    return tuple(one for one in dict.fromkeys(repaired) if one != same)


def _offender(recipe: Recipe, problem: BuildFailure) -> str | None:
    """The requirement that cannot be built, when it is one of the recipe's own lines."""
    match = _NOT_BUILT.search(problem.outcome.output)
    if match is None or problem.step not in {"install", "resolve"}:
        return None
    name = requirement_name(match.group(1).decode())
    return name if name in {requirement_name(line) for line in recipe.requirements} else None


def _repair_runs(recipe: Recipe, verdict: Verdict, files: Mapping[str, str]) -> Sequence[Recipe]:
    """An environment in which tests could not be seen: what their messages miss."""
    said = "\n".join(_messages(verdict))
    own = own_modules(files)
    modules = {name.partition(".")[0] for name in _MISSING.findall(said)}
    modules |= set(_NOT_IMPORTED.findall(said))
    wanted = [distributions.distribution_of(name) for name in sorted(modules - own)]
    wanted += _plugins(said)
    found = [_with(recipe, wanted)] if wanted else []
    stated = _stated(recipe, files) if _NOT_LOADED.search(said) else ()
    if stated:
        found.append(replace(recipe, apt=(*recipe.apt, *stated)))
    if modules & own and recipe.project_install is not ProjectInstall.NONE:
        folders = _folders_of(modules & own, files)
        if not set(folders) <= set(recipe.source_paths):
            found.append(replace(recipe, source_paths=(*recipe.source_paths, *folders)))
    return found


def _messages(verdict: Verdict) -> Iterable[str]:
    """What after-runs say; where no test was seen, what any run printed."""
    for run in verdict.runs:
        if run.phase is not Phase.AFTER:
            continue
        for result in run.results.values():
            if result.status is not TestStatus.PASSED:
                yield result.message
        if run.flaw is not None or verdict.flaw is Flaw.NO_TESTS_SEEN:
            yield run.detail
            yield run.outcome.output.decode("utf-8", "replace")


def _plugins(said: str) -> Sequence[str]:
    options = [word for words in _UNKNOWN_OPTION.findall(said) for word in words.split()]
    names = [distributions.plugin_of_option(word) for word in options if word.startswith("-")]
    names += [distributions.plugin_of_fixture(name) for name in _UNKNOWN_FIXTURE.findall(said)]
    names += [distributions.plugin_of_mark(a or b) for a, b in _UNKNOWN_MARK.findall(said)]
    for listed in _REQUIRED_PLUGINS.findall(said):
        names += [requirement_name(name.strip()) for name in listed.split(",")]
    if _ASYNC.search(said):
        names.append("pytest-asyncio")
    return tuple(dict.fromkeys(name for name in names if name))


def _folders_of(modules: Iterable[str], files: Mapping[str, str]) -> Sequence[str]:
    """The folders from which the project's own modules can be imported."""
    found: list[str] = []
    for module in sorted(modules):
        ends = (f"{module}/__init__.py", f"{module}.py")
        for path in sorted(files, key=len):
            if path.endswith(ends) and (
                path in ends
                or path[: -len(ends[0])].endswith("/")
                or path[: -len(ends[1])].endswith("/")
            ):
                found.append(path.removesuffix(ends[0]).removesuffix(ends[1]).rstrip("/") or ".")
                break
    return tuple(dict.fromkeys(found))


def _with(recipe: Recipe, wanted: Iterable[str]) -> Recipe:
    names = {requirement_name(line) for line in recipe.requirements}
    added = [name for name in dict.fromkeys(wanted) if requirement_name(name) not in names]
    return replace(recipe, requirements=(*recipe.requirements, *added))


def _without(recipe: Recipe, name: str) -> Recipe:
    bare = requirement_name(re.sub(r"\[.*?\]", "", name)) or name
    kept = tuple(line for line in recipe.requirements if requirement_name(line) != bare)
    return replace(recipe, requirements=kept)


def _nothing(recipe: Recipe, problem: BuildFailure, files: Mapping[str, str]) -> Sequence[Recipe]:
    del recipe, problem, files
    return ()


def _package_not_found(
    recipe: Recipe, problem: BuildFailure, files: Mapping[str, str]
) -> Sequence[Recipe]:
    """A guessed name, or a declared one that is gone: without it; of apt, without that package."""
    del files
    if problem.step == "apt":
        gone = {name.decode() for name in _NOT_IN_DEBIAN.findall(problem.outcome.output)}
        kept = (name for name in recipe.apt if name not in {problem.detail, *gone})
        return (replace(recipe, apt=tuple(kept)),)
    return (_without(recipe, problem.detail),)


def _no_version(
    recipe: Recipe, problem: BuildFailure, files: Mapping[str, str]
) -> Sequence[Recipe]:
    """Versions that did not exist yet or exclude each other: first any version, then none.

    What the project itself asks for cannot be loosened: that package may be a year younger.
    """
    del files
    name = requirement_name(re.sub(r"\[.*?\]", "", problem.detail))
    if name is not None and name not in {requirement_name(line) for line in recipe.requirements}:
        return [*_younger(recipe, name), *_other_pythons(recipe)]
    loose = tuple(
        name if name is not None and requirement_name(line) == name else line
        for line in recipe.requirements
    )
    found = [replace(recipe, requirements=loose)]
    if name is not None:
        found.append(_without(recipe, name))
    return [*found, *_other_pythons(recipe)]


def _wrong_python(
    recipe: Recipe, problem: BuildFailure, files: Mapping[str, str]
) -> Sequence[Recipe]:
    del problem, files
    return _other_pythons(recipe)


def _other_pythons(recipe: Recipe) -> Sequence[Recipe]:
    """The Python before, then the one after."""
    known = [*RELEASED_AT]
    at = known.index(recipe.python)
    order = [*reversed(known[max(at - 2, 0) : at]), *known[at + 1 : at + 2]]
    return [replace(recipe, python=python) for python in order]


def _build_isolation(
    recipe: Recipe, problem: BuildFailure, files: Mapping[str, str]
) -> Sequence[Recipe]:
    """A build script that imports what it never asked for, or needs what setuptools dropped."""
    if "use_2to3" in problem.detail:
        folder = recipe.source_paths[0] if recipe.source_paths else _source_folder(files)
        return (converted(recipe, folder),)
    module = problem.detail.partition(".")[0]
    if module in own_modules(files):
        return _less_of_the_project(recipe, problem, files)
    needed = (*recipe.build_requirements, distributions.distribution_of(module))
    base = () if recipe.build_requirements else ("setuptools", "wheel")
    built = replace(recipe, build_requirements=tuple(dict.fromkeys((*base, *needed))))
    return (built, *_less_of_the_project(recipe, problem, files))


def _source_folder(files: Mapping[str, str]) -> str:
    return "src" if any(path.startswith("src/") for path in files) else "."


def _less_of_the_project(
    recipe: Recipe, problem: BuildFailure, files: Mapping[str, str]
) -> Sequence[Recipe]:
    """Editable, else a copy with the sources first on the path, else the sources alone.

    What cannot even tell its requirements is not installed at all.
    """
    folders = recipe.source_paths or (_source_folder(files),)
    if recipe.project_install is ProjectInstall.EDITABLE and problem.step != "resolve":
        return (replace(recipe, project_install=ProjectInstall.PLAIN, source_paths=folders),)
    if recipe.project_install is not ProjectInstall.NONE:
        declared = read_manifest(files).dependencies or expand("requirements.txt", files)
        kept = (line for line in recipe.requirements if not line.startswith("."))
        lines = tuple(dict.fromkeys((*declared, *kept)))
        return (
            replace(
                recipe,
                project_install=ProjectInstall.NONE,
                source_paths=folders,
                requirements=lines,
            ),
        )
    return ()


def _system_library(
    recipe: Recipe, problem: BuildFailure, files: Mapping[str, str]
) -> Sequence[Recipe]:
    packages = [name for name in system_packages.packages_of(problem.detail)
                if name not in recipe.apt]  # fmt: skip
    packages = packages or [*_stated(recipe, files)]
    if packages:
        return (replace(recipe, apt=(*recipe.apt, *packages)),)
    return _less_of_the_project(recipe, problem, files)


def _stated(recipe: Recipe, files: Mapping[str, str]) -> Sequence[str]:
    """The Debian packages of the project's own CI, Dockerfile and Makefile, not yet asked for."""
    texts = {path: text for path, text in files.items() if text}
    return [name for name in apt_packages(texts) if name not in recipe.apt]


def _later_tools(
    recipe: Recipe, problem: BuildFailure, files: Mapping[str, str]
) -> Sequence[Recipe]:
    """No reason that we know: build tools a year younger, then less of the project."""
    return (
        *_younger(recipe, "setuptools", "wheel"),
        *_less_of_the_project(recipe, problem, files),
        *_other_pythons(recipe),
    )


def _younger(recipe: Recipe, *names: str) -> Sequence[Recipe]:
    """Packages resolved a year later than the others, where they are not already."""
    if recipe.cutoff_at is None:
        return ()
    later = dict.fromkeys(names, recipe.cutoff_at + timedelta(days=365))
    exempt = later | dict(recipe.cutoff_exempt)
    return (replace(recipe, cutoff_exempt=tuple(sorted(exempt.items()))),)


_Repair = Callable[[Recipe, BuildFailure, Mapping[str, str]], Sequence[Recipe]]
_REPAIRS: Mapping[FailureClass, _Repair] = {
    FailureClass.PACKAGE_NOT_FOUND: _package_not_found,
    FailureClass.NO_MATCHING_VERSION: _no_version,
    FailureClass.WRONG_PYTHON: _wrong_python,
    FailureClass.BUILD_ISOLATION: _build_isolation,
    FailureClass.EDITABLE_IMPOSSIBLE: _less_of_the_project,
    FailureClass.MISSING_SYSTEM_LIBRARY: _system_library,
    FailureClass.OTHER: _later_tools,
}
