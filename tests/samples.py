"""Small, valid values to start a test from; every field can be overridden."""

from dataclasses import replace
from datetime import UTC, datetime

from miner.model import Candidate, Instance
from validators.model import Environment, Image, Recipe, Verdict

NOON = datetime(2024, 5, 17, 12, tzinfo=UTC)

GOLD = b"""diff --git a/pkg/core.py b/pkg/core.py
index 0cfbf08..2b6a1d1 100644
--- a/pkg/core.py
+++ b/pkg/core.py
@@ -1,2 +1,3 @@
 def double(x):
-    return x
+    # twice
+    return 2 * x
"""
TESTS = b"""diff --git a/tests/test_core.py b/tests/test_core.py
index 0cfbf08..2b6a1d1 100644
--- a/tests/test_core.py
+++ b/tests/test_core.py
@@ -1 +1,3 @@
 from pkg.core import double
+def test_double():
+    assert double(2) == 4
"""


def recipe() -> Recipe:
    """A locked recipe."""
    return Recipe(
        language="python",
        python="3.12",
        requirements=("pytest",),
        env_vars=(("TZ", "UTC"),),
        cutoff_at=NOON,
        lock="pytest==8.2.0 --hash=sha256:00\n",
    )


def candidate(**changes: object) -> Candidate:
    """Pull 7 of o/r."""
    base = Candidate(
        instance_id="o__r-7",
        repo="o/r",
        repo_id=1,
        pull_number=7,
        raw_digest="d" * 64,
        policy="p",
        issue_numbers=(3,),
        base_commit="a" * 40,
        merge_tree="b" * 40,
        patch=GOLD,
        test_patch=TESTS,
        patch_hash="c" * 64,
        problem_statement="double() returns its argument unchanged\n\n" + "word " * 30,
        hints_text="",
        issue_created_at=datetime(2024, 5, 1, tzinfo=UTC),
        created_at=datetime(2024, 5, 10, tzinfo=UTC),
        merged_at=NOON,
        language="python",
        version="1.0",
        license="MIT",
        file_classes=(("pkg/core.py", "source"), ("tests/test_core.py", "test")),
    )
    return replace(base, **changes)  # type: ignore[arg-type]  # tests name real fields


def verdict(**changes: object) -> Verdict:
    """One test fixed, one kept."""
    base = Verdict(
        fail_to_pass=("tests/test_core.py::test_double",),
        pass_to_pass=("tests/test_core.py::test_kept",),
        policy="quick",
    )
    return replace(base, **changes)  # type: ignore[arg-type]  # tests name real fields


def instance(*, of: Candidate | None = None, verdict: Verdict | None = None) -> Instance:
    """A verified task."""
    return Instance(
        candidate=of or candidate(),
        environment=Environment(
            image=Image(digest="sha256:1", tag="miner/env:abc"),
            base_image=Image(digest="sha256:2", tag="miner/base:3.12"),
            base_origin="built",
            recipe=recipe(),
            key="abc",
        ),
        verdict=verdict or _verdict(),
        verified_at=NOON,
    )


_verdict = verdict
