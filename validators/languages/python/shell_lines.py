"""What CI, Dockerfiles, Makefiles and tox bring and run beside the requirements: never run here."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from configparser import ConfigParser
from configparser import Error as ConfigError
from pathlib import PurePosixPath

from validators.languages.python import ci
from validators.languages.python.interpreters import versions_in
from validators.languages.python.requirement_files import requirement_name

_APT = re.compile(r"\bapt(?:-get)?\s+(?:-\S+\s+)*install\s+([^\n&|;]+)")
_APT_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+")
_NOT_FOR_TESTS = re.compile(
    r"python[\d.]*(-.*)?|pypy.*|git|git-lfs|curl|wget|ca-certificates|gnupg2?|sudo|build-essential"
    r"|software-properties-common|apt-.*|docker.*|nodejs|npm|yarn|texlive.*|latexmk|lcov|gdb"
    r"|openssh-.*|vim|nano|less|google-.*|chromium.*|firefox.*|linux-.*|nvidia.*|cuda.*"
    r"|[a-z]*-?(server|server-.*)|postgresql.*|mysql.*|mariadb.*|mongodb.*|redis.*|rabbitmq.*"
)
"""In every image, of no use to tests, too large, or a service that no run has."""

_APT_MOST = 20
_PIP = re.compile(
    r"(?:\bpip[\d.]*|\buv\s+pip)\s+(?:-\S+\s+)*install\s+((?:\"[^\"\n]*\"|'[^'\n]*'|[^\n&|;])+)"
)
_WITH_VALUE = frozenset(
    [
        *("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "-t", "--target"),
        *("--prefix", "--root", "--python", "-p", "--trusted-host", "--only-binary", "--no-binary"),
        *("--cache-dir", "--timeout", "--progress-bar", "--global-option", "--install-option"),
        *("--build-option", "--config-settings", "-C", "--src", "--platform", "--user-agent"),
    ]
)
_FROM = re.compile(r"^FROM\s+(?:--platform=\S+\s+)?\S*python:(\S+)", re.MULTILINE | re.IGNORECASE)
_MANAGE = re.compile(r"python[\d.]*\s+(?:-W\s*\S+\s+)?((?:[\w-]+/)*manage\.py)\s+test\b")
_DJANGO = re.compile(
    r"(?:python[\d.]*\s+(?:-W\s*\S+\s+)?-m\s+django|django-admin(?:\.py)?)\s+test\b"
)
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_NOT_TO_SET = re.compile(
    r"PYTHON(?!PATH$).*|PYTEST.*|PIP.*|UV_.*|TOX.*|NOX.*|COV.*|VIRTUALENV.*|FORCE_COLOR|PY_COLORS|PATH|HOME|CI"
    r"|.*(TOKEN|SECRET|PASSWORD|_KEY|COVERAGE).*|LD_.*|LANG|LC_.*|TZ"
)
"""Names of the test runner, of the machine and of secrets: none of the project's business here."""


def is_script(path: str) -> bool:
    """A Makefile, or a Dockerfile at most one folder deep."""
    pure = PurePosixPath(path)
    if path in {"Makefile", "makefile", "GNUmakefile"}:
        return True
    return len(pure.parts) <= 2 and bool(re.fullmatch(r"Dockerfile([.-]\w+)?", pure.name))


def apt_packages(files: Mapping[str, str]) -> Sequence[str]:
    """Debian packages that CI, Dockerfiles and Makefiles install and tests may need, at most 20."""
    found = []
    for text in _texts(files):
        for match in _APT.finditer(text):
            words = [word.partition("=")[0] for word in match.group(1).split()]
            found += [word for word in words if _APT_NAME.fullmatch(word)]
    wanted = (name for name in dict.fromkeys(found) if not _NOT_FOR_TESTS.fullmatch(name))
    return tuple(wanted)[:_APT_MOST]


def pip_lines(files: Mapping[str, str]) -> Sequence[str]:
    """What they install by pip: requirements, `-r FILE`, `.[extra]`; no addresses, no options."""
    found: list[str] = []
    for text in _texts(files):
        for match in _PIP.finditer(text):
            found += _requirements(_words(match.group(1)))
    return tuple(dict.fromkeys(found))


def docker_pythons(files: Mapping[str, str]) -> Sequence[str]:
    """The Pythons whose official images Dockerfiles begin with."""
    texts = [text for path, text in files.items() if "Dockerfile" in path and is_script(path)]
    return versions_in(tag for text in texts for tag in _FROM.findall(text))


def django_command(files: Mapping[str, str], paths: Iterable[str]) -> str | None:
    """How Django's own runner is called, when that is how they run the tests and pytest is not."""
    texts = [*_texts(files), files.get("tox.ini", "")]
    said = "\n".join(texts)
    if re.search(r"(?<![\w-])(py\.test|pytest)(\s|$)", said):
        return None
    present = set(paths)
    for script in _MANAGE.findall(said):
        if script in present:
            return f"python {script} test"
    return "python -m django test" if _DJANGO.search(said) else None


def tox_variables(text: str) -> tuple[tuple[str, str], ...]:
    """What `[testenv]` of a tox.ini sets, where no value depends on where it is run."""
    parser = ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except ConfigError:
        return ()
    found = {}
    for line in parser.get("testenv", "setenv", fallback="").splitlines():
        name, equals, value = (part.strip() for part in line.partition("="))
        usual = _VARIABLE.fullmatch(name) and not _NOT_TO_SET.fullmatch(name)
        if equals and usual and value and len(value) <= 200 and "{" not in value:
            found[name] = value
    return tuple(sorted(found.items()))


def submodules(text: str) -> Sequence[str]:
    """The folders that a .gitmodules leaves to other repositories: here they are empty."""
    return tuple(re.findall(r"^\s*path\s*=\s*(\S+)\s*$", text, re.MULTILINE))


def _texts(files: Mapping[str, str]) -> Sequence[str]:
    """The scripts, lines that are continued made one."""
    paths = [path for path in sorted(files) if ci.is_ci_file(path) or is_script(path)]
    joined = (re.sub(r"\\\r?\n", " ", files[path]) for path in paths)
    return [re.sub(r"\$?\{\{.*?\}\}", "$", text) for text in joined]


def _words(text: str) -> Sequence[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.split()


def _requirements(words: Sequence[str]) -> Iterator[str]:
    rest = iter(words)
    for word in rest:
        if word in {"-r", "--requirement"}:
            if (name := next(rest, "")) and "$" not in name:
                yield f"-r {name}"
        elif word.startswith("-r") and "$" not in word:
            yield f"-r {word[2:]}"
        elif word in _WITH_VALUE or word in {"-c", "--constraint"}:
            next(rest, None)
        elif not re.search(r"[$@]|\.(whl|zip|gz)$", word) and (
            re.fullmatch(r"\.\[[\w,. -]+\]", word) or requirement_name(word) is not None
        ):
            yield word
