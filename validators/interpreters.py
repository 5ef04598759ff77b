"""The host's Python interpreters (pyenv's), packed so that they work at /usr/local elsewhere.

As in the official slim images, the standard library's own tests, static libraries and installed
packages are left out; its bytecode comes along.
"""

import io
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from validators import debian

_PREFIX = "/usr/local"
_LEFT_OUT = {"test", "tests", "idle_test", "site-packages", "turtledemo"}
_BIN = ("python", "pydoc", "2to3", "idle")

# Debian's own Python, under the names the other images use.
DEBIAN_SCRIPT = """
set -e
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends python3 python3-dev python3-venv
apt-get clean
rm -rf /var/lib/apt/lists/* /usr/lib/python3*/EXTERNALLY-MANAGED
ln -sf /usr/bin/python3 /usr/local/bin/python
for name in /usr/bin/python3.*; do ln -sf "$name" /usr/local/bin/; done
"""


def available(python: str) -> bool:
    """This machine can give Python X.Y to an image."""
    return python == debian.PYTHON or find(python) is not None


def find(python: str) -> Path | None:
    """The prefix of the newest pyenv build of Python X.Y that is complete; None without one."""
    versions = _pyenv_root() / "versions"
    found = [
        (int(each.name.rpartition(".")[2]), each)
        for each in versions.glob(f"{python}.*")
        if each.name.removeprefix(f"{python}.").isdigit()
        and (each / f"bin/python{python}").exists()
    ]
    return max(found)[1] if found else None


def pack(python: str) -> bytes | None:
    """A tar of the interpreter to unpack at /usr/local; None where pyenv has none."""
    prefix = find(python)
    if prefix is None:
        return None
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in _files(prefix, python):
            _add(tar, path, prefix)
    return packed.getvalue()


def settle_script(python: str) -> str:
    """What to run as root where it was unpacked: search paths, symbols, fresh bytecode."""
    return f"""
set -e
cd {_PREFIX}
strip --strip-unneeded lib/libpython*.so* 2>/dev/null || true
patchelf --set-rpath '$ORIGIN/../lib' "$(readlink -f bin/python{python})"
for library in lib/libpython3.so lib/python{python}/lib-dynload/*.so; do
    case "$(patchelf --print-rpath "$library" 2>/dev/null)" in
        /*) patchelf --set-rpath '{_PREFIX}/lib' "$library" ;;
    esac
done
ldconfig
bin/python{python} -m compileall -q lib/python{python}/_sysconfigdata*.py
mkdir -p lib/python{python}/site-packages
"""


def _pyenv_root() -> Path:
    """What pyenv itself says, which heeds PYENV_ROOT; else its usual place."""
    pyenv = shutil.which("pyenv")
    if pyenv is not None:
        said = subprocess.run(
            [pyenv, "root"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        if said.returncode == 0 and said.stdout.strip():
            return Path(said.stdout.strip())
    return Path.home() / ".pyenv"


def _files(prefix: Path, python: str) -> Iterator[Path]:
    """Files and links of an interpreter, in a fixed order."""
    for path in sorted((prefix / "bin").iterdir()):
        if path.name.startswith(_BIN):
            yield path
    for top in (prefix / "include", prefix / "lib"):
        for path in sorted(top.rglob("*")):
            if (path.is_file() or path.is_symlink()) and _wanted(path.relative_to(prefix), python):
                yield path


def _wanted(path: Path, python: str) -> bool:
    if _LEFT_OUT.intersection(path.parts) or path.suffix == ".a":
        return False
    if path.suffix == ".pyc":
        return ".opt-" not in path.name and "_sysconfigdata" not in path.name
    return (
        path.parts[0] != "lib"
        or len(path.parts) < 3
        or path.parts[1]
        in {
            f"python{python}",
            "pkgconfig",
        }
    )


def _add(tar: tarfile.TarFile, path: Path, prefix: Path) -> None:
    member = tar.gettarinfo(path, arcname=str(PurePosixPath(*path.relative_to(prefix).parts)))
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    if not member.isreg():
        tar.addfile(member)
        return
    content = path.read_bytes()
    if _names_the_prefix(path, content):
        content = content.replace(str(prefix).encode(), _PREFIX.encode())
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


def _names_the_prefix(path: Path, content: bytes) -> bool:
    """Texts that spell the place they were installed at."""
    return (
        content.startswith(b"#!")
        or path.suffix == ".pc"
        or path.name.startswith("_sysconfigdata")
        or (path.name == "Makefile" and path.parent.name.startswith("config-"))
    )
