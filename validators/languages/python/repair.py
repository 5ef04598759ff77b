"""What went wrong with a recipe → the recipes worth trying next."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from validators.languages.python import advice, distributions, system_packages
from validators.languages.python.as_of import LAST_PKG_RESOURCES, past_fallback
from validators.languages.python.conversion import converted
from validators.languages.python.imports import not_of, own_modules
from validators.languages.python.manifest import read_manifest
from validators.languages.python.requirement_files import expand, requirement_name
from validators.languages.python.run_repair import (
    fitting_pythons,
    other_pythons,
    repair_runs,
    stated,
)
from validators.model import (
    BuildFailure,
    FailureClass,
    ProjectInstall,
    Recipe,
    Verdict,
)

_NOT_BUILT = re.compile(rb"Failed to (?:download and )?build `([\w.-]+)(?:==| @)")
_UNREADABLE = b"source distribution filename"
"""All there is of a package are archives that the installer does not read; later there are wheels.
"""

_NOT_IN_DEBIAN = re.compile(
    rb"E: (?:Unable to locate package |Package ')([a-z0-9][a-z0-9+.-]+?)(?:'|\s|$)"
)


def repair(
    recipe: Recipe, problem: BuildFailure | Verdict, files: Mapping[str, str]
) -> Sequence[Recipe]:
    """Recipes that mend `problem`, likeliest first; none when nothing known would.

    `files` has every path of the tree (text only where a manifest was asked for).
    """
    if isinstance(problem, Verdict):
        found = repair_runs(recipe, problem, files)
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


def _without(recipe: Recipe, name: str) -> Recipe:
    bare = _without_extras(name) or name
    kept = tuple(line for line in recipe.requirements if requirement_name(line) != bare)
    return replace(recipe, requirements=kept)


def _without_extras(line: str) -> str | None:
    return requirement_name(re.sub(r"\[[^\[\]]*\]", "", line))


def _nothing(recipe: Recipe, problem: BuildFailure, files: Mapping[str, str]) -> Sequence[Recipe]:
    del recipe, problem, files
    return ()


def _package_not_found(
    recipe: Recipe, problem: BuildFailure, files: Mapping[str, str]
) -> Sequence[Recipe]:
    """A guessed name, or a declared one that is gone: without it; of apt, without that package.

    What its build asks for is asked for as long as the project is installed: its sources alone.
    What its runs ask for cannot be left out: an environment without that is not the project's.
    """
    if problem.step == "apt":
        gone = {name.decode() for name in _NOT_IN_DEBIAN.findall(problem.outcome.output)}
        kept = (name for name in recipe.apt if name not in {problem.detail, *gone})
        return (replace(recipe, apt=tuple(kept)),)
    if problem.step == "project":
        return _sources_alone(recipe, files)
    return (_without(recipe, problem.detail),)


def _no_version(
    recipe: Recipe, problem: BuildFailure, files: Mapping[str, str]
) -> Sequence[Recipe]:
    """Versions that did not exist yet or exclude each other: first any version, then none.

    Constraints go before all. What the project itself asks for cannot be loosened: that package
    may be a year younger.
    """
    del files
    free = tuple(line for line in recipe.requirements if not line.startswith("-c"))
    if free != recipe.requirements:
        return (replace(recipe, requirements=free),)
    name = _without_extras(problem.detail)
    if name is not None and _UNREADABLE in problem.outcome.output:
        return [*_younger(recipe, name, most=3), _without(recipe, name), *other_pythons(recipe)]
    if name is not None and name not in {requirement_name(line) for line in recipe.requirements}:
        return [*_younger(recipe, name), *other_pythons(recipe)]
    loose = tuple(
        name if name is not None and requirement_name(line) == name else line
        for line in recipe.requirements
    )
    found = [replace(recipe, requirements=loose)]
    if name is not None:
        found.append(_without(recipe, name))
    return [*found, *other_pythons(recipe)]


def _reuploaded(
    recipe: Recipe, problem: BuildFailure, files: Mapping[str, str]
) -> Sequence[Recipe]:
    del problem, files
    return (past_fallback(recipe),)


def _wrong_python(
    recipe: Recipe, problem: BuildFailure, files: Mapping[str, str]
) -> Sequence[Recipe]:
    """Versions that fit what was said; the neighbours when it says none."""
    del files
    requires = problem.detail.removeprefix("Python")
    return (
        fitting_pythons(recipe, requires) if requires[:1] in {*"<>=!~"} else other_pythons(recipe)
    )


def _build_isolation(
    recipe: Recipe, problem: BuildFailure, files: Mapping[str, str]
) -> Sequence[Recipe]:
    """A build script that imports what it never asked for, or needs what setuptools dropped.

    What a project requires is asked in isolation, whatever the recipe says: what fails there is
    built from its sources alone.
    """
    if "use_2to3" in problem.detail:
        folder = recipe.source_paths[0] if recipe.source_paths else _source_folder(files)
        return (converted(recipe, folder),)
    if advised := advice.of_command(problem.detail):
        named = advice.for_tree(advised, read_manifest(files).name)
        return _with_tools([each for each in named if each[0] != "."], recipe, problem, files)
    module = distributions.importable(problem.detail)
    if module == "pkg_resources" and (older := _with_pkg_resources(recipe)) is not None:
        return (older,)
    wanted = distributions.requirement_of(module)
    foreign = not_of([module], own_modules(files)) and requirement_name(wanted) is not None
    return _with_tools([wanted] if foreign else [], recipe, problem, files)


def _with_tools(
    wanted: Sequence[str], recipe: Recipe, problem: BuildFailure, files: Mapping[str, str]
) -> Sequence[Recipe]:
    """With what the build wants beside its tools, then less of the project."""
    if not wanted:
        return _less_of_the_project(recipe, problem, files)
    needed = (*recipe.build_requirements, *wanted)
    base = () if recipe.build_requirements else ("setuptools", "wheel")
    built = replace(recipe, build_requirements=tuple(dict.fromkeys((*base, *needed))))
    less = _less_of_the_project(built, problem, files)
    return less if problem.step == "resolve" else (built, *less)


def _with_pkg_resources(recipe: Recipe) -> Recipe | None:
    """The recipe with the last setuptools that has it, in isolated builds too; None where
    the one it gets has it already.
    """
    exempt = dict(recipe.cutoff_exempt)
    now = exempt.get("setuptools", recipe.cutoff_at)
    if now is None or now <= LAST_PKG_RESOURCES:
        return None
    exempt["setuptools"] = LAST_PKG_RESOURCES
    return replace(recipe, cutoff_exempt=tuple(sorted(exempt.items())))


def _source_folder(files: Mapping[str, str]) -> str:
    return "src" if any(path.startswith("src/") for path in files) else "."


def _less_of_the_project(
    recipe: Recipe, problem: BuildFailure, files: Mapping[str, str]
) -> Sequence[Recipe]:
    """Editable, else a copy with the sources first on the path, else the sources alone.

    What cannot even tell its requirements is not installed at all.
    """
    if recipe.project_install is ProjectInstall.EDITABLE and problem.step != "resolve":
        folders = recipe.source_paths or (_source_folder(files),)
        return (replace(recipe, project_install=ProjectInstall.PLAIN, source_paths=folders),)
    return _sources_alone(recipe, files)


def _sources_alone(recipe: Recipe, files: Mapping[str, str]) -> Sequence[Recipe]:
    """What the project declares is required by name; none when it is not installed already."""
    if recipe.project_install is ProjectInstall.NONE:
        return ()
    declared = read_manifest(files).dependencies or expand("requirements.txt", files)
    kept = (line for line in recipe.requirements if not line.startswith("."))
    return (
        replace(
            recipe,
            project_install=ProjectInstall.NONE,
            source_paths=recipe.source_paths or (_source_folder(files),),
            requirements=tuple(dict.fromkeys((*declared, *kept))),
        ),
    )


def _system_library(
    recipe: Recipe, problem: BuildFailure, files: Mapping[str, str]
) -> Sequence[Recipe]:
    packages = [name for name in system_packages.packages_of(problem.detail)
                if name not in recipe.apt]  # fmt: skip
    packages = packages or [*stated(recipe, files)]
    if packages:
        return (replace(recipe, apt=(*recipe.apt, *packages)),)
    return _sources_alone(recipe, files)  # a copy is built as well


def _later_tools(
    recipe: Recipe, problem: BuildFailure, files: Mapping[str, str]
) -> Sequence[Recipe]:
    """No reason that we know: what CI installs, build tools a year younger, less of the project."""
    packages = stated(recipe, files) if problem.step != "resolve" else ()
    return (
        *((replace(recipe, apt=(*recipe.apt, *packages)),) if packages else ()),
        *_younger(recipe, "setuptools", "wheel"),
        *_less_of_the_project(recipe, problem, files),
        *other_pythons(recipe),
    )


def _younger(recipe: Recipe, *names: str, most: int = 1) -> Sequence[Recipe]:
    """Packages resolved a year later than the others; the next time `most` years."""
    if recipe.cutoff_at is None:
        return ()
    exempt = dict(recipe.cutoff_exempt)
    for name in names:
        now = exempt.get(name, recipe.cutoff_at)
        if name in exempt and most == 1:
            continue
        years = (recipe.cutoff_at + timedelta(days=365 * year) for year in (1, most))
        exempt[name] = next((later for later in years if later > now), now)
    return (replace(recipe, cutoff_exempt=tuple(sorted(exempt.items()))),)


_Repair = Callable[[Recipe, BuildFailure, Mapping[str, str]], Sequence[Recipe]]
_REPAIRS: Mapping[FailureClass, _Repair] = {
    FailureClass.PACKAGE_NOT_FOUND: _package_not_found,
    FailureClass.NO_MATCHING_VERSION: _no_version,
    FailureClass.REUPLOADED: _reuploaded,
    FailureClass.WRONG_PYTHON: _wrong_python,
    FailureClass.BUILD_ISOLATION: _build_isolation,
    FailureClass.EDITABLE_IMPOSSIBLE: _less_of_the_project,
    FailureClass.MISSING_SYSTEM_LIBRARY: _system_library,
    FailureClass.OTHER: _later_tools,
}
