"""From a repository's own files to recipes, likeliest first. Nothing of it is executed."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from validators.model import Recipe


def manifest_paths(paths: Sequence[str]) -> Sequence[str]:
    """The files `propose_recipes` wants to read."""
    return tuple(path for path in paths if path in {"pyproject.toml", "setup.cfg", "setup.py"})


def propose_recipes(
    files: Mapping[str, str], paths: Sequence[str], date: datetime
) -> Sequence[Recipe]:
    """Recipes for a tree of `paths`, whose manifests are `files`, as of `date`."""
    del files, paths
    return (Recipe(language="python", python="3.12", requirements=("pytest",), cutoff_at=date),)
