"""Projects written for Python 2 that their setup.py converts (setuptools' use_2to3)."""

from dataclasses import replace

from validators.languages.python.as_of import LAST_2TO3
from validators.model import ProjectInstall, Recipe

_HAVE_LIB2TO3 = ("3.6", "3.7", "3.8")
"""Pythons on which the last setuptools that converts still runs."""


def converted(recipe: Recipe, folder: str) -> Recipe:
    """The recipe with the last setuptools that converts, and the tree converted before every run.

    The installed copy is of the base commit; what is tested are the sources in `folder`, patched
    and then converted the same way.
    """
    exempt = dict(recipe.cutoff_exempt) | {"setuptools": LAST_2TO3}
    return replace(
        recipe,
        python=recipe.python if recipe.python in _HAVE_LIB2TO3 else _HAVE_LIB2TO3[-1],
        cutoff_exempt=tuple(sorted(exempt.items())),
        project_install=ProjectInstall.PLAIN,
        source_paths=(folder,),
        build_cmd=f"python -m lib2to3 --write --nobackups --no-diffs {folder}",
    )
