"""The GraphQL texts that are sent to GitHub, whole: each with the fragments it uses.

They lie beside this file as `.graphql`; the tests hold every one against GitHub's official schema.
"""

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

_SPREAD = re.compile(r"\.\.\.(\w+)")
_FRAGMENT = re.compile(r"^fragment (\w+) on .*?(?=^fragment |\Z)", re.MULTILINE | re.DOTALL)
_ALIAS_LINE = re.compile(r"^  [tpc]0: .*$", re.MULTILINE)
_VARIABLES = re.compile(r"\(\$owner0: .*?\)")


@cache
def query(name: str) -> str:
    """The query in `<name>.graphql`, with every fragment it needs."""
    return _complete(_read(name))


@cache
def numbered_query(name: str, count: int) -> str:
    """A query about one thing of one repository, repeated for `count` of them (≥ 1).

    Variables: owner0, name0, number0 (or expression0), owner1 … ; answers: t0, t1 … (p0, c0 …).
    """
    text = _read(name)
    line = _ALIAS_LINE.search(text)
    if line is None:
        raise ValueError(f"{name}.graphql has no line with alias 0")
    text = text.replace(line[0], "\n".join(_renumber(line[0], n) for n in range(count)))
    declared = _VARIABLES.search(text)
    if declared is None:
        raise ValueError(f"{name}.graphql declares no variables with number 0")
    variables = ", ".join(_renumber(declared[0][1:-1], n) for n in range(count))
    return _complete(text.replace(declared[0], f"({variables})", 1))


def names() -> Sequence[str]:
    """All queries, sorted."""
    texts = (path.name for path in files(__name__).iterdir() if path.name.endswith(".graphql"))
    return sorted(name.removesuffix(".graphql") for name in texts if name != "fragments.graphql")


def _read(name: str) -> str:
    return (files(__name__) / f"{name}.graphql").read_text("utf-8")


def _renumber(text: str, number: int) -> str:
    text = re.sub(r"\$(owner|name|number|expression)0\b", rf"$\g<1>{number}", text)
    return re.sub(r"^(\s*[tpc])0:", rf"\g<1>{number}:", text)


def _complete(text: str) -> str:
    shared = {m[1]: m[0].rstrip() for m in _FRAGMENT.finditer(_read("fragments"))}
    own = set(re.findall(r"^fragment (\w+) on", text, re.MULTILINE))
    needed: list[str] = []
    found = text
    while missing := [n for n in _SPREAD.findall(found) if n in shared and n not in needed]:
        fresh = list(dict.fromkeys(missing))
        needed += fresh
        found = "\n".join(shared[name] for name in fresh)
    return (
        "\n\n".join([text.rstrip(), *(shared[name] for name in needed if name not in own)]) + "\n"
    )
