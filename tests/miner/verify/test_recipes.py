"""Which stored recipes are tried, and in which order."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from miner.model import StoredRecipe
from miner.store import Database
from miner.verify.recipes import LEARNED, stored_recipes
from tests.miner.store.samples import NOW, accepted, with_candidates
from tests.validators.samples import SAMPLE, sample_tar
from validators.environment import KeyedTree, environment_key
from validators.model import Image, Maker, Recipe, Task, Tree

WHEN = datetime(2024, 5, 6, tzinfo=UTC)
MERGED_AT = WHEN + timedelta(days=40)
BASE = "sha256:base"
OLD_BUILD = {**SAMPLE, "setup.py": b"from setuptools import setup\nsetup()\n"}


def tree(files: Mapping[str, bytes] = SAMPLE, *, commit: str = "c", tag: str | None = None) -> Tree:
    """A tree at a commit."""
    return Tree(commit=commit * 40, committed_at=WHEN, tar=sample_tar(files), nearest_tag=tag)


def task(files: Mapping[str, bytes] = SAMPLE, *, tag: str | None = None) -> Task:
    """To be verified, at commit dddd…"""
    return Task(
        instance_id="o__r-1",
        repo="o/r",
        tree=tree(files, commit="d", tag=tag),
        patch=b"",
        test_patch=b"",
        merged_at=MERGED_AT,
    )


def recipe(name: str, **changes: object) -> Recipe:
    """One that is told by its requirement."""
    of = Recipe(
        language="python",
        python="3.12",
        requirements=(name,),
        cutoff_at=WHEN,
        lock=f"{name}==1 --hash=sha256:0\n",
        origin="repaired",
    )
    return replace(of, **changes)  # type: ignore[arg-type]  # tests name real fields


def learned(name: str, at: Tree | None = None, *, own: bool = False) -> StoredRecipe:
    """Learned at that tree, or before it was kept where."""
    if at is None:
        return StoredRecipe(
            repo="o/r", recipe=recipe(name), environment_key="k", author=None, made_at=WHEN
        )
    key = environment_key(
        KeyedTree.of(at),
        recipe(name),
        base=BASE,
        repository="O/R",
        maker=Maker.MINER,
        own=own,
    )
    return StoredRecipe(
        repo="o/r",
        recipe=recipe(name),
        environment_key=key,
        author=None,
        made_at=WHEN,
        base_image=BASE,
        base_commit=at.commit,
    )


def a_persons(name: str, **changes: object) -> StoredRecipe:
    """Set by a maintainer."""
    mine = recipe(name, **changes)
    return StoredRecipe(repo="o/r", recipe=mine, environment_key=None, author="ann", made_at=WHEN)


def names(rows: list[StoredRecipe], of: Task | None = None) -> list[str]:
    """What is tried, in order."""
    return [each.requirements[0] for each in stored_recipes(rows, of or task())]


def test_nothing_stored_is_nothing_to_try() -> None:
    assert stored_recipes([], task()) == ()


def test_a_persons_newest_comes_first_and_is_as_it_was_set() -> None:
    found = stored_recipes([a_persons("new"), a_persons("old"), learned("a")], task())
    assert [each.requirements[0] for each in found] == ["new", "a"]
    assert found[0] == replace(recipe("new"), origin="maintainer")


def test_a_learned_one_gives_its_steps_and_is_locked_anew_at_the_tasks_date() -> None:
    (found,) = stored_recipes([learned("a")], task())
    assert found == recipe("a", lock=None, cutoff_at=MERGED_AT, origin="stored")


def test_no_more_learned_ones_are_tried_than_the_newest_few() -> None:
    rows = [learned(name) for name in ("a", "b", "c", "d")]
    assert names(rows) == ["a", "b"]
    assert LEARNED == 2


def test_the_same_steps_learned_twice_count_once() -> None:
    again = learned("a")
    again = replace(again, recipe=replace(again.recipe, lock="other", cutoff_at=None))
    assert names([learned("a"), again, learned("b"), again]) == ["a", "b"]


def test_those_whose_environment_this_commit_shares_come_first_however_old() -> None:
    elsewhere = [learned(name, tree(OLD_BUILD)) for name in ("x", "y", "z")]
    rows = [*elsewhere, learned("near", tree()), learned("older", tree())]
    assert names(rows) == ["near", "older"]
    assert names(rows, task(OLD_BUILD)) == ["x", "y"]
    assert names([*elsewhere, learned("near", tree())]) == ["near", "x"]


def test_what_a_key_names_of_the_tree_tells_neighbours_from_others() -> None:
    rows = [learned("untagged", tree()), learned("tagged", tree(tag="v2"))]
    assert names(rows, task(tag="v2")) == ["tagged", "untagged"]
    changed = {**SAMPLE, "src/sample/__init__.py": b"def answer():\n    return 43\n"}
    assert names([learned("x", tree(OLD_BUILD)), learned("near", tree(changed))]) == ["near", "x"]


def test_an_environment_of_one_commit_alone_is_compared_but_for_the_commit() -> None:
    rows = [learned("x", tree(OLD_BUILD), own=True), learned("near", tree(), own=True)]
    assert names(rows) == ["near", "x"]


def test_a_row_from_before_it_was_kept_where_it_was_learned_is_only_new_or_old() -> None:
    assert names([learned("before"), learned("near", tree())]) == ["near", "before"]


def test_a_row_that_went_through_the_database_is_told_as_near(database: Database) -> None:
    (one,) = with_candidates(database, 1)
    found = accepted(one)
    assert found.instance is not None
    environment = replace(
        found.instance.environment,
        recipe=replace(recipe("near"), env_vars=(("A", "b"),), apt=("gcc",)),
        base_image=Image(digest=BASE, tag="x"),
    )
    key = environment_key(
        KeyedTree.of(tree()),
        environment.recipe,
        base=BASE,
        repository="o/r",
        maker=Maker.MINER,
        own=False,
    )
    instance = replace(found.instance, environment=replace(environment, key=key))
    (held,) = database.verify.claim(
        holder="me", version=1, policy="quick", limit=9, repo=None, now=NOW
    )
    examined = replace(found, candidate=held, instance=instance)
    assert database.verify.save_examined(examined, holder="me", now=NOW)
    newer = [learned("newer", tree(OLD_BUILD)), learned("newest", tree(OLD_BUILD))]
    rows = [*newer, *database.verify.recipes("o/r")]
    assert rows[-1].base_commit == held.base_commit
    assert names(rows) == ["near", "newer"]
