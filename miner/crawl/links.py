"""Which issues a text closes or mentions, and which pulls it undoes. Pure.

GitHub's rule (its documentation, "Linking a pull request to an issue"): close, fix or resolve in
any of their forms and in any case, an optional colon, then `#12` or `owner/name#12`; each issue
needs a keyword of its own, so in "fixes #1, #2" only #1 closes. We also take whole addresses.
Comments, code and quotes are no part of what the author says. Everything else that names a number
is kept as a mention: never enough alone.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from miner.model import Link, LinkSource, LinkStrength

MAX_NUMBER = 2**31 - 1
"""GitHub's numbers are GraphQL Ints: what is larger is no issue."""

MAX_NESTED_QUOTES = 8

_KEYWORD = r"(?<![\w/.#-])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?:[ \t]*:\s*|\s+)"
_OWNER_NAME = r"(?<![\w/.-])(?P<repo>[A-Za-z0-9][A-Za-z0-9-]*/[\w.-]+)"
_ADDRESS = (
    r"(?<![\w/])https?://(?:www\.)?(?P<host>[\w.:-]+)/(?P<path>[A-Za-z0-9-]+/[\w.-]+)"
    r"/(?:issues|pull)/(?P<at>\d+)(?![\w#/?])"
)
_REFERENCE = re.compile(
    rf"(?P<keyword>{_KEYWORD})?"
    rf"(?:{_ADDRESS}|{_OWNER_NAME}#(?P<there>\d+)(?!\w)|(?<![\w/&#\\.-])#(?P<here>\d+)(?!\w)"
    r"|(?<![\w/-])GH-(?P<autolink>\d+)(?!\w))",
    re.IGNORECASE,
)
_MAY_REFER = re.compile(r"#\d|gh-\d|://", re.IGNORECASE)
"""Without any of these there is no reference, and most commit messages have none."""

_UNREAD = re.compile(
    r"""
      <!--.*?(?:-->|\Z)                                              # comment, open to the end
    | ^[ \t]*(?P<fence>`{3,})[^`\n]*\n.*?(?:^[ \t]*(?P=fence)`*[ \t]*$|\Z)
    | ^[ \t]*(?P<tilde>~{3,})[^\n]*\n.*?(?:^[ \t]*(?P=tilde)~*[ \t]*$|\Z)
    | (?<!`)(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=ticks)(?!`)
    | <(?P<tag>pre|code)\b[^>]*>.*?(?:</(?P=tag)>|\Z)
    | ^[ \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)?>[^\n]*$                     # quote
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_HTML_QUOTE = re.compile(
    r"<blockquote\b[^>]*>(?:(?!<blockquote\b).)*?</blockquote>", re.DOTALL | re.IGNORECASE
)
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]")

_REVERTS = re.compile(
    r"(?<!\w)reverts?:?[ \t]+(?:pull request[ \t]+|pr[ \t]+)?"
    r"(?P<repo>[A-Za-z0-9-]+/[\w.-]+)?#(?P<number>\d+)(?!\w)",
    re.IGNORECASE,
)
_REVERTED_TITLE = re.compile(
    r'^revert\b[^"“]*["“].*\(#(?P<number>\d+)\)["”]\s*(?:\(#\d+\))?$', re.IGNORECASE
)
_REVERTED_COMMIT = re.compile(r"This reverts commit ([0-9a-f]{7,40})\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A number that a text names. `repo` None: the text's own; `line` counts from 1."""

    repo: str | None
    number: int
    closes: bool
    line: int


@lru_cache(maxsize=256)  # a page's texts are looked at twice: for targets, then for links
def references(text: str, *, host: str = "github.com") -> tuple[Reference, ...]:
    """Every reference in reading order, comments, code and quotes left out.

    `host`: where whole addresses must point (compared without case).
    """
    if not _MAY_REFER.search(text):
        return ()
    said = spoken(text)
    found = []
    for match in _REFERENCE.finditer(said):
        if match["host"] is not None and match["host"].lower() != host.lower():
            continue
        digits = match["at"] or match["there"] or match["here"] or match["autolink"]
        number = int(digits) if len(digits) <= 10 else 0
        if 0 < number <= MAX_NUMBER:
            found.append(
                Reference(
                    repo=match["path"] or match["repo"],
                    number=number,
                    closes=match["keyword"] is not None and match["autolink"] is None,
                    line=said.count("\n", 0, match.start()) + 1,
                )
            )
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a text stands: the repository, the number that holds it, the web host, the author."""

    repo: str
    number: int
    host: str
    source: LinkSource
    place: str
    author: str | None
    made_at: datetime | None


def text_links(text: str, *, at: Place) -> tuple[Link, ...]:
    """The links of a text. One per target and strength, the first; the pull itself left out."""
    links: dict[tuple[str, int, LinkStrength], Link] = {}
    for reference in references(text, host=at.host):
        repo = reference.repo or at.repo
        if repo.lower() == at.repo.lower():
            repo = at.repo
            if reference.number == at.number:
                continue
        strength = LinkStrength.CLOSES if reference.closes else LinkStrength.MENTIONS
        place = f"{at.place}:{reference.line}" if at.source is LinkSource.BODY else at.place
        links.setdefault(
            (repo.lower(), reference.number, strength),
            Link(
                repo=repo,
                number=reference.number,
                source=at.source,
                strength=strength,
                place=place,
                author=at.author,
                made_at=at.made_at,
            ),
        )
    return tuple(links.values())


def reverted_pulls(title: str, body: str, *, repo: str) -> tuple[int, ...]:
    """Numbers of pulls that this one says it undoes (`Reverts owner/name#12`), sorted."""
    numbers = {
        int(match["number"])
        for match in _REVERTS.finditer(spoken(body))
        if (match["repo"] or repo).lower() == repo.lower()
    }
    if match := _REVERTED_TITLE.match(title.strip()):
        numbers.add(int(match["number"]))
    return tuple(sorted(number for number in numbers if number <= MAX_NUMBER))


def reverted_commits(text: str) -> tuple[str, ...]:
    """The commits that a message says it undoes (`This reverts commit <sha>`), in order."""
    return tuple(dict.fromkeys(_REVERTED_COMMIT.findall(spoken(text))))


def spoken(text: str) -> str:
    """What the author says: comments, code and quotes blanked, all lines kept where they are."""
    said = _UNREAD.sub(_blank, text.replace("\r\n", "\n").replace("\r", "\n"))
    for _ in range(MAX_NESTED_QUOTES):
        said = _HTML_QUOTE.sub(_blank, said)
    return "\n".join(_without_indented_code(said))


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n") or " "


def _without_indented_code(text: str) -> Iterator[str]:
    """Lines indented by four after an empty one are code, unless they belong to a list item."""
    after_gap, in_code, in_list = True, False, False
    for line in text.split("\n"):
        empty = not line.strip()
        indented = line.startswith(("    ", "\t"))
        if not empty and not indented:
            in_list = bool(_LIST_ITEM.match(line))
        in_code = indented and not empty and not in_list and (after_gap or in_code)
        yield "" if in_code else line
        after_gap = empty
