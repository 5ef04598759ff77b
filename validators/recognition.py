"""Does this version know what a recipe names? Asked at the door, before anything is built."""

import re
from collections.abc import Callable, Iterator, Sequence

from packaging.requirements import InvalidRequirement, Requirement

from validators.errors import UnknownRecipeError
from validators.invocation import invocation
from validators.languages import LANGUAGES
from validators.model import Recipe

_APT = re.compile(r"[a-z0-9][a-z0-9+.:=~-]*")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPTION = re.compile(
    r"--group[\s=]+\S+|(-r|-c|--requirement|--constraint)[\s=]*\S.*|(-e\s+)?\.(\[[^\]]*\])?(\s*;.*)?"
)
_COMMENT = re.compile(r"(^|\s)#.*")
_HASH = re.compile(r"sha(256|384|512):[0-9a-f]{64,128}\s*")
_SHOWN = 60
_FIRST_PACKAGES = 2005  # files of the index have times since then

TIMEOUT_S_MAX = 7 * 24 * 3600
MEMORY_MB_MIN, MEMORY_MB_MAX = 64, 1 << 20


def recognise(recipe: Recipe) -> None:
    """UnknownRecipeError for a language, interpreter or runner that this version does not know.

    So is a test command that nothing can report from inside.
    """
    language = LANGUAGES.get(recipe.language)
    if language is None:
        raise UnknownRecipeError(
            f"The recipe names the language {recipe.language!r}; known are {', '.join(LANGUAGES)}."
        )
    if recipe.python not in language.versions:
        raise UnknownRecipeError(
            f"The recipe asks for {language.name.capitalize()} {recipe.python}; known are "
            f"{', '.join(language.versions)}."
        )
    if recipe.runner not in language.read_report:
        raise UnknownRecipeError(
            f"The recipe names the test runner {recipe.runner!r}; known are "
            f"{', '.join(language.read_report)}."
        )
    invocation(recipe, selection=())


def complaints(recipe: Recipe) -> Iterator[str]:
    """Sentences about words of the recipe that no tool would take for what they are meant to be."""
    lines = (*recipe.requirements, *recipe.build_requirements)
    exempt = [name for name, _ in recipe.cutoff_exempt]
    yield from dangers(recipe)
    yield from _misfits(
        ("requirements", lines, _is_requirement, "no requirement"),
        ("cutoff_exempt", exempt, _NAME.fullmatch, "no name of a package"),
    )
    yield from _empty_commands(recipe)
    yield from _odd_moments(recipe)
    yield from _lock_complaints(recipe.lock or "")


def dangers(recipe: Recipe) -> Iterator[str]:
    """Sentences about what would lift a limit, or be an option of root's tools: whoever wrote it,
    it must not be carried out."""
    variables = [name for name, _ in recipe.env_vars]
    yield from _misfits(
        ("apt", recipe.apt, _APT.fullmatch, "no name of a Debian package"),
        ("env_vars", variables, _VARIABLE.fullmatch, "no name of a variable"),
    )
    numbers = (
        ("timeout_s", recipe.timeout_s, 1, TIMEOUT_S_MAX),
        ("memory_mb", recipe.memory_mb, MEMORY_MB_MIN, MEMORY_MB_MAX),
    )
    for field, number, least, most in numbers:
        if not least <= number <= most:
            yield f"{field}: it must be from {least} to {most}."
    for field, word in _commands(recipe):
        if "\0" in word or any("\ud800" <= char <= "\udfff" for char in word):
            yield f"{field}: {word!r} holds a character that no command line can."


def _misfits(
    *checks: tuple[str, Sequence[str], Callable[[str], object], str],
) -> Iterator[str]:
    """Field, its words, what is fit, and what the others are called."""
    for field, words, is_fit, what in checks:
        yield from (f"{field}: {word!r} is {what}." for word in words if not is_fit(word))


def _empty_commands(recipe: Recipe) -> Iterator[str]:
    for field, command in (("test_cmd", recipe.test_cmd), ("build_cmd", recipe.build_cmd)):
        if command is not None and not command.strip():
            yield f"{field}: it is empty; give a command, or leave it out."


def _odd_moments(recipe: Recipe) -> Iterator[str]:
    """A bare number, such as a year, is read as seconds since 1970."""
    moments = [("cutoff_at", recipe.cutoff_at)] if recipe.cutoff_at is not None else []
    for field, at in (*moments, *(("cutoff_exempt", at) for _, at in recipe.cutoff_exempt)):
        if at.year < _FIRST_PACKAGES:
            yield f"{field}: in {at.year} there was no package index; give 2024-05-01T00:00:00Z."


def _commands(recipe: Recipe) -> Iterator[tuple[str, str]]:
    """Field and text of what a shell or a file is given."""
    yield "test_cmd", recipe.test_cmd
    yield "build_cmd", recipe.build_cmd or ""
    yield "lock", recipe.lock or ""
    yield from (("pre_install", line) for line in recipe.pre_install)
    yield from (("source_paths", path) for path in recipe.source_paths)
    yield from (("env_vars", value) for _, value in recipe.env_vars)


def _lock_complaints(lock: str) -> Iterator[str]:
    """What the installer would refuse in the first line that is no pin with its hashes."""
    lines = (_COMMENT.sub("", line).strip() for line in lock.replace("\\\n", " ").splitlines())
    wrong = next((line for line in lines if line and not _is_pin(line)), None)
    if wrong is not None:
        shown = wrong if len(wrong) <= _SHOWN else f"{wrong[:_SHOWN]}…"
        yield (
            f"lock: {shown!r} is no pin with its hash, as name==1.2 --hash=sha256:0a1b…; without "
            "`lock` the requirements are resolved anew."
        )


def _is_pin(line: str) -> bool:
    words, *hashes = re.split(r"\s+--hash[=\s]", line)
    try:
        requirement = Requirement(words)
    except InvalidRequirement:
        return False
    pinned = re.fullmatch(r"===?[^*,=]+", str(requirement.specifier))
    return bool(pinned and hashes) and all(map(_HASH.fullmatch, hashes))


def _is_requirement(line: str) -> bool:
    if _OPTION.fullmatch(line):
        return True
    try:
        Requirement(line)
    except InvalidRequirement:
        return False
    return True
