"""A database in which pulls were crawled, split and verified, without any of those stages."""

from dataclasses import replace

from miner.model import Candidate, Examined, Instance
from miner.store import Database
from miner.verify.stage import VERIFIER_VERSION
from tests.miner.store.samples import ENVIRONMENT, NOW, POLICY, attempt, pull, repo
from tests.miner.store.samples import candidate as stored_candidate
from tests.samples import GOLD, TESTS
from tests.samples import recipe as sample_recipe
from tests.samples import verdict as sample_verdict
from validators.model import Environment, Examination, Recipe

HOLDER = "m/1/1/me"


def candidate(number: int, **changes: object) -> Candidate:
    """The candidate of a pull, with patches that parse."""
    text = {"patch": GOLD, "test_patch": TESTS, "patch_hash": f"h{number}"}
    return stored_candidate(number, **(text | changes))


def environment() -> Environment:
    """A locked environment."""
    return replace(ENVIRONMENT, recipe=sample_recipe())


def add_instances(database: Database, *candidates: Candidate, recipe: Recipe | None = None) -> None:
    """Each one an instance now."""
    place = environment() if recipe is None else replace(ENVIRONMENT, recipe=recipe)
    database.crawl.save_repo(repo(), now=NOW)
    verdict = sample_verdict()
    for one in candidates:
        origin = pull(one.pull_number)
        database.crawl.save_pulls([(origin, b"{}")])
        database.split.save_split(origin, one, policy=POLICY)
        claimed = database.verify.claim(
            holder=HOLDER, version=VERIFIER_VERSION, policy="quick", limit=9, repo=None, now=NOW
        )
        assert [each.instance_id for each in claimed] == [one.instance_id]
        found = Examined(
            candidate=one,
            examination=Examination(
                instance_id=one.instance_id,
                attempts=(attempt(verdict=verdict),),
                verdict=verdict,
            ),
            instance=Instance(candidate=one, environment=place, verdict=verdict, verified_at=NOW),
            rejection=None,
        )
        assert database.verify.save_examined(found, holder=HOLDER, now=NOW)
