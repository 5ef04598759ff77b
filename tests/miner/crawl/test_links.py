"""What a text closes and mentions: a table of texts with their right answers."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miner.crawl.links import (
    Place,
    references,
    reverted_commits,
    reverted_pulls,
    spoken,
    text_links,
)
from miner.model import LinkSource, LinkStrength

ADDRESS = "https://github.com/o/r/issues/12"

# text → (what it closes, what it only mentions); None as repository is the text's own
CASES: list[tuple[str, list[object], list[object]]] = [
    # the documented forms
    ("Fixes #12", [12], []),
    ("fix #12", [12], []),
    ("fixed #12", [12], []),
    ("close #12", [12], []),
    ("Closes #12", [12], []),
    ("closed #12.", [12], []),
    ("resolve #12", [12], []),
    ("RESOLVES #12", [12], []),
    ("Resolved #12)", [12], []),
    ("Fixes: #12", [12], []),
    ("CLOSES: #12", [12], []),
    ("fixes:#12", [12], []),
    ("fixes o/r#12", [("o/r", 12)], []),
    ("Fixes other/x.y#12", [("other/x.y", 12)], []),
    (f"fixes {ADDRESS}", [("o/r", 12)], []),
    ("fixes https://GitHub.com/O/R/issues/12", [("O/R", 12)], []),
    ("closes http://www.github.com/o/r/pull/12", [("o/r", 12)], []),
    ("This wraps and fixes\n#12", [12], []),
    ("Bump. Fix #12 / Fix #13", [12, 13], []),
    ("fixes #12, closes #13 and resolves o/r#14", [12, 13, ("o/r", 14)], []),
    ("(fixes #12)", [12], []),
    ("**Fixes #12**", [12], []),
    ("- [x] fixes #12", [12], []),
    ("does not fix #12", [12], []),  # GitHub documents no negation
    # each issue needs its keyword
    ("Fixes #12, #13", [12], [13]),
    ("fixes #12 and #13", [12], [13]),
    ("Closes #1, #2, fixes #3", [1, 3], [2]),
    # mentions
    ("see #12", [], [12]),
    ("fixes GH-12", [], [12]),
    ("gh-12", [], [12]),
    ("fixes issue #12", [], [12]),
    ("fixes [#12](https://example.org)", [], [12]),
    ("fixes bug in #12", [], [12]),
    ("prefix #12", [], [12]),
    ("bug-fix #12", [], [12]),
    ("fixing #12", [], [12]),
    ("* Crash on empty input (#12)", [], [12]),
    (f"related: {ADDRESS}", [], [("o/r", 12)]),
    # nothing
    ("fix 3 bugs", [], []),
    ("fixes#12", [], []),
    ("fixes #12abc", [], []),
    ("fixes \\#12", [], []),
    ("fixes &#12;", [], []),
    ("fixes #0", [], []),
    ("fixes #99999999999", [], []),
    ("Merge branch 'fix/#12' into main", [], []),
    ("Merge pull request from someone/fixes-12", [], []),
    (f"fixes {ADDRESS}#issuecomment-7", [], []),
    ("fixes https://gitlab.com/o/r/issues/12", [], []),
    ("fixes https://github.com/o/r/issues/12/events", [], []),
    ("color: #123456z", [], []),
    # comments
    ("<!-- Fixes #99 --> fixes #12", [12], []),
    ("<!-- Fixes #99\nmore\n--> done", [], []),
    ("fixes #12 <!-- open: fixes #99", [12], []),
    # code
    ("`fixes #99` fixes #12", [12], []),
    ("``a ` fixes #99`` fixes #12", [12], []),
    ("a lone ` here, fixes #12", [12], []),
    ("```\nfixes #99\n```\nfixes #12", [12], []),
    ("```python\nfixes #99\n````\nfixes #12", [12], []),
    ("~~~\nfixes #99\n```\n~~~\nfixes #12", [12], []),
    ("```\nfixes #99 and never closed", [], []),
    ("- item\n  ```\n  fixes #99\n  ```\n  fixes #12", [12], []),
    ("`<!--` fixes #12 `-->`", [12], []),
    ("<code>fixes #99</code> fixes #12", [12], []),
    ("<pre>\nfixes #99\n</pre>\nfixes #12", [12], []),
    ("Text:\n\n    fixes #99\n\nfixes #12", [12], []),
    ("- item\n\n    fixes #12", [12], []),
    ("wrapped\n    fixes #12", [12], []),
    # quotes
    ("> fixes #99\n\nfixes #12", [12], []),
    ("- > fixes #99\n\nfixes #12", [12], []),
    ("a > b fixes #12", [12], []),
    ("<blockquote>x <blockquote>fixes #98</blockquote> fixes #99</blockquote> fixes #12", [12], []),
    # line ends
    ("first\r\n\r\nfixes #12\r\n", [12], []),
]  # fmt: skip


def _flat(found: list[object]) -> list[tuple[str | None, int]]:
    return [item if isinstance(item, tuple) else (None, item) for item in found]


@pytest.mark.parametrize(("text", "closes", "mentions"), CASES, ids=[c[0][:40] for c in CASES])
def test_a_text_closes_and_mentions(
    text: str, closes: list[object], mentions: list[object]
) -> None:
    found = references(text)
    assert [(r.repo, r.number) for r in found if r.closes] == _flat(closes)
    assert [(r.repo, r.number) for r in found if not r.closes] == _flat(mentions)


def test_the_table_is_large_enough() -> None:
    assert len(CASES) >= 40


def test_an_enterprise_host_is_the_one_that_counts() -> None:
    text = "fixes https://git.example.com/o/r/issues/3 and fixes https://github.com/o/r/issues/4"
    found = references(text, host="git.example.com")
    assert [(r.repo, r.number, r.closes) for r in found] == [("o/r", 3, True)]


def _place(source: LinkSource = LinkSource.BODY, place: str = "body") -> Place:
    return Place(
        repo="o/r",
        number=7,
        host="github.com",
        source=source,
        place=place,
        author="ann",
        made_at=datetime(2024, 1, 1, tzinfo=UTC),
    )


def test_a_link_says_where_it_was_found() -> None:
    (link,) = text_links("first\n\nFixes #12", at=_place())
    assert (link.repo, link.number, link.place, link.author) == ("o/r", 12, "body:3", "ann")
    assert (link.source, link.strength) == (LinkSource.BODY, LinkStrength.CLOSES)
    (link,) = text_links("x\nfixes #12", at=_place(LinkSource.COMMIT_MESSAGE, "abc"))
    assert link.place == "abc"


def test_the_pull_itself_is_no_link_but_the_same_number_elsewhere_is() -> None:
    links = text_links("fixes #7, fixes O/R#7, fixes x/y#7", at=_place())
    assert [(link.repo, link.number) for link in links] == [("x/y", 7)]


def test_its_own_repository_is_named_as_it_is_written_today() -> None:
    (link,) = text_links("fixes O/R#12", at=_place())
    assert link.repo == "o/r"


def test_a_target_is_kept_once_for_each_strength() -> None:
    links = text_links("see #12\nfixes #12\nfixes #12", at=_place())
    assert [(link.strength, link.place) for link in links] == [
        (LinkStrength.MENTIONS, "body:1"),
        (LinkStrength.CLOSES, "body:2"),
    ]


@pytest.mark.parametrize(
    ("title", "body", "numbers"),
    [
        ('Revert "Add cache"', "Reverts o/r#12", (12,)),
        ('Revert "Add cache"', "Reverts O/R#12", (12,)),
        ("x", "Reverts other/x#12", ()),
        ("x", "This reverts #12 and reverts #13.", (12, 13)),
        ("x", "reverts pull request #12", (12,)),
        ('Revert "Add cache (#12)"', "", (12,)),
        ('Revert "Add cache (#12)" (#15)', "", (12,)),
        ('Revert "Revert "Add cache (#12)" (#15)"', "", (15,)),
        ("Add cache (#12)", "", ()),
        ("x", "`Reverts #12`", ()),
        ("Revert to plain sockets", "It reverted nothing of #12", ()),
    ],
)
def test_a_revert_names_what_it_undoes(title: str, body: str, numbers: tuple[int, ...]) -> None:
    assert reverted_pulls(title, body, repo="o/r") == numbers


def test_a_revert_may_name_commits() -> None:
    sha = "0123456789abcdef0123456789abcdef01234567"
    assert reverted_commits(f"Revert x\n\nThis reverts commit {sha}.") == (sha,)
    assert reverted_commits(f"> This reverts commit {sha}.") == ()


@given(st.text(alphabet="`~<!->#12 \n\tfixes:pre/code&", max_size=300))
def test_blanking_keeps_every_line_where_it_is(text: str) -> None:
    said = spoken(text)
    assert said.count("\n") == text.count("\n")


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece", ["`", "``` ", "<!--", "> ", "<blockquote>", "<pre>", "#1", "fix ", "a/", "-"]
)
def test_long_texts_take_no_long_time(piece: str) -> None:
    references(piece * (65_536 // len(piece)))
