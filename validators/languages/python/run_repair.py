"""What the tests of an environment miss → the recipes to try next."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from validators.languages.python import distributions, symptoms
from validators.languages.python.compiled import built_once
from validators.languages.python.imports import not_of, own_modules
from validators.languages.python.interpreters import RELEASED_AT, UNTESTED, allows
from validators.languages.python.requirement_files import requirement_name
from validators.languages.python.shell_lines import apt_packages
from validators.model import Flaw, ProjectInstall, Recipe, Verdict


def repair_runs(recipe: Recipe, verdict: Verdict, files: Mapping[str, str]) -> Sequence[Recipe]:
    """Recipes with what the messages of after-runs miss."""
    said = "\n".join(symptoms.messages(verdict))
    own = own_modules(files)
    modules = symptoms.missing_modules(said)
    gone = symptoms.wants_another_python(said)
    foreign = not_of(modules, own)
    wanted = [] if gone else _distributions(recipe, foreign, symptoms.advised(verdict, files))
    wanted += symptoms.missing_plugins(said)
    if symptoms.misses_a_time_zone(said):
        wanted.append("tzdata")
    found = [_with(recipe, wanted)] if wanted else []
    if gone:
        found += other_pythons(recipe)
    system = stated(recipe, files) if symptoms.misses_a_library(said) else ()
    if symptoms.misses_a_locale(said) and "locales-all" not in recipe.apt:
        system = (*system, "locales-all")
    if system:
        found.append(replace(recipe, apt=(*recipe.apt, *system)))
    if verdict.flaw is Flaw.BUILD_FAILED and (once := built_once(recipe)) is not None:
        found.append(once)
    ours = modules - foreign
    if ours and recipe.project_install is not ProjectInstall.NONE:
        folders = _folders_of(ours, files)
        if not set(folders) <= set(recipe.source_paths):
            found.append(replace(recipe, source_paths=(*recipe.source_paths, *folders)))
    return found


def other_pythons(recipe: Recipe) -> Sequence[Recipe]:
    """The Python before, then the one after."""
    known = [*RELEASED_AT]
    at = known.index(recipe.python) if recipe.python in known else len(known)
    order = [*reversed(known[max(at - 2, 0) : at]), *known[at + 1 : at + 2]]
    return [replace(recipe, python=python) for python in order]


def fitting_pythons(recipe: Recipe, requires: str) -> Sequence[Recipe]:
    """At most three others that a specifier allows, the nearest first; none when none does."""
    known = [*RELEASED_AT, *UNTESTED]
    at = known.index(recipe.python) if recipe.python in known else len(known)
    others = [version for version in known if version != recipe.python]
    fit = [version for version in others if allows(requires, version)]
    fit.sort(key=lambda version: (version in UNTESTED, abs(known.index(version) - at)))
    return [replace(recipe, python=python) for python in fit[:3]]


def stated(recipe: Recipe, files: Mapping[str, str]) -> Sequence[str]:
    """The Debian packages of the project's own CI, Dockerfile and Makefile, not yet asked for."""
    texts = {path: text for path, text in files.items() if text}
    return [name for name in apt_packages(texts) if name not in recipe.apt]


def _folders_of(modules: Iterable[str], files: Mapping[str, str]) -> Sequence[str]:
    """The folders from which the project's own modules can be imported."""
    found: list[str] = []
    for module in sorted(modules):
        place = module.replace(".", "/")
        ends = (f"{place}/__init__.py", f"{place}.py")
        for path in sorted(files, key=len):
            if path.endswith(ends) and (
                path in ends
                or path[: -len(ends[0])].endswith("/")
                or path[: -len(ends[1])].endswith("/")
            ):
                found.append(path.removesuffix(ends[0]).removesuffix(ends[1]).rstrip("/") or ".")
                break
    return tuple(dict.fromkeys(found))


def _distributions(recipe: Recipe, modules: Iterable[str], advised: Iterable[str]) -> list[str]:
    """What brings the modules and what errors say to install.

    A private module has none; of a project that is not installed no extra can be asked.
    """
    asked = [*map(distributions.requirement_of, sorted(modules)), *advised]
    if recipe.project_install is not ProjectInstall.NONE:
        return [line for line in asked if requirement_name(line) or line.startswith(".")]
    return [line for line in asked if requirement_name(line)]


def _with(recipe: Recipe, wanted: Iterable[str]) -> Recipe:
    """A bare name adds nothing where the same distribution is there; a limited one does, once."""
    names = {requirement_name(line) for line in recipe.requirements}
    added = [
        line
        for line in dict.fromkeys(wanted)
        if line not in recipe.requirements
        and (requirement_name(line) not in names or line != requirement_name(line))
    ]
    return replace(recipe, requirements=(*recipe.requirements, *added))
