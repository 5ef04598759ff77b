"""One base image a Python version: pulled where a registry answers, else made on this machine.

What every base image holds, whichever way it came about: Python X.Y at /usr/local/bin/pythonX.Y
(also `python`), uv, git, a C compiler, locales, time zones, user `guest` (uid 1000), the folders of
validators/engine.py, and a resolver that knows localhost without /etc/hosts, as Docker leaves that
empty without a network. Images are found again by their tag; made when first needed.
"""

import re
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import uv

from validators import debian, interpreters
from validators.archive import pack
from validators.engine import (
    GUEST_UID,
    TREE,
    VENV,
    Container,
    ContainerEngine,
    NotPulled,
    Progress,
)
from validators.errors import (
    EngineUnavailableError,
    PythonUnavailableError,
    UnknownRecipeError,
)
from validators.model import BuildSettings, Image, Limits

BASE_LABEL = "miner.base"
"""On every base image: its Python version."""

ORIGIN_LABEL = "miner.origin"
"""On every base image: "pulled" or "built"."""

PARENT_LABEL = "miner.parent"
"""On the Debian images that built base images are made from, and on all that are made of them."""

_GENERATION = 3  # raise it when what is in a base image changes
_LIMITS = Limits(memory_mb=4096, cpus=2.0, disk_mb=8192, network=True)
_STEP_S = 1200.0
_ASK_AGAIN_S = {NotPulled.ABSENT: 3600.0, NotPulled.UNREACHABLE: 60.0}
FAMILY = "miner-base"
"""The repository in the tag of every one, and of what they are made from."""

_PARENT = f"{FAMILY}:{debian.SUITE}-{_GENERATION}"


class NotYet:
    """What no registry gave, for as long as it is not asked again. `clock` is in seconds.

    A daemon lives for months: neither a moment's silence nor an image that is published later may
    be remembered for good.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._found: dict[str, tuple[NotPulled, float]] = {}

    def add(self, reference: str, why: NotPulled) -> None:
        """A registry was just asked for it."""
        self._found[reference] = (why, self._clock() + _ASK_AGAIN_S[why])

    def why(self, reference: str) -> NotPulled | None:
        """Why it need not be asked for now; None when it is time to ask."""
        why, until = self._found.get(reference, (None, 0.0))
        return why if self._clock() < until else None


_making = threading.Lock()  # two workers that need the same image: one makes it, the other finds it
_not_pulled = NotYet()

_SELF_CHECK = (
    "import sys, ssl, sqlite3, ctypes, bz2, lzma, zlib, hashlib, sysconfig;"
    "print('%d.%d' % sys.version_info[:2])"
)

_PREPARE = f"""
set -e
export DEBIAN_FRONTEND=noninteractive
missing=
for package in {" ".join(debian.PACKAGES)}; do
    dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
done
if [ -n "$missing" ]; then
    apt-get update -q
    for package in $missing; do
        apt-cache show "$package" >/dev/null 2>&1 || continue
        wanted="$wanted $package"
    done
    apt-get install -q -y --no-install-recommends $wanted
    apt-get clean
    rm -rf /var/lib/apt/lists/*
fi
echo 'en_US.UTF-8 UTF-8' >/etc/locale.gen
locale-gen >/dev/null
# What engines write into /etc/hosts differs (podman copies the host's own): names of here by rule.
sed -i 's/^hosts:.*/hosts: myhostname files dns/' /etc/nsswitch.conf
id guest >/dev/null 2>&1 || useradd --uid {GUEST_UID} --create-home --shell /bin/bash guest
install -d -o guest -g guest {TREE} {VENV} /var/cache/uv
install -d /opt/miner
"""


def base_image(
    engine: ContainerEngine, python: str, *, settings: BuildSettings, progress: Progress
) -> tuple[Image, str]:
    """The base image of Python `python` ("3.12") and its origin: "pulled" or "built".

    `settings.base_images` is "pull", "build" or "auto" (one made before, else pull, else build).
    Raises UnknownRecipeError when the version is none, or cannot be had here by any way allowed;
    EngineUnavailableError when the engine or the Debian mirror failed, PythonUnavailableError when
    only a registry that cannot be reached may have it.
    """
    if not re.fullmatch(r"3\.\d{1,2}", python):
        raise UnknownRecipeError(f"{python!r} is no Python version: give one like 3.12.")
    ways = {"auto": ("pulled", "built"), "pull": ("pulled",), "build": ("built",)}
    allowed = ways[settings.base_images]
    with _making:
        for origin in allowed:
            image = engine.find(_tag(python, origin))
            if image is not None:
                return image, origin
        missed = _pulled(engine, python, progress) if "pulled" in allowed else NotPulled.ABSENT
        if isinstance(missed, Image):
            return missed, "pulled"
        if "built" in allowed and interpreters.available(python):
            return _built(engine, python, progress), "built"
    if missed is NotPulled.UNREACHABLE:
        raise PythonUnavailableError(_unreachable(python, settings))
    raise UnknownRecipeError(_nowhere(python, settings))


def is_current(tag: str) -> bool:
    """Whether a base image or parent of that tag is one this version would use."""
    return tag.removesuffix("-raw").endswith(f"-{_GENERATION}")


def _tag(python: str, origin: str) -> str:
    return f"{FAMILY}:py{python}-{origin}-{_GENERATION}"


def _pulled(engine: ContainerEngine, python: str, progress: Progress) -> Image | NotPulled:
    reference = f"python:{python}-slim"
    if (why := _not_pulled.why(reference)) is not None:
        return why
    progress(f"base image {python}: asking a registry for {reference}")
    image = engine.pull(reference)
    if isinstance(image, NotPulled):
        _not_pulled.add(reference, image)
        return image
    progress(f"base image {python}: adding git, uv and a compiler to {reference}")
    with engine.install(image, _LIMITS) as container:
        _root(container, _PREPARE, doing=f"prepare {reference}")
        _add_uv(container)
        return _commit(container, python, "pulled")


def _built(engine: ContainerEngine, python: str, progress: Progress) -> Image:
    parent = engine.find(_PARENT) or _parent(engine, progress)
    progress(f"base image {python}: adding the interpreter")
    with engine.install(parent, _LIMITS) as container:
        packed = interpreters.pack(python)
        if packed is None:
            _root(container, interpreters.DEBIAN_SCRIPT, doing=f"install Python {python}")
        else:
            container.put("/usr/local", packed, root=True)
            _root(container, interpreters.settle_script(python), doing=f"settle Python {python}")
        _add_uv(container)
        return _commit(container, python, "built")


def _parent(engine: ContainerEngine, progress: Progress) -> Image:
    """Debian with all but Python; made once for all versions."""
    progress(f"base images: making Debian {debian.SUITE} (a minute or less, once)")
    with tempfile.TemporaryDirectory(prefix="miner-debian-") as folder:
        root = Path(folder) / "root.tar"
        debian.make_root(root)
        raw = engine.import_root(root, tag=f"{_PARENT}-raw", labels={PARENT_LABEL: "raw"})
    with engine.install(raw, _LIMITS) as container:
        _root(container, _PREPARE, doing="prepare Debian")
        return container.commit(_PARENT, labels={PARENT_LABEL: debian.SUITE})


def _add_uv(container: Container) -> None:
    binary = Path(uv.find_uv_bin()).read_bytes()
    container.put("/usr/local/bin", pack({"uv": binary}, mode=0o755), root=True)


def _commit(container: Container, python: str, origin: str) -> Image:
    check = container.exec(("python", "-c", _SELF_CHECK), timeout_s=60)
    if not check.ok or check.output.decode().strip() != python:
        said = check.output[-400:].decode(errors="replace").strip()
        raise EngineUnavailableError(f"The base image of Python {python} does not work: {said}.")
    return container.commit(_tag(python, origin), labels={BASE_LABEL: python, ORIGIN_LABEL: origin})


def _root(container: Container, script: str, *, doing: str) -> None:
    outcome = container.exec(("/bin/bash", "-c", script), timeout_s=_STEP_S, root=True)
    if not outcome.ok:
        said = " ".join(outcome.output[-600:].decode(errors="replace").split())
        raise EngineUnavailableError(f"A base image could not be made (to {doing}): {said}.")


def _unreachable(python: str, settings: BuildSettings) -> str:
    otherwise = "set base images to build"
    if settings.base_images == "auto":
        otherwise = f"install it here with `pyenv install {python}`"
    return (
        f"No registry can be reached for python:{python}-slim: "
        f"check the container engine's network, or {otherwise}."
    )


def _nowhere(python: str, settings: BuildSettings) -> str:
    install = f"install it with `pyenv install {python}`"
    match settings.base_images:
        case "pull":
            return (
                f"No registry has python:{python}-slim: name another version, or set base images "
                "to build."
            )
        case "build":
            return f"pyenv has no Python {python} on this machine: {install}."
        case _:
            return (
                f"There is no base image for Python {python}: no registry has "
                f"python:{python}-slim and pyenv has no {python} here: {install}."
            )
