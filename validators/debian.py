"""A Debian root file system, made with mmdebstrap or debootstrap: the parent of built images."""

import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from validators.errors import EngineUnavailableError

SUITE = "bookworm"
PYTHON = "3.11"
"""The suite's own Python."""

PACKAGES = (
    "build-essential",
    "ca-certificates",
    "git",
    "libnss-myhostname",
    "locales",
    "patch",
    "patchelf",
    "pkg-config",
    "procps",
    "tzdata",
    "unzip",
    "xz-utils",
    # what interpreters are linked with
    "libbz2-1.0",
    "libcrypt1",
    "libexpat1",
    "libffi8",
    "liblzma5",
    "libncursesw6",
    "libnsl2",
    "libreadline8",
    "libsqlite3-0",
    "libssl3",
    "libtirpc3",
    "libuuid1",
    "zlib1g",
)

_MAKE_S = 1800


def make_root(tar: Path) -> None:
    """Write the root file system to `tar`, uncompressed. Takes up to a minute.

    Raises EngineUnavailableError when there is no tool for it, or it failed.
    """
    if shutil.which("mmdebstrap"):
        include = f"--include={','.join(PACKAGES)}"
        _run(["mmdebstrap", "--quiet", "--variant=minbase", include, SUITE, str(tar)])
    elif shutil.which("debootstrap"):
        _debootstrap(tar)
    else:
        raise EngineUnavailableError(
            "Base images are made with mmdebstrap, which is missing: install it with "
            "`apt-get install mmdebstrap`, or give the engine access to a registry."
        )


def _debootstrap(tar: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="miner-debootstrap-") as folder:
        root = Path(folder) / "root"
        include = f"--include={','.join(PACKAGES)}"
        _run(["debootstrap", "--variant=minbase", include, SUITE, str(root)])
        for leftover in (root / "var/cache/apt/archives").glob("*.deb"):
            leftover.unlink()
        with tarfile.open(tar, "w") as packed:
            packed.add(root, arcname=".", filter=_without_devices)


def _without_devices(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if member.isdev() else member


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_MAKE_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EngineUnavailableError(
            f"{command[0]} did not end in {_MAKE_S // 60} minutes: check the Debian mirror."
        ) from error
    if done.returncode != 0:
        said = " ".join(done.stdout[-600:].decode(errors="replace").split())
        raise EngineUnavailableError(
            f"{command[0]} could not make Debian {SUITE}: {said}. Run it as root, and check that "
            "the Debian mirror can be reached."
        )
