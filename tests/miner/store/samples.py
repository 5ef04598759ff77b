"""Values as the stages would hand them to the store."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from miner.model import (
    Actor,
    Base,
    Candidate,
    Examined,
    Instance,
    Issue,
    Link,
    LinkSource,
    LinkStrength,
    MergeMethod,
    PullRequest,
    Rejection,
    Repo,
    Stage,
)
from miner.store import Database
from miner.store.blobs import address
from miner.store.tables import BLOBS, CANDIDATES
from validators.model import (
    Attempt,
    BuildFailure,
    Environment,
    Examination,
    FailureClass,
    Flaw,
    Image,
    Outcome,
    Phase,
    Recipe,
    Run,
    TestResult,
    TestStatus,
    Verdict,
)

NOW = datetime(2026, 11, 29, 3, 0, tzinfo=UTC)
POLICY = "gates-1"
RECIPE = Recipe(language="python", python="3.12", requirements=("pytest",), origin="repaired")
ENVIRONMENT = Environment(
    image=Image(digest="sha256:e", tag="miner/env:abc"),
    base_image=Image(digest="sha256:b", tag="miner/base:3.12"),
    base_origin="built",
    recipe=RECIPE.with_lock("pytest==8.2.0\n"),
    key="abc",
    packages=("pytest==8.2.0",),
)


def later(**of: float) -> datetime:
    """NOW and a while."""
    return NOW + timedelta(**of)


def repo(**changes: object) -> Repo:
    """The repository o/r."""
    base = Repo(
        source="github",
        database_id=11,
        name="o/r",
        clone_url="https://example.org/o/r.git",
        default_branch="main",
        language="Python",
        license="MIT",
    )
    return replace(base, **changes)  # type: ignore[arg-type]  # tests name real fields


def pull(number: int = 7, **changes: object) -> PullRequest:
    """A merged pull of o/r with awkward bytes and text."""
    base = PullRequest(
        source="github",
        repo="o/r",
        repo_id=11,
        number=number,
        title=f"Fix \x00 number {number} \udc80",
        body="Fixes #3",
        author=Actor(login="ann"),
        merged_by=None,
        base_branch="main",
        default_branch="main",
        head_commit="a" * 40,
        merge_commit="b" * 40,
        created_at=NOW - timedelta(days=3),
        merged_at=NOW - timedelta(days=2) + timedelta(minutes=number),
        updated_at=NOW - timedelta(days=1) + timedelta(minutes=number),
        links=(Link(repo="o/r", number=3, source=LinkSource.BODY, strength=LinkStrength.CLOSES),),
        issues=(
            Issue(
                repo="o/r",
                number=3,
                title="It breaks",
                body="Always.",
                author=None,
                created_at=NOW - timedelta(days=9),
            ),
        ),
        base=Base(
            commit="c" * 40, merge_tree="b" * 40, method=MergeMethod.SQUASH, rule="first parent"
        ),
        diff=b"diff --git a/\xff b/\xff\r\n\x00",
        fetched_at=NOW,
        raw_digest=f"raw-{number}-1",
    )
    return replace(base, **changes)  # type: ignore[arg-type]  # tests name real fields


def candidate(number: int = 7, **changes: object) -> Candidate:
    """The candidate cut from `pull(number)`."""
    base = Candidate(
        instance_id=f"o__r-{number}",
        repo="o/r",
        repo_id=11,
        pull_number=number,
        raw_digest=f"raw-{number}-1",
        policy=POLICY,
        issue_numbers=(number + 1000,),
        base_commit="c" * 40,
        merge_tree="b" * 40,
        patch=b"gold \xff\r\n",
        test_patch=b"tests \x00\n",
        patch_hash="h",
        problem_statement="It breaks\n\nAlways.",
        hints_text="",
        issue_created_at=NOW - timedelta(days=9),
        created_at=NOW - timedelta(days=3),
        merged_at=NOW - timedelta(days=2) + timedelta(minutes=number),
        language="python",
        version="1.0",
        license="MIT",
        file_classes=(("a\udcff.py", "source"),),
    )
    return replace(base, **changes)  # type: ignore[arg-type]  # tests name real fields


def rejection(number: int = 7, gate: str = "no_linked_issue", **changes: object) -> Rejection:
    """A no of the split stage."""
    base = Rejection(
        repo="o/r",
        pull_number=number,
        stage=Stage.SPLIT,
        gate=gate,
        detail="No issue is linked. \x00\udc80",
        made_at=NOW,
    )
    return replace(base, **changes)  # type: ignore[arg-type]  # tests name real fields


def run(phase: Phase = Phase.BEFORE, attempt: int = 1) -> Run:
    """A run whose test ids and output no database text could hold."""
    return Run(
        phase=phase,
        attempt=attempt,
        results={
            "t.py::a[\x00\udc80]": TestResult(status=TestStatus.PASSED, duration_s=0.25),
            "t.py::b": TestResult(
                status=TestStatus.ERROR, phase="setup", message="boom", ambiguous=True
            ),
        },
        outcome=Outcome(exit_code=1, output=f"\x1b[31m{phase}\x00".encode() + b"\xff"),
        image_digest="sha256:e",
        started_at=NOW,
    )


def verdict(**changes: object) -> Verdict:
    """Accepted."""
    base = Verdict(
        fail_to_pass=("t.py::a[\x00\udc80]",),
        pass_to_pass=("t.py::c",),
        policy="quick",
        runs=(run(Phase.BEFORE), run(Phase.AFTER)),
    )
    return replace(base, **changes)  # type: ignore[arg-type]  # tests name real fields


def attempt(**changes: object) -> Attempt:
    """A recipe that worked."""
    base = Attempt(
        recipe=RECIPE,
        environment=ENVIRONMENT,
        failure=None,
        verdict=verdict(),
        started_at=NOW,
        ended_at=later(minutes=1),
    )
    return replace(base, **changes)  # type: ignore[arg-type]  # tests name real fields


def failed_attempt() -> Attempt:
    """A recipe that did not build."""
    return Attempt(
        recipe=RECIPE,
        environment=None,
        failure=BuildFailure(
            outcome=Outcome(exit_code=1, output=b"no such package \xff", duration_s=3.5),
            failure_class=FailureClass.PACKAGE_NOT_FOUND,
            detail="nope",
            step="resolve",
        ),
        verdict=None,
        started_at=NOW,
        ended_at=later(minutes=1),
    )


def accepted(of: Candidate) -> Examined:
    """What verification finds of a good candidate: the second recipe worked."""
    good = attempt()
    assert good.verdict is not None
    return Examined(
        candidate=of,
        examination=Examination(
            instance_id=of.instance_id,
            attempts=(failed_attempt(), good),
            verdict=good.verdict,
        ),
        instance=Instance(
            candidate=of, environment=ENVIRONMENT, verdict=good.verdict, verified_at=NOW
        ),
        rejection=None,
    )


def refused(of: Candidate, flaw: Flaw = Flaw.BUILD_FAILED) -> Examined:
    """What verification finds of a candidate that does not build."""
    return Examined(
        candidate=of,
        examination=Examination(
            instance_id=of.instance_id,
            attempts=(failed_attempt(),),
            verdict=Verdict(flaw=flaw, detail="nope", policy="quick"),
        ),
        instance=None,
        rejection=rejection(of.pull_number, flaw, stage=Stage.VERIFY),
    )


def with_candidates(database: Database, *numbers: int) -> tuple[Candidate, ...]:
    """Crawl and split these pulls."""
    database.crawl.save_repo(repo(), now=NOW)
    found = tuple(candidate(number) for number in numbers)
    for one in found:
        database.crawl.save_pulls([(pull(one.pull_number), b"{}")])
        database.split.save_split(pull(one.pull_number), one, policy=POLICY)
    return found


def damage(database: Database, of: Candidate) -> Callable[[], None]:
    """Let what is stored of its patch be damaged; returns what mends it."""
    sql, bad = database._sql, "0" * 64
    row = CANDIDATES.update().where(CANDIDATES.c.instance_id == of.instance_id)
    with sql.write() as connection:
        blob = {"sha256": bad, "size": 1, "content": b"damaged"} | sql.stamp()
        connection.execute(sql.insert(BLOBS).values(blob))
        connection.execute(row.values(patch=bad))

    def mend() -> None:
        with sql.write() as connection:
            connection.execute(row.values(patch=address(of.patch)))

    return mend
