"""What would be imported in place of the standard library, the runner or a package. Pure."""

import re
import sys
from functools import lru_cache

from validators.surroundings import Surroundings, import_roots

AT_START = frozenset(["sitecustomize", "usercustomize"])
"""Modules that Python imports by itself before anything else, from wherever they can be."""

_RUNNER = frozenset(
    [
        *("pytest", "_pytest", "pluggy", "py", "iniconfig", "unittest", "django"),
        *AT_START,
    ]
)
_RETIRED = (
    ((3, 12), frozenset(["asynchat", "asyncore", "distutils", "imp", "smtpd"])),
    (
        (3, 13),
        frozenset(
            [
                *("aifc", "audioop", "cgi", "cgitb", "chunk", "crypt", "imghdr", "lib2to3"),
                *("mailcap", "msilib", "nis", "nntplib", "ossaudiodev", "pipes", "sndhdr"),
                *("spwd", "sunau", "telnetlib", "uu", "xdrlib"),
            ]
        ),
    ),
)
"""Modules that the standard library had before that Python; this interpreter may not know them."""

_MODULES = (".py", ".pyx", ".pyi", ".c", ".so", ".pyd")


def shadowed(path: str, surroundings: Surroundings) -> str | None:
    """A new module that hides one of the standard library's or of an installed one.

    In packages that several distributions share (`zope/`), the second level counts too.
    """
    modules = _module_names(surroundings.packages, surroundings.installed, surroundings.python)
    for root in import_roots(surroundings):
        prefix = f"{root}/" if root else ""
        if not path.startswith(prefix):
            continue
        top, _, rest = path[len(prefix) :].partition("/")
        inner = f"{top}/{rest.partition('/')[0].partition('.')[0]}"
        for name in (top.partition(".")[0], inner):
            if name in modules and not _is_own(f"{prefix}{name}", path, surroundings.final_paths):
                return f"would shadow the module {name.replace('/', '.')}"
    return None


def _is_own(module: str, path: str, final_paths: frozenset[str]) -> bool:
    """Whether the project has that module itself, or a folder of its name that stays a mere folder.

    `packaging/` with files for a distribution hides nothing, until it is made a package.
    """
    sources = [f"{module}{end}{suffix}" for end in ("", "/__init__") for suffix in _MODULES]
    if not final_paths.isdisjoint(sources):
        return True
    folder = f"{module}/"
    stays = path.startswith(folder) and not path.startswith(f"{folder}__init__.")
    return stays and any(each.startswith(folder) for each in final_paths)


@lru_cache(maxsize=64)
def _module_names(
    packages: tuple[str, ...], installed: tuple[str, ...], python: str
) -> frozenset[str]:
    """Modules that are not the tree's, with slashes for their dots."""
    distributed = {
        re.split(r"[=@<> \[]", line, maxsplit=1)[0].lower().replace("-", "_") for line in packages
    }
    modules = {
        name.partition(".")[0]
        for name in installed
        if not name.endswith((".dist-info", ".egg-info", ".pth", ".libs"))
    }
    version = tuple(int(part) for part in re.findall(r"\d+", python)[:2])
    retired = (names for gone_in, names in _RETIRED if version and version < gone_in)
    return (sys.stdlib_module_names | _RUNNER).union(distributed, modules, *retired)
