"""A small project, and what tests of real installs need of this machine."""

import io
import tarfile
from collections.abc import Mapping

from validators.certificates import system_certificates

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
