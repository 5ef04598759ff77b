"""What a failed install says: its class and the one name that matters, from its log."""

import re
from collections.abc import Sequence

from validators.languages.python import advice
from validators.model import BuildFailure, FailureClass, Outcome

_BUILD_OUTPUT = re.compile(rb"^[ \t]*\[std(?:out|err)\][ \t\r]*$.*", re.MULTILINE | re.DOTALL)

_COMPILER = r"(?:x86_64-linux-gnu-)?(?:gcc|g\+\+|cc|c\+\+|clang)"
_BUILD_TOOL = r"gcc|g\+\+|cc|cmake|ninja|pkg-config|cargo|make|swig|gfortran|rustc"

_PKG_CONFIG = (
    r"Command 'pkg-config --exists (\S+)' returned",
    r"^[ \t]*Package '?([\w.+-]+?)'?(?:, required by '[^']*',)? (?:was )?not found",
    r"No package '([^']+)' found",
    r"^[ \t]*error: ([\w.+-]+) is not installed or not in path",
    r"Dependency \"([\w.+-]+)\" not found",
)
_OTHER_API = (
    r"‘(_?Py\w+)’(?: \{aka [^}\n]{,200}\})? has no member named",
    r"too (?:few|many) arguments to function ‘(_?Py\w+)’",
    r"implicit declaration of function ‘(_?Py\w+)’",
    r"unknown type name ‘(Py\w+)’",
)
"""C that another Python would compile: its interface changes with the minor version."""

_IN_PARTICULAR: Sequence[tuple[FailureClass, str]] = (
    (FailureClass.RESOURCE_LIMIT, r"(more than \d+ MB on disk: killed)"),
    (
        FailureClass.RESOURCE_LIMIT,
        r"(No space left on device|Disk quota exceeded|File too large|MemoryError\b)",
    ),
    (FailureClass.BUILD_ISOLATION, r"(use_2to3 is invalid)"),
    (FailureClass.WRONG_PYTHON, r"requires a different Python: [\d.]+ not in '([^']+)'"),
    (
        FailureClass.WRONG_PYTHON,
        r"Python version \([^)]{,200}\) does not satisfy (Python\S*?),?(?:\s|$)",
    ),
    (FailureClass.WRONG_PYTHON, r"(SyntaxError: .*)"),
    (FailureClass.WRONG_PYTHON, r"No module named '(distutils|imp|asyncore|asynchat|lib2to3)\b"),
    (FailureClass.WRONG_PYTHON, r"(module 'pkgutil' has no attribute 'ImpImporter')"),
    (FailureClass.WRONG_PYTHON, r"(module 'collections' has no attribute '\w+')"),
    (
        FailureClass.WRONG_PYTHON,
        r"fatal error: (longintrepr\.h): No such file",
    ),
    (FailureClass.MISSING_SYSTEM_LIBRARY, r"fatal error: ([\w/.-]+\.h(?:pp)?): No such file"),
    (FailureClass.MISSING_SYSTEM_LIBRARY, r"(?:can't find|Cargo, the) (Rust) (?:comp|pack)"),
    (FailureClass.MISSING_SYSTEM_LIBRARY, r"Do you have (cargo) in your PATH"),
    (FailureClass.MISSING_SYSTEM_LIBRARY, r"(?:Could not find |^Problem with the )(CMake)\b"),
    (FailureClass.MISSING_SYSTEM_LIBRARY, r"(CMake) (?:must be|is not) installed"),
    (FailureClass.MISSING_SYSTEM_LIBRARY, r"Unknown compiler\(s\): \[\['([\w+-]+)'"),
    *((FailureClass.MISSING_SYSTEM_LIBRARY, pattern) for pattern in _PKG_CONFIG),
    (FailureClass.MISSING_SYSTEM_LIBRARY, r"cannot find (-l\w+)"),
    (
        FailureClass.MISSING_SYSTEM_LIBRARY,
        r"\b(\w{1,80}[-_]config)\b.{,200}(?:not found|No such file)",
    ),
    (FailureClass.MISSING_SYSTEM_LIBRARY, rf"command '({_COMPILER})' failed: No such file"),
    (FailureClass.MISSING_SYSTEM_LIBRARY, rf"'({_COMPILER})':? No such file"),
    (FailureClass.MISSING_SYSTEM_LIBRARY, rf"\b({_BUILD_TOOL}): (?:command )?not found"),
    (FailureClass.EDITABLE_IMPOSSIBLE, r"(Multiple top-level \w+ discovered in a flat-layout)"),
    (FailureClass.EDITABLE_IMPOSSIBLE, r"does not (?:have|support).{,200}(build_editable)"),
    (FailureClass.EDITABLE_IMPOSSIBLE, r"has no attribute '(\w*build\w*_editable)'"),
    *((FailureClass.WRONG_PYTHON, pattern) for pattern in _OTHER_API),
    (FailureClass.BUILD_ISOLATION, r"invalid command 'bdist_(wheel)'"),
    (
        FailureClass.BUILD_ISOLATION,
        r"Could not find suitable distribution for Requ\w+\.parse\('([\w.-]+)",
    ),
)
_IN_GENERAL: Sequence[tuple[FailureClass, str]] = (
    (FailureClass.BUILD_ISOLATION, r"ModuleNotFoundError: No module named '([\w.]+)'"),
    (FailureClass.BUILD_ISOLATION, r"ImportError: No module named '?([\w.]+)'?"),
    (FailureClass.PACKAGE_NOT_FOUND, r"Because ([\w.\[\]-]+) was not found in the package"),
    (FailureClass.PACKAGE_NOT_FOUND, r"E: Unable to locate package (\S+)"),
    (FailureClass.PACKAGE_NOT_FOUND, r"E: Package '([^']+)' has no installation candidate"),
    (FailureClass.NO_MATCHING_VERSION, r"there (?:is|are) no versions? of ([\w.\[\]-]+)"),
    (FailureClass.NO_MATCHING_VERSION, r"Because (?:only |all versions of )?([\w.\[\]-]+)"),
    (FailureClass.OUTSIDE_TREE, r"Failed to download(?: and build)? `([^`]* @ \w+://[^`]*)`"),
    (FailureClass.OUTSIDE_TREE, r"Distribution not found at: (\S+)"),
    (
        FailureClass.OUTSIDE_TREE,
        r"`(/(?!testbed[/`]|tmp/miner/)[^`]*)` does not appear to be a Python project",
    ),
    (FailureClass.OUTSIDE_TREE, r"(Git operation failed)"),
)
"""The first that is found decides, so the particular stands before the general. Between both stands
what the error itself says to install.

No time may be the square of a log's length, which the guest chooses: what stands between two words
is bounded, and no blanks at a line's start are more than that line's."""

_RAISED = re.compile(
    r"(?:[\w.]*(?:Error|Exception|Exit)|(?:\w+\.)+[A-Z]\w+|error|ERROR|E): \S|cause: Hash mismatch"
)


_ADDRESS = re.compile(rb"`[^`\n]* @ (\w+(?:\+\w+)?://[^`\n]*)`")
_NOT_FETCHED = re.compile(rb"Failed to fetch: `?([^\s`]+)")


def lacks_dates(output: bytes) -> bool:
    """Whether the index does not say when files were uploaded: then a date excludes them all."""
    return b"is missing an upload date" in output and b"No solution found" in output


def is_of_an_address(output: bytes) -> bool:
    """Whether what could not be fetched is a requirement's own URL, which is no index of ours.

    The project itself has the address of its folder; what its build requires comes from the index.
    """
    named = {url for url in _ADDRESS.findall(output) if not url.startswith(b"file:")}
    fetched = _NOT_FETCHED.findall(output)
    return bool(named.intersection(fetched) if fetched else named)


def own_words(output: bytes) -> bytes:
    """What the installer says itself, without what a build script printed.

    Only this may be blamed on the machine: a build script fails to reach whatever it likes.
    """
    return _BUILD_OUTPUT.sub(b"", output)


def classify(step: str, outcome: Outcome) -> BuildFailure:
    """The failure of a step, with the name that repairs need."""
    failure_class, detail = _class_of(step, outcome)
    return BuildFailure(outcome=outcome, failure_class=failure_class, detail=detail, step=step)


def _class_of(step: str, outcome: Outcome) -> tuple[FailureClass, str]:
    if outcome.timed_out:
        return FailureClass.TIMED_OUT, f"{step} ran longer than allowed"
    if outcome.out_of_memory:
        return FailureClass.RESOURCE_LIMIT, f"{step} used more memory than allowed"
    log = outcome.output.decode("utf-8", "replace")
    if (found := _of_patterns(_IN_PARTICULAR, log)) is not None:
        return found
    if wanted := advice.named(advice.of_build(log)):
        return FailureClass.BUILD_ISOLATION, advice.command(wanted)
    return _of_patterns(_IN_GENERAL, log) or (FailureClass.OTHER, _last_line(log))


def _of_patterns(
    patterns: Sequence[tuple[FailureClass, str]], log: str
) -> tuple[FailureClass, str] | None:
    for failure_class, pattern in patterns:
        if match := re.search(pattern, log, re.MULTILINE):
            return failure_class, match.group(1)
    return None


def _last_line(log: str) -> str:
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("hint:")]
    raised = [line for line in lines if _RAISED.match(line)]
    return (raised or lines or ["it said nothing"])[-1][:300]
