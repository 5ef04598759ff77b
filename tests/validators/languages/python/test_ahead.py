"""What must be there before a build so that it is found again."""

from collections.abc import Mapping, Sequence

import pytest

from validators.languages.python.ahead import folders_before

SRC = {"src/a/__init__.py": b""}
FLIT = b'[build-system]\nrequires = ["flit_core"]\nbuild-backend = "flit_core.buildapi"\n'
MODERN = b'[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
NAMED = b'[project]\nname = "my-own.project"\n'


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"setup.py": b"", "a.py": b""}, ()),
        ({"pyproject.toml": FLIT, **SRC}, ()),
        ({"pyproject.toml": MODERN + NAMED, **SRC}, ("src/my_own.project.egg-info",)),
        ({"pyproject.toml": NAMED, **SRC}, ("src/my_own.project.egg-info",)),
        ({"setup.cfg": b"[metadata]\nname = a\n", "setup.py": b"", **SRC}, ("src/a.egg-info",)),
        ({"setup.py": b"setup(name='A b')\n", **SRC}, ("src/A_b.egg-info",)),
        ({"setup.py": b"setup(name=NAME + other)\n", **SRC}, None),
    ],
)
def test_only_setuptools_in_src_needs_its_folder(
    files: Mapping[str, bytes], expected: Sequence[str] | None
) -> None:
    assert folders_before(files) == expected
