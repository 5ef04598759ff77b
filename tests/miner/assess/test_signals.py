"""Each signal's rule, as tables of cases."""

import pytest

from miner.assess import SIGNALS
from miner.assess.clarity import clarity
from miner.assess.leak import leak
from miner.assess.size import difficulty, size
from miner.assess.tests import noticed
from miner.assess.wording import wording
from tests.samples import GOLD, TESTS, candidate, instance, verdict

WORDS = "word " * 30


def test_size_counts_the_source_files_of_the_gold_patch() -> None:
    docs = GOLD.replace(b"pkg/core.py", b"docs/index.md")
    found = size(instance(of=candidate(patch=GOLD + docs)))
    assert found == {
        "files": 1, "hunks": 1, "lines": 3, "fail_to_pass": 1, "points": 0, "difficulty": "easy",
    }  # fmt: skip


def test_difficulty_grows_with_the_points() -> None:
    words = [difficulty(points) for points in range(9)]
    assert words == ["easy"] * 2 + ["medium"] * 3 + ["hard"] * 4


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("see https://github.com/o/r/pull/7", "fix_links"),
        ("see https://GitHub.com/O/R/commit/abc123", "fix_links"),
        ("see #7", "fix_links"),
        ("fixed in " + "b1" * 20, "commits"),
        ("fixed by 1a2b3c4.", "commits"),
        ("try\n@@ -1,2 +1,3 @@\n", "contains_diff"),
        ("just write\n    return twice_the_value_of(x)\n", "quoted_lines"),
    ],
)
def test_text_that_gives_the_fix_away_is_flagged(text: str, kind: str) -> None:
    patch = GOLD.replace(b"return 2 * x", b"return twice_the_value_of(x)")
    found = leak(instance(of=candidate(patch=patch, hints_text=text)))
    assert found["flag"] is True
    assert found[kind]


@pytest.mark.parametrize(
    "text",
    ["see https://github.com/other/repo/pull/7", "https://github.com/o/r/issues/3",
     "at " + "a" * 40 + " it fails", "    return 2 * x", "other/repo#7 and #77", "1234567 defaced",
     "uuid 1a2b3c4d-1a2b-4c3d-8e9f-1a2b3c4d5e6f", "0x7f1a2b3c4d5e"],
)  # fmt: skip
def test_innocent_text_is_not_flagged(text: str) -> None:
    assert leak(instance(of=candidate(hints_text=text)))["flag"] is False


def test_tests_that_ask_for_unmentioned_names_are_flagged() -> None:
    patch = GOLD.replace(b"+    # twice", b"+def triple(x):")
    tests = b"+from pkg.core import triple\n"
    missing = verdict(missing_before=("tests/test_core.py::test_double",))
    asked = candidate(patch=patch, test_patch=tests)
    found = clarity(instance(of=asked, verdict=missing))
    assert found["unmentioned_names"] == ["triple"]
    assert found["flag"] is True
    told = candidate(patch=patch, test_patch=tests, problem_statement="add triple() " + WORDS)
    assert clarity(instance(of=told, verdict=missing))["flag"] is False


def test_a_bare_title_is_flagged() -> None:
    assert clarity(instance(of=candidate(problem_statement="broken")))["flag"] is True


def test_signals_have_distinct_names() -> None:
    assert len({signal.name for signal in SIGNALS}) == len(SIGNALS) == 5


def test_size_of_a_path_that_unidiff_cannot_follow() -> None:
    odd = GOLD.replace(b"pkg/core.py", b"x b/core.py")
    assert size(instance(of=candidate(patch=odd)))["lines"] == 3


MESSAGE = b'+    log("tool could not find the file %s.")\n'


@pytest.mark.parametrize(
    ("patch", "tests", "statement", "flag"),
    [
        (GOLD + MESSAGE, TESTS + MESSAGE, WORDS, True),
        (GOLD + MESSAGE, TESTS, WORDS, False),
        (GOLD, TESTS + MESSAGE, WORDS, False),
        (GOLD + MESSAGE, TESTS + MESSAGE, "say: tool could not find the file %s.", False),
        (GOLD + MESSAGE + MESSAGE.replace(b"+", b"-"), TESTS + MESSAGE, WORDS, False),
        (GOLD.replace(b"core.py", b"a.md") + MESSAGE, TESTS + MESSAGE, WORDS, False),
    ],
)
def test_exact_words_that_nobody_told_are_flagged(
    patch: bytes, tests: bytes, statement: str, flag: bool
) -> None:
    classes = (("pkg/core.py", "source"), ("pkg/a.md", "docs"))
    asked = candidate(
        patch=patch, test_patch=tests, problem_statement=statement, file_classes=classes
    )
    assert wording(instance(of=asked))["flag"] is flag


@pytest.mark.parametrize(("unnoticed", "flagged"), [(1, False), (2, True), (4, True)])
def test_a_fix_that_no_test_notices_in_half_is_flagged(unnoticed: int, flagged: bool) -> None:
    of_it = verdict(
        policy="full",
        marks=(f"unnoticed_hunks: {unnoticed} of 4", "probe_failed: order", "not_probed: 3 of 9"),
        left_out=(("a", "fails in a probe: hash seed"), ("b", "skipped")),
        flake_rates=(("c", 0.5),),
    )
    assert noticed(instance(verdict=of_it)) == {
        "probed": True,
        "unnoticed_hunks": unnoticed,
        "hunks_left_out": 4,
        "probes_without_answer": ["order"],
        "probes_not_made": 3,
        "taken_out_by_probes": 1,
        "flaky": 1,
        "undecided": 0,
        "flag": flagged,
    }


def test_without_probes_nothing_is_said_of_the_tests() -> None:
    found = noticed(instance(verdict=verdict()))
    assert (found["probed"], found["flag"]) == (False, False)
