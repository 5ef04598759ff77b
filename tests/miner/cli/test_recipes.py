"""`miner recipes`: what is printed to start from is what can be set."""

import json
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from miner.cli import exits
from miner.cli.recipes import tried_document
from miner.git import Mirrors
from miner.store import Database
from tests.miner.cli.conftest import Miner
from tests.miner.store.samples import (
    NOW,
    POLICY,
    RECIPE,
    failed_attempt,
    later,
    pull,
    refused,
    repo,
)
from tests.miner.verified import add_instances, candidate
from validators.model import Attempt, Examination, Flaw, Recipe, Verdict

EXEMPT = (("twisted", datetime(2027, 1, 1, tzinfo=UTC)),)


@pytest.fixture
def commit(tmp_path: Path) -> str:
    """Of a mirror of o/r with one commit, whose tree names what its tests need."""
    folder = tmp_path / "origin"
    folder.mkdir()
    (folder / "core.py").write_text("def double(x):\n    return x\n", "utf-8")
    (folder / "requirements-test.txt").write_text("pytest\nhypothesis\n", "utf-8")

    def git(*words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        ran = subprocess.run(
            ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
        )
        return ran.stdout.strip()

    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    Mirrors(tmp_path / "mirrors").update("o/r", str(folder))
    return git("rev-parse", "HEAD")


def set_and_read(miner: Miner, db: Database, text: str) -> Recipe:
    """What the database holds once a printed recipe was set."""
    Path("recipe.json").write_text(text)
    answer = miner("recipes", "set", "o/r", "recipe.json", "--author", "ann")
    assert (answer.code, answer.err) == (exits.OK, "")
    row = db.admin.recipes("o/r")[0]
    assert row.author == "ann"
    return row.recipe


def test_a_candidate_that_waits_proposes_what_its_tree_says(
    miner: Miner, db: Database, commit: str
) -> None:
    db.crawl.save_repo(repo(), now=NOW)
    db.crawl.save_pulls([(pull(1), b"{}")])
    db.split.save_split(pull(1), candidate(1, base_commit=commit), policy=POLICY)
    answer = miner("recipes", "propose", "o__r-1")
    assert answer.code == exits.OK
    assert "o__r-1: the first of " in answer.err
    stored = set_and_read(miner, db, answer.out)
    assert stored.requirements == ("pytest", "hypothesis")
    assert (stored.lock, stored.cutoff_at, stored.origin) == (None, None, "maintainer")


def test_a_candidate_that_was_tried_gives_the_recipe_that_got_farthest(
    miner: Miner, db: Database, commit: str
) -> None:
    add_instances(db, candidate(1, base_commit=commit))
    answer = miner("recipes", "propose", "o__r-1")
    assert (answer.code, answer.err) == (exits.OK, "o__r-1: got farthest of 1 tried: accepted\n")
    assert set_and_read(miner, db, answer.out) == replace(RECIPE, origin="maintainer")


def test_of_recipes_that_do_not_build_the_likeliest_is_proposed(
    miner: Miner, db: Database, commit: str
) -> None:
    one = candidate(1, base_commit=commit)
    db.crawl.save_repo(repo(), now=NOW)
    db.crawl.save_pulls([(pull(1), b"{}")])
    db.split.save_split(pull(1), one, policy=POLICY)
    db.verify.claim(holder="me", version=1, policy="quick", limit=9, repo=None, now=NOW)
    first = failed_attempt()
    second = replace(
        first, recipe=replace(first.recipe, python="3.11"), started_at=later(seconds=9)
    )
    verdict = Verdict(flaw=Flaw.BUILD_FAILED, policy="quick")
    found = replace(
        refused(one),
        examination=Examination(
            instance_id=one.instance_id, attempts=(first, second), verdict=verdict
        ),
    )
    assert db.verify.save_examined(found, holder="me", now=NOW)
    answer = miner("recipes", "propose", "o__r-1")
    assert "o__r-1: the first of 2 that do not build: package_not_found" in answer.err
    assert set_and_read(miner, db, answer.out).python == first.recipe.python == "3.12"


def test_a_learned_recipe_is_shown_with_the_commit_it_was_learned_at(
    miner: Miner, db: Database
) -> None:
    add_instances(db, candidate(1, base_commit="c0ffee" + "0" * 34), recipe=RECIPE)
    assert "learned" in (text := miner("recipes", "show", "o/r").out)
    assert "c0ffee000000" in text
    (shown,) = json.loads(miner("recipes", "show", "o/r", "--json").out)
    assert (shown["author"], shown["base_commit"]) == (None, "c0ffee" + "0" * 34)
    assert shown["environment_key"]


def test_nothing_stored_is_said_so(miner: Miner, db: Database) -> None:
    db.crawl.save_repo(repo(), now=NOW)
    assert miner("recipes", "show", "o/r").out.startswith("No recipe is stored for o/r;")
    assert miner("recipes", "show", "o/r", "--json").out == "[]\n"


def test_a_stored_recipe_can_be_set_as_it_is_shown(miner: Miner, db: Database) -> None:
    lock = f"a==1 \\\n    --hash=sha256:{64 * 'a'}\n"
    mine = replace(RECIPE, env_vars=(("A", "b"),), cutoff_exempt=EXEMPT, cutoff_at=NOW, lock=lock)
    db.crawl.save_repo(repo(), now=NOW)
    db.admin.set_recipe("o/r", mine, author="eve")
    (shown,) = json.loads(miner("recipes", "show", "o/r", "--json").out)
    assert set_and_read(miner, db, json.dumps(shown["recipe"])) == mine


def test_a_tried_recipe_is_told_as_it_can_be_set(miner: Miner, db: Database) -> None:
    db.crawl.save_repo(repo(), now=NOW)
    usual = (("wheel", datetime(2026, 1, 1, tzinfo=UTC)),)
    proposal = replace(RECIPE, cutoff_exempt=usual, origin="proposed")
    for exempt, kept in ((usual, ()), (EXEMPT, EXEMPT)):
        given = replace(RECIPE, cutoff_exempt=exempt, cutoff_at=NOW, lock="a==1")
        attempt = Attempt(
            recipe=given,
            environment=None,
            failure=None,
            verdict=Verdict(fail_to_pass=("t",)),
            started_at=NOW,
            ended_at=NOW,
        )
        assert attempt.verdict is not None
        tried = Examination(instance_id="o__r-1", attempts=(attempt,), verdict=attempt.verdict)
        told = tried_document(tried, [proposal])
        assert (told["flaw"], told["your_recipe"]) == (None, "accepted")
        stored = set_and_read(miner, db, json.dumps(told["recipe"]))
        assert stored == replace(RECIPE, cutoff_exempt=kept, origin="maintainer")


def test_a_repository_stands_for_its_newest_candidate_that_needs_a_recipe(
    miner: Miner, db: Database, commit: str
) -> None:
    one, two, three, four = (candidate(number, base_commit=commit) for number in (1, 2, 3, 4))
    add_instances(db, four)
    assert "o__r-4: got farthest" in miner("recipes", "propose", "O/R").err
    for each in (one, two, three):
        db.crawl.save_pulls([(pull(each.pull_number), b"{}")])
        db.split.save_split(pull(each.pull_number), each, policy=POLICY)
    assert "o__r-3: the first of 4 that its tree" in miner("recipes", "propose", "o/r").err
    db.verify.claim(holder="me", version=1, policy="quick", limit=9, repo=None, now=NOW)
    assert db.verify.save_examined(refused(three, Flaw.FLAKY), holder="me", now=NOW)
    assert "o__r-2: the first of" in miner("recipes", "propose", "o/r").err
    assert db.verify.save_examined(refused(one), holder="me", now=NOW)
    assert "o__r-1: the first of 1 that do not build" in miner("recipes", "propose", "o/r").err


def test_a_repository_without_candidates_proposes_nothing(miner: Miner, db: Database) -> None:
    db.crawl.save_repo(repo(), now=NOW)
    answer = miner("recipes", "propose", "o/r")
    assert (answer.code, answer.out) == (exits.WRONG_INPUT, "")
    assert "o/r has no candidate; `miner funnel --repo o/r` says why." in answer.err
    answer = miner("recipes", "propose", "o/rr")
    assert answer.code == exits.WRONG_INPUT
    assert "the closest name is o/r" in answer.err


def test_which_candidate_is_tried_is_told(
    miner: Miner, db: Database, commit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_instances(db, candidate(1, base_commit=commit))
    Path("r.json").write_text('{"python": "3.12"}')
    monkeypatch.setenv("MINER_ENGINE", "unix:///nowhere/engine.sock")
    answer = miner("recipes", "try", "o/r", "r.json")
    assert answer.code == exits.TRY_AGAIN
    assert "o__r-1: tried for o/r\n" in answer.err


def test_an_unknown_candidate_proposes_nothing(miner: Miner, db: Database) -> None:
    answer = miner("recipes", "propose", "o__r-9")
    assert (answer.code, answer.out) == (exits.WRONG_INPUT, "")
    assert "There is no candidate 'o__r-9'" in answer.err
