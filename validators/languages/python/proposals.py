"""From a repository's own files to recipes, likeliest first. Nothing of it is executed."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import PurePosixPath
from shlex import quote

from validators.languages.base import FileClass
from validators.languages.python import (
    ci,
    distributions,
    pytest_calls,
    pytest_settings,
    shell_lines,
    variables,
    workflows,
)
from validators.languages.python import requirement_files as requirements
from validators.languages.python.as_of import can_edit, exemptions
from validators.languages.python.compiled import with_build, with_wheel
from validators.languages.python.conversion import converted
from validators.languages.python.imports import builds_suites, needs_of_tests
from validators.languages.python.interpreters import choose_pythons, tox_versions, versions_in
from validators.languages.python.manifest import Manifest, read_manifest
from validators.languages.python.paths import classify
from validators.languages.python.tox_settings import tox_text
from validators.model import ProjectInstall, Recipe

_NAMES = frozenset(
    [
        *(
            "pyproject.toml",
            "setup.cfg",
            "setup.py",
            "tox.ini",
            "tox.toml",
            "pytest.ini",
            ".pytest.ini",
            "pytest.toml",
            ".pytest.toml",
        ),
        *("noxfile.py", "Pipfile", "requirements.txt", ".gitmodules"),
    ]
)
_CONDA_FILES = ("environment.yml", "environment-dev.yml", "environment.yaml", "ci/environment.yml")


def manifest_paths(paths: Sequence[str]) -> Sequence[str]:
    """The files `propose_recipes` wants to read: manifests, CI, requirements, test modules."""
    return tuple(
        path
        for path in paths
        if path in _NAMES
        or path in _CONDA_FILES
        or ci.is_ci_file(path)
        or shell_lines.is_script(path)
        or requirements.is_requirement_file(path)
        or _may_be_named(PurePosixPath(path))
        or (path.endswith(".py") and classify(PurePosixPath(path)) is FileClass.TEST)
    )


def _may_be_named(path: PurePosixPath) -> bool:
    """A text that tox, nox or CI may call a file of requirements, whatever its name is."""
    listed = path.suffix in {".txt", ".in", ".pip"} and len(path.parts) <= 2
    return listed and classify(path) is FileClass.OTHER


def propose_recipes(
    files: Mapping[str, str], paths: Sequence[str], date: datetime
) -> Sequence[Recipe]:
    """Recipes for a tree of `paths`, whose manifests are `files`, as of `date`, likeliest first.

    First with all that the project declares for its tests, then with only what its tests import
    and its pytest options need, then both on the next Python.
    """
    manifest = read_manifest(files)
    declared = _declared(manifest, files, paths)
    needed = _needed(manifest, files, paths)
    pythons = _pythons(manifest, files, date)
    proposals = []
    for python in pythons[:2]:
        base = _base(manifest, paths, python, date)
        base = _with_runner(_with_system(base, files), files, paths)
        own = _own_lines(manifest, files)
        constraints = _constraints(files, paths)
        proposals.append(
            replace(base, requirements=_joined(own, (*declared, *constraints), needed))
        )
        if declared or constraints:
            proposals.append(replace(base, requirements=_joined(own, (), needed)))
    return tuple(dict.fromkeys(proposals))


def _base(manifest: Manifest, paths: Sequence[str], python: str, date: datetime) -> Recipe:
    """The recipe but for its requirements."""
    install = _project_install(manifest, python, date)
    recipe = Recipe(
        language="python",
        python=python,
        project_install=install,
        source_paths=() if install is ProjectInstall.EDITABLE else (_folder(manifest, paths),),
        cutoff_at=date,
        cutoff_exempt=tuple(exemptions(date)),
    )
    if manifest.uses_2to3:
        return converted(recipe, _folder(manifest, paths))
    if not manifest.compiled:
        copied = install is ProjectInstall.PLAIN and manifest.scattered
        return with_wheel(recipe, manifest, ".") if copied else recipe
    return with_build(recipe, manifest, paths, _folder(manifest, paths))


def _with_system(recipe: Recipe, files: Mapping[str, str]) -> Recipe:
    """With what lies outside of Python: system packages and variables.

    Headers are for what is compiled; where a wheel turns out to be missing, the repair knows them.
    """
    stated = shell_lines.apt_packages(files)
    if recipe.build_cmd is None:
        stated = [name for name in stated if not name.endswith("-dev")]
    return replace(
        recipe,
        apt=tuple(dict.fromkeys((*recipe.apt, *stated))),
        env_vars=variables.variables(files, tox_text(files)),
    )


def _with_runner(recipe: Recipe, files: Mapping[str, str], paths: Sequence[str]) -> Recipe:
    """pytest, unless the tests are written for another runner or always run by Django's."""
    if builds_suites(files):
        return replace(recipe, runner="unittest", test_cmd="python -m unittest -v")
    command = shell_lines.django_command(files, paths, tox_text(files))
    if command is not None and not pytest_settings.read_options(files):
        return replace(recipe, runner="django", test_cmd=command)
    options = pytest_calls.pytest_options(files, paths, tox_text(files))
    return replace(recipe, test_cmd=" ".join((recipe.test_cmd, *map(quote, options))))


def _project_install(manifest: Manifest, python: str, date: datetime) -> ProjectInstall:
    if not manifest.installable:
        return ProjectInstall.NONE
    return ProjectInstall.EDITABLE if can_edit(python, date) else ProjectInstall.PLAIN


def _folder(manifest: Manifest, paths: Sequence[str]) -> str:
    """Where the packages lie: declared, else `src` when it holds some, else the root."""
    if manifest.folders:
        return manifest.folders[0] or "."
    in_src = any(path.startswith("src/") and path.endswith(".py") for path in paths)
    return "src" if in_src else "."


def _pythons(manifest: Manifest, files: Mapping[str, str], date: datetime) -> Sequence[str]:
    classifiers = [line for line in manifest.classifiers if "Python :: 3." in line]
    declared = [
        *versions_in(line.rpartition("::")[2].strip() for line in classifiers),
        *ci.python_versions(files),
        *tox_versions(tox_text(files)),
        *workflows.nox_pythons(files.get("noxfile.py", "")),
        *workflows.pipfile_pythons(files.get("Pipfile", "")),
        *shell_lines.docker_pythons(files),
        *(
            version
            for name in _CONDA_FILES
            for version in workflows.conda_pythons(files.get(name, ""))
        ),
    ]
    return choose_pythons(requires=manifest.requires_python, declared=declared, date=date)


def _own_lines(manifest: Manifest, files: Mapping[str, str]) -> Sequence[str]:
    """The project with its test extras; for one that is no distribution, its requirements."""
    if not manifest.installable:
        pipfile = workflows.pipfile_groups(files.get("Pipfile", ""))
        tests = (line for name in _chosen(manifest.extras) for line in manifest.extras[name])
        told = (*manifest.dependencies, *tests)
        return requirements.expand("requirements.txt", files) or pipfile.get("default", ()) or told
    extras = [name for name in manifest.extras if requirements.is_test_word(name)]
    extras = extras or _named_extras(manifest, files)
    if extras:
        return (f".[{','.join(extras)}]",)
    # a developers' extra is opened, so that its other tools can be left out
    lines = [line for name in _chosen(manifest.extras) for line in manifest.extras[name]]
    return (".", *requirements.without_tools(lines))


def _named_extras(manifest: Manifest, files: Mapping[str, str]) -> list[str]:
    """Extras that tox, nox or scripts install for tests, whatever they are called."""
    lines = (*workflows.nox_lines(files.get("noxfile.py", "")), *shell_lines.pip_lines(files))
    listed = re.findall(r"\.\[([^\[\]]*)\]", " ".join(lines))
    named = {name.strip() for names in listed for name in names.split(",")}
    named.update(requirements.tox_extras(tox_text(files)))
    return [name for name in manifest.extras if name in named and name not in {"docs", "doc"}]


def _chosen(offered: Iterable[str]) -> Sequence[str]:
    """Of extras or groups, those for tests; those for developers when there are none."""
    names = list(offered)
    tests = [name for name in names if requirements.is_test_word(name)]
    return tuple(tests or [name for name in names if requirements.is_dev_word(name)])


def _declared(manifest: Manifest, files: Mapping[str, str], paths: Sequence[str]) -> Sequence[str]:
    """What the project declares for its tests outside of its extras, without other tools."""
    groups = dict(workflows.pipfile_groups(files.get("Pipfile", ""))) | dict(manifest.groups)
    lines = [line for name in _chosen(groups) for line in groups[name]]
    lines += manifest.tests_require
    for line in workflows.nox_lines(files.get("noxfile.py", "")):
        lines += requirements.expand(line[3:].strip(), files) if line[:3] == "-r " else [line]
    for name in _CONDA_FILES:
        lines += workflows.conda_lines(files.get(name, ""))
    for line in requirements.tox_lines(tox_text(files)):
        if line.startswith("-r "):
            lines += requirements.expand(line[3:].strip(), files)
        else:
            lines.append(line)
    for path in requirements.test_requirement_files(paths):
        lines += requirements.expand(path, files)
    if not lines and not _chosen(manifest.extras):
        for line in shell_lines.pip_lines(files):
            lines += requirements.expand(line[3:], files) if line[:3] == "-r " else [line]
    # an address in place of a version names another place than the index: by name, then
    named = [re.split(r"(?<!\s)\s*@\s*\w+(?:\+\w+)?:", line)[0] for line in lines]
    return requirements.without_tools(line for line in named if requirements.requirement_name(line))


def _constraints(files: Mapping[str, str], paths: Sequence[str]) -> Sequence[str]:
    """`-c FILE` of the tree, where tox, nox or CI install with it; none of lowest versions."""
    lines = (
        *requirements.tox_lines(tox_text(files)),
        *workflows.nox_lines(files.get("noxfile.py", "")),
        *shell_lines.pip_lines(files),
    )
    named = [PurePosixPath(line[3:].strip()) for line in lines if line.startswith("-c ")]
    present = set(paths)
    return tuple(
        dict.fromkeys(
            f"-c {path}"
            for path in named
            if str(path) in present and not requirements.is_unusual(path.stem)
        )
    )


def _needed(manifest: Manifest, files: Mapping[str, str], paths: Sequence[str]) -> Sequence[str]:
    """What tests import, and the plug-ins that pytest's options, fixtures and marks call for."""
    # what a submodule would bring is not on the index, or is another of the same name
    absent = [
        f"{path}/__init__.py" for path in shell_lines.submodules(files.get(".gitmodules", ""))
    ]
    needs = needs_of_tests(files, [*paths, *absent])
    inner = {module for module in needs.inner if distributions.is_known(module)}
    modules = [distributions.requirement_of(name) for name in sorted(needs.modules | inner)]
    own = requirements.requirement_name(manifest.name or "")
    found = [*modules, *sorted(needs.plugins), *pytest_settings.plugins(files)]
    if needs.yields:
        found.append("pytest<4")  # the last that runs generators of tests
    if needs.calls_pip:
        found += ["pip", "setuptools", "wheel"]  # environments have no installer of their own
    # modules of one letter are samples of code under test
    found = [name for name in found if len(name) > 1 and name not in distributions.LEFT_OUT]
    # a private module is nobody's distribution
    return tuple(line for line in found if requirements.requirement_name(line) not in {own, None})


def _joined(own: Sequence[str], declared: Sequence[str], needed: Sequence[str]) -> tuple[str, ...]:
    """All lines once; a bare name adds nothing where the same distribution is there."""
    lines = list(dict.fromkeys([*own, *declared]))
    names = {requirements.requirement_name(line) for line in lines}
    for line in (*needed, "pytest"):
        name = requirements.requirement_name(line)
        if name not in names or line != name:
            names.add(name)
            lines.append(line)
    return tuple(lines)
