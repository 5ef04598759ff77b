"""Which projects can be built before they are installed, so that the build is found again. Pure.

The installer knows a build again by the times of `pyproject.toml`, `setup.py`, `setup.cfg` and of
the folder `src`. setuptools makes its metadata folder in there, which is a change, unless the
folder is there already.
"""

import re
from collections.abc import Mapping, Sequence

from validators.languages.python.manifest import read_manifest

_READ = ("pyproject.toml", "setup.cfg", "setup.py")


def folders_before(files: Mapping[str, bytes]) -> Sequence[str] | None:
    """Folders to be made before the build of a tree of these files.

    None where that cannot be told: then what is built ahead would be built again.
    """
    if not any(path.startswith("src/") for path in files):
        return ()
    texts = {path: files[path].decode("utf-8", "replace") for path in _READ if path in files}
    manifest = read_manifest(texts)
    if manifest.backend is not None and not manifest.backend.startswith("setuptools"):
        return ()
    if manifest.name is None:
        return None
    stem = re.sub(r"[^A-Za-z0-9.]+", "_", manifest.name)
    return (f"src/{stem}.egg-info",)
