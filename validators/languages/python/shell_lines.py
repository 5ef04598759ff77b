"""What CI, Dockerfiles, Makefiles and tox bring and run beside the requirements: never run here."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from validators.languages.python import ci
from validators.languages.python.documents import words_before_remark
from validators.languages.python.interpreters import versions_in
from validators.languages.python.requirement_files import requirement_name

_APT = re.compile(r"\bapt(?:-get)?\s+(?:-\S+\s+){,20}install\s+([^\n&|;]+)")
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
    r"(?:\bpip[\d.]*|\buv\s+pip)\s+(?:-\S+\s+){,20}install\s+((?:\"[^\"\n]*\"|'[^'\n]*'|[^\n&|;])+)"
)
_WITH_VALUE = frozenset(
    [
        *("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "-t", "--target"),
        *("--prefix", "--root", "--python", "-p", "--trusted-host", "--only-binary", "--no-binary"),
        *("--cache-dir", "--timeout", "--progress-bar", "--global-option", "--install-option"),
        *("--build-option", "--config-settings", "-C", "--src", "--platform", "--user-agent"),
    ]
)
_FILE_OPTIONS = {"-r": "-r", "--requirement": "-r", "-c": "-c", "--constraint": "-c"}
_FROM = re.compile(r"^FROM\s+(?:--platform=\S+\s+)?\S*python:(\S+)", re.MULTILINE | re.IGNORECASE)
_MANAGE = re.compile(r"python[\d.]*\s+(?:-W\s*\S+\s+)?((?:[\w-]+/)*manage\.py)\s+test\b")
_DJANGO = re.compile(
    r"(?:python[\d.]*\s+(?:-W\s*\S+\s+)?-m\s+django|django-admin(?:\.py)?)\s+test\b"
)

_SCRIPTS = frozenset({"Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", "tasks.py"})


def is_script(path: str) -> bool:
    """A Makefile, invoke's tasks, a script that tests; a Dockerfile at most one folder deep."""
    pure = PurePosixPath(path)
    if path in _SCRIPTS or re.fullmatch(r"((scripts|bin|tools|ci)/)?(run_?)?tests?(\.sh)?", path):
        return True
    return len(pure.parts) <= 2 and bool(re.fullmatch(r"Dockerfile([.-]\w+)?", pure.name))


def apt_packages(files: Mapping[str, str]) -> Sequence[str]:
    """Debian packages that CI, Dockerfiles and Makefiles install and tests may need, at most 20."""
    found = []
    for text in scripts(files):
        for match in _APT.finditer(text):
            words = [word.partition("=")[0] for word in match.group(1).split()]
            found += words
    named = filter(_APT_NAME.fullmatch, dict.fromkeys([*found, *ci.apt_addons(files)]))
    return tuple(name for name in named if not _NOT_FOR_TESTS.fullmatch(name))[:_APT_MOST]


def pip_lines(files: Mapping[str, str]) -> Sequence[str]:
    """What they install by pip: requirements, `-r FILE`, `-c FILE`, `.[extra]`; no addresses."""
    found: list[str] = []
    for text in scripts(files):
        for match in _PIP.finditer(text):
            found += _requirements(words_before_remark(match.group(1)))
    return tuple(dict.fromkeys(found))


def docker_pythons(files: Mapping[str, str]) -> Sequence[str]:
    """The Pythons whose official images Dockerfiles begin with."""
    texts = [text for path, text in files.items() if "Dockerfile" in path and is_script(path)]
    return versions_in(tag for text in texts for tag in _FROM.findall(text))


def django_command(files: Mapping[str, str], paths: Iterable[str], tox: str) -> str | None:
    """How Django's own runner is called, when that is how they run the tests and pytest is not.

    `tox` is the text of a tox.ini.
    """
    texts = [*scripts(files), tox]
    said = "\n".join(texts)
    if re.search(r"(?<![\w-])(py\.test|pytest)(\s|$)", said):
        return None
    present = set(paths)
    for script in _MANAGE.findall(said):
        if script in present:
            return f"python {script} test"
    return "python -m django test" if _DJANGO.search(said) else None


def submodules(text: str) -> Sequence[str]:
    """The folders that a .gitmodules leaves to other repositories: here they are empty."""
    return tuple(re.findall(r"^[ \t]*path[ \t]*=[ \t]*(\S+)[ \t\r]*$", text, re.MULTILINE))


def scripts(files: Mapping[str, str]) -> Sequence[str]:
    """What CI, Makefile and Dockerfiles run, lines that are continued made one."""
    paths = [path for path in sorted(files) if ci.is_ci_file(path) or is_script(path)]
    joined = (re.sub(r"\\\r?\n", " ", files[path]) for path in paths)
    return [re.sub(r"\$?\{\{[^{}\n]*\}\}", "$", text) for text in joined]


def _requirements(words: Sequence[str]) -> Iterator[str]:
    rest = iter(words)
    for word in rest:
        if word in _FILE_OPTIONS:
            if (name := next(rest, "")) and "$" not in name:
                yield f"{_FILE_OPTIONS[word]} {name}"
        elif word.startswith("-r") and "$" not in word:
            yield f"-r {word[2:]}"
        elif word in _WITH_VALUE:
            next(rest, None)
        elif not re.search(r"[$@]|\.(whl|zip|gz)$", word) and (
            re.fullmatch(r"\.\[[\w,. -]+\]", word) or requirement_name(word) is not None
        ):
            yield word
