"""A repository with merged pulls, in git and in the fake API at once."""

from pathlib import Path
from typing import Any

from tests.miner.crawl.fake_github import at, pull, repository
from tests.miner.git.repository import Repository

METHODS = ("merge", "squash", "rebase")


def merged_repository(
    folder: Path, *, pulls: int, name: str = "o/r", database_id: int = 1
) -> dict[str, Any]:
    """`pulls` merged pulls, in turn by merge, squash and rebase, each of two commits."""
    git = Repository(folder)
    git.commit({"a.py": "x = 0\n", "b.py": "y = 0\n"}, "Begin")
    nodes = [_merge(git, number, METHODS[number % 3]) for number in range(1, pulls + 1)]
    return repository(name, database_id=database_id, pulls=nodes, clone_url=str(folder))


def _merge(git: Repository, number: int, method: str) -> dict[str, Any]:
    git.git("checkout", "--quiet", "-b", f"topic-{number}", "main")
    oids = []
    for step in (1, 2):
        content = {f"new{number}.py": f"z = {step}\n" * step, "a.py": f"x = {number}\n"}
        oids.append(git.commit(content, f"Step {step} of {number}"))
    git.git("update-ref", f"refs/pull/{number}/head", oids[-1])
    git.git("checkout", "--quiet", "main")
    git.commit({f"other{number}.txt": "moved on\n"}, "Meanwhile")
    match method:
        case "merge":
            git.git("merge", "--quiet", "--no-ff", "-m", f"Merge {number}", f"topic-{number}")
        case "squash":
            git.git("merge", "--quiet", "--squash", f"topic-{number}")
            git.commit({}, f"Pull {number} (#{number})")
        case _:
            git.git("cherry-pick", *oids)
    git.git("branch", "--quiet", "-D", f"topic-{number}")
    return pull(
        number,
        updatedAt=at(1 + number % 28, number % 24),
        headRefOid=oids[-1],
        mergeCommit={"oid": git.head(), "message": "merged", "committedDate": at(11)},
        commits=[
            {"commit": {"oid": oid, "message": "step", "authoredDate": at(9),
                        "committedDate": at(9), "author": None}}
            for oid in oids
        ],
        files=[
            {"path": "a.py", "additions": 1, "deletions": 1, "changeType": "MODIFIED"},
            {"path": f"new{number}.py", "additions": 2, "deletions": 0, "changeType": "ADDED"},
        ],
    )  # fmt: skip
