"""What an error says is to be installed: the `pip install …` of its own last lines.

The words are a guest's. Names are all that is taken of them: of a command with an address, a path,
a file, or an option that says more than "now", nothing. What is merely printed is no error.
"""

import re
from collections.abc import Iterable, Sequence
from shlex import split

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from validators.languages.python.requirement_files import requirement_name

_COMMAND = re.compile(
    r"(?P<quote>[`'\"]?)(?P<prompt>[$>%] {1,4})?(?:python[\d.]{,4} -m )?(?:uv )?"
    r"(?<![\w-])pip[\d.]{,4} install +(?P<words>[^\n]{1,300})"
)
_BY_PIP = re.compile(r"\bpip(?: or (?:conda|mamba))? to install (?P<words>[^\s`'\"]{1,100})")
"""As pandas says it."""

_HARMLESS = frozenset({"-U", "--upgrade", "--user", "-q", "--quiet", "--force-reinstall"})
_PUNCTUATION = ".,;:!?)"
_AROUND = f"`'\"{_PUNCTUATION}"
_PROSE = frozenset(
    [
        *("a", "again", "all", "an", "and", "any", "as", "before", "first", "for", "from", "in"),
        *("it", "its", "latest", "missing", "needed", "on", "one", "or", "package", "packages"),
        *("required", "that", "the", "them", "these", "this", "to", "via", "with", "your"),
    ]
)
_NOT_INSTALLED = frozenset({"pip"})
_FILE = re.compile(r".*\.(txt|in|whl|zip|gz|bz2|egg|cfg|toml)", re.IGNORECASE)
_ELSE = re.compile(r"--?[A-Za-z]|@")

_PIP_INSTALL = "pip install "
_MOST = 10
"""Names in one error; of more, it is no advice."""

_LONGEST = 100
"""Characters of a name with its extras and versions."""

_LINES = 12
"""Of an error; those that follow belong to something else."""

_TAIL = 20_000
"""Characters of an output in which its last error stands."""

_TRACEBACK = "Traceback (most recent call last):"
_OF_PYTEST = re.compile(r"E(?: {3}.*)?")
_INTERNAL = re.compile(r"^INTERNALERROR> ?", re.MULTILINE)
_RAISED = re.compile(r"[A-Za-z_][\w.]{,200}: ")
_OWN_AFFAIR = re.compile(r"AssertionError\b|Skipped\b|assert ")
_SAID_LAST = re.compile(r"(error|ERROR|[\w.]{,100}(?:Error|Exception|Exit)): ")


def named(error: str) -> Sequence[str]:
    """The requirements that an error's own words say to install, each a name with at most extras
    and versions ("httpx", "pydantic[email]>=2")."""
    found: dict[str, None] = {}
    for match in _COMMAND.finditer(error):
        found |= dict.fromkeys(_of_command(match, error[: match.start()]))
    for match in _BY_PIP.finditer(error):
        found |= dict.fromkeys(_first(match["words"]))
    return tuple(found) if len(found) <= _MOST else ()


def command(requirements: Sequence[str]) -> str:
    """As the detail of a failed build."""
    return f"{_PIP_INSTALL}{' '.join(requirements)}"


def of_command(detail: str) -> Sequence[str]:
    """What `command` was given; nothing of another detail."""
    return detail.removeprefix(_PIP_INSTALL).split() if detail.startswith(_PIP_INSTALL) else ()


def for_tree(requirements: Iterable[str], project: str | None) -> Sequence[str]:
    """The requirements of a tree whose own distribution is called `project`: that is there already,
    only its extras may not be."""
    own = None if project is None else canonicalize_name(project)
    found: list[str] = []
    for line in requirements:
        _, bracket, extras = line.partition("[")
        if requirement_name(line) != own:
            found.append(line)
        elif bracket:
            found.append(f".[{extras.partition(']')[0]}]")
    return tuple(found)


def of_message(message: str, *, raised: bool) -> str:
    """The error in what a report says of a test; "" where it is the test's own affair.

    `raised`: the report tells it from a test that failed.
    """
    error = _shown(message)
    if error is None:
        is_error = _OWN_AFFAIR.match(message) is None and (raised or _RAISED.match(message))
        error = message if is_error else ""
    return error


def of_output(output: str) -> str:
    """The last error in what a run printed: that pytest shows, or one with its traceback."""
    return _shown(_INTERNAL.sub("", output[-_TAIL:])) or ""


def of_build(log: str) -> str:
    """The error with which a build ended: with its traceback, or what it said last on stderr."""
    tail = log[-_TAIL:]
    error = _after_traceback(tail)
    if error is not None:
        return error
    _, stderr, said = tail.rpartition("[stderr]")
    lines = [line.strip() for line in said.splitlines() if line.strip() and stderr]
    lines = [line for line in lines if not line.startswith("hint:")][-_LINES:]
    ends = [number for number, line in enumerate(lines) if _SAID_LAST.match(line)]
    return "\n".join(lines[ends[-1] :] if ends else lines)


def _of_command(match: re.Match[str], before: str) -> Sequence[str]:
    """All of a command that stands by itself or in quotes; in a sentence, its first name."""
    words = match["words"]
    if match["quote"] and match["quote"] in words:
        return _all(words.partition(match["quote"])[0])
    above, newline, margin = before.rpartition("\n")
    alone = newline and not margin.strip() and above.rstrip().endswith(":")
    return _all(words) if match["prompt"] or alone else _first(words)


def _all(words: str) -> Sequence[str]:
    """Every word's requirement; none where a word is something else."""
    try:
        given = split(words.rstrip().rstrip(_PUNCTUATION))
    except ValueError:  # an apostrophe
        return _first(words)
    if not _PROSE.isdisjoint(given):
        return _first(words)
    found = [_requirement(word) for word in given if word not in _HARMLESS]
    known = [each for each in found if each is not None]
    return known if len(known) == len(found) <= _MOST else ()


def _first(words: str) -> Sequence[str]:
    """The requirement of the first word, where its sentence has no option or address."""
    given: list[str] = []
    for word in words.split():
        if word not in _HARMLESS:
            given.append(word.strip(_AROUND))
        if word[-1] in _PUNCTUATION:
            break
    if not given or given[0].lower() in _PROSE or any(map(_ELSE.match, given)):
        return ()
    requirement = _requirement(given[0])
    return () if requirement is None else (requirement,)


def _requirement(word: str) -> str | None:
    """A name with extras and versions, and nothing else that a requirement may have."""
    if len(word) > _LONGEST:
        return None
    try:
        given = Requirement(word)
    except InvalidRequirement:
        return None
    name = canonicalize_name(given.name)
    if given.url or given.marker or name in _NOT_INSTALLED or _FILE.fullmatch(given.name):
        return None
    extras = f"[{','.join(sorted(given.extras))}]" if given.extras else ""
    return f"{name}{extras}{given.specifier}"


def _shown(text: str) -> str | None:
    """The last error that pytest shows, or below the last traceback; "" where a test's assertion
    is all, None where there is neither."""
    error = _of_pytest(text)
    if error is None:
        error = _after_traceback(text)
    return "" if error is not None and _OWN_AFFAIR.match(error) else error


def _of_pytest(text: str) -> str | None:
    """The last lines that pytest marks as an error's, without the mark."""
    lines = text.splitlines()
    while lines and not _OF_PYTEST.fullmatch(lines[-1]):
        lines.pop()
    first = len(lines)
    while first and _OF_PYTEST.fullmatch(lines[first - 1]):
        first -= 1
    return "\n".join(line[4:] for line in lines[first:]) if lines else None


def _after_traceback(text: str) -> str | None:
    """What stands below the last traceback's frames, which are indented."""
    above, found, below = text.rpartition(_TRACEBACK)
    if not found:
        return None
    margin = len(above) - len(above.rstrip(" "))
    lines = [line[margin:] for line in below.splitlines()[1:]]
    first = next((n for n, line in enumerate(lines) if line[:1].strip()), len(lines))
    return "\n".join(lines[first : first + _LINES])
