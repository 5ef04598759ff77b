"""A small project, and what tests of real installs need of this machine."""

import io
import tarfile
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime

from tests.fakes.installs import LOCK
from validators.certificates import system_certificates
from validators.model import Recipe, Tree

SAMPLE: Mapping[str, bytes] = {
    "pyproject.toml": (
        b'[project]\nname = "sample"\ndynamic = ["version"]\nrequires-python = ">=3.8"\n'
        b'dependencies = ["iniconfig"]\n'
        b'[build-system]\nrequires = ["setuptools>=64", "setuptools-scm"]\n'
        b'build-backend = "setuptools.build_meta"\n'
        b'[tool.setuptools_scm]\nversion_file = "src/sample/_version.py"\n'
    ),
    "src/sample/__init__.py": b"def answer():\n    return 42\n",
    "tests/test_sample.py": (
        b"import iniconfig\nimport sample\n\n\ndef test_answer():\n"
        b"    from sample._version import version\n\n"
        b'    assert sample.answer() == 42\n    assert version.startswith("1.0")\n'
    ),
}
"""Its version comes from git, its tests need a file that only an install makes."""

DATE = datetime(2024, 5, 6, tzinfo=UTC)
RECIPE = Recipe(
    language="python", python="3.12", requirements=(".", "pytest"), cutoff_at=DATE, lock=LOCK
)

CA_BUNDLE = system_certificates()
"""What this machine trusts: containers behind a TLS proxy must trust it too."""


def sample_tar(files: Mapping[str, bytes]) -> bytes:
    """Files as a tar with fixed times."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o644
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def thing_wheel(version: str, says: str) -> bytes:
    """A distribution called thing. Always the same bytes for the same words."""
    info = f"thing-{version}.dist-info"
    files = {
        "thing.py": f"SAYS = {says!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: thing\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "".join(f"{name},,\n" for name in ("thing.py", f"{info}/METADATA")),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0)), text)
    return packed.getvalue()


def thing_index(wheels: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """A tree's files with a package index in it that has these versions of thing, and no more."""
    names = {version: f"thing-{version}-py3-none-any.whl" for version in wheels}
    page = "".join(f'<a href="{name}">{name}</a>\n' for name in names.values())
    files = {f"index/thing/{names[version]}": wheel for version, wheel in wheels.items()}
    return {**files, "index/thing/index.html": page.encode(), "tests/test_a.py": b"\n"}


THING = thing_wheel("1.0", "first")


def tree_of(files: Mapping[str, bytes] = SAMPLE, *, commit: str = "c" * 40) -> Tree:
    """The sample, or other files, as the tree of a commit."""
    return Tree(commit=commit, committed_at=DATE, tar=sample_tar(files), nearest_tag="v1.0")
