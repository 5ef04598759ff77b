"""`miner recipes`: how a repository is built and tested, where inference needs a hand."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from miner.cli import exits
from miner.cli.options import AuthorOption, JsonOption
from miner.cli.options import author as known_author
from miner.cli.recipe_files import beginning, document, read_recipe
from miner.cli.repos import check_known, check_name, stranger
from miner.cli.speech import brief, complain, live, progress, say, say_json, table
from miner.cli.stages import P2POption
from miner.cli.trees import trees
from miner.cli.wiring import House
from miner.errors import ConfigError
from miner.model import Candidate, StoredRecipe
from miner.store import Database
from miner.store.evidence import StoredExamination
from miner.verify.bench import task_of
from validators import workshop
from validators.examination import proposed
from validators.model import Attempt, Examination, Recipe, Task

GROUP = typer.Typer(no_args_is_help=True, help="How a repository is built and tested.")
TAIL_CHARS = 4000
"""So much of a log's end is told."""

ACCEPTED = "accepted"
"""What `Attempt.reason` says of an attempt without a flaw."""

RepoArgument = Annotated[str, typer.Argument(help="The repository: owner/name.")]
InstanceArgument = Annotated[
    str,
    typer.Argument(help="owner__name-123; or owner/name for its newest candidate that fails."),
]
FileArgument = Annotated[
    Path,
    typer.Argument(help="JSON with the fields that you set; `recipes propose` prints a beginning."),
]
TryPolicyOption = Annotated[str, typer.Option("--policy", help="quick or full.", metavar="NAME")]


@GROUP.command("show")
def show(repo: RepoArgument, as_json: JsonOption = False) -> None:
    """Stored recipes of a repository: people's first, then learned ones."""
    check_name(repo)
    with House.of_environment().store() as store:
        stored = store.admin.recipes(repo)
        if not stored:
            check_known(store, repo)
    if as_json:
        say_json([_document(row) for row in stored])
        return
    if not stored:
        say(f"No recipe is stored for {repo}; what a tree itself says is tried.")
        return
    table(
        f"Recipes of {repo}: {len(stored)}",
        ["author", "since", "python", "learned at", "install", "test"],
        [
            [
                row.author or "learned",
                f"{row.made_at:%Y-%m-%d}",
                row.recipe.python,
                (row.base_commit or "")[:12],
                _installed(row.recipe),
                row.recipe.test_cmd,
            ]
            for row in stored
        ],
    )


@GROUP.command("set")
def set_recipe(repo: RepoArgument, file: FileArgument, author: AuthorOption = None) -> None:
    """Store a recipe that wins over inferred ones; the repository's tasks are due again."""
    check_name(repo)
    recipe, who = read_recipe(file), known_author(author)
    with House.of_environment().store() as store:
        store.admin.set_recipe(repo, recipe, author=who)
        hint = stranger(store, repo)
    if hint is not None:
        complain(f"no repository {repo} was crawled or is watched here yet{hint}")
    say(f"stored; `miner verify --repo {repo}` uses it")


@GROUP.command("propose")
def propose(instance_id: InstanceArgument) -> None:
    """Print a recipe to start from, as JSON: the one that got farthest, else the tree's first.

    It has no lock and no date, so that each candidate's own hold.
    """
    house = House.of_environment()
    candidate, examinations = _candidate(house, instance_id)
    tried = [attempt for one in examinations[:1] for attempt in one.examination.attempts]
    proposals = proposed(_task(house, candidate))
    if tried and tried[-1].verdict is not None:
        recipe, what = tried[-1].recipe, f"got farthest of {len(tried)} tried: {tried[-1].reason}"
    elif tried:  # the likeliest came first
        first = min(tried, key=lambda attempt: attempt.started_at)
        recipe, what = first.recipe, f"the first of {len(tried)} that do not build: {first.reason}"
    elif proposals:
        recipe, what = proposals[0], f"the first of {len(proposals)} that its tree proposes"
    else:
        raise ConfigError(
            f"{candidate.instance_id} was not verified yet, and its tree proposes no recipe."
        )
    complain(f"{candidate.instance_id}: {what}")
    say_json(beginning(recipe, beside=proposals))


@GROUP.command("try")
def try_recipe(
    instance_id: InstanceArgument,
    file: FileArgument,
    policy: TryPolicyOption = "quick",
    p2p: P2POption = "files",
    as_json: JsonOption = False,
) -> None:
    """Verify one candidate with a recipe, and store nothing.

    Exit code 1 unless this recipe is accepted as it is, whatever a repaired one says.
    """
    house, recipe = House.of_environment(), read_recipe(file)
    candidate, _ = _candidate(house, instance_id)
    if "/" in instance_id:
        complain(f"{candidate.instance_id}: tried for {instance_id}")
    task = _task(house, candidate)
    bars = progress()
    bars.start("try", total=None)
    bench = house.workshop()
    try:
        with live(bars, "try", source=workshop.__name__):
            examination = bench.examine(task, policy=house.policy(policy, p2p=p2p), stored=[recipe])
    finally:
        bench.close()
        bars.end("try")
    yours = of_the_given(examination)
    if as_json:
        say_json(tried_document(examination, proposed(task)))
    else:
        tell_tried(examination)
    raise typer.Exit(exits.OK if yours == ACCEPTED else exits.DIFFERS)


def tried_document(examination: Examination, proposals: Sequence[Recipe]) -> dict[str, object]:
    """What came of it, and the recipe that decided, as `recipes set` reads it."""
    verdict, attempts = examination.verdict, examination.attempts
    return {
        "flaw": verdict.flaw,
        "fail_to_pass": verdict.fail_to_pass,
        "your_recipe": of_the_given(examination),
        "recipe": beginning(attempts[-1].recipe, beside=proposals) if attempts else None,
    }


def _candidate(house: House, named: str) -> tuple[Candidate, Sequence[StoredExamination]]:
    """A candidate and how it was examined, newest first. ConfigError when there is none.

    `named`: its id; or "owner/name", for the one there that needs a recipe the most.
    """
    with house.store() as store:
        found = store.admin.evidence(_worst(store, named) if "/" in named else named)
    if found is None or found.candidate is None:
        raise ConfigError(f"There is no candidate {named!r}; `miner funnel` counts them.")
    return found.candidate, found.examinations


def _worst(store: Database, repo: str) -> str:
    """The instance id of the candidate that needs a recipe the most."""
    check_known(store, repo)
    found = store.admin.worst_candidate(repo)
    if found is None:
        raise ConfigError(f"{repo} has no candidate; `miner funnel --repo {repo}` says why.")
    return found


def _task(house: House, candidate: Candidate) -> Task:
    return task_of(candidate, trees(house)(candidate))


def of_the_given(examination: Examination) -> str:
    """What came of the given recipe, which was tried first; "accepted" when nothing is wrong."""
    given = _given(examination)
    return f"{examination.verdict.flaw}" if given is None else given.reason


def _given(examination: Examination) -> Attempt | None:
    """The first attempt: in an examination the one that decides stands last, not the newest."""
    return min(examination.attempts, key=lambda attempt: attempt.started_at, default=None)


def _instead(examination: Examination) -> str:
    """ "; another one (repaired, Python 3.12) works", when one was accepted."""
    if not examination.verdict.accepted:
        return ""
    recipe = examination.attempts[-1].recipe
    return f"; another one ({recipe.origin}, Python {recipe.python}) works"


def tell_tried(examination: Examination) -> None:
    """All attempts, what is wrong with the given recipe with its log, and the verdict."""
    tell_attempts(examination.attempts)
    verdict, yours, given = examination.verdict, of_the_given(examination), _given(examination)
    if given is not None and (log := log_of(given)) is not None:
        say(f"--- end of the log of your recipe\n{log[-TAIL_CHARS:].strip()}")
    say(f"{verdict.flaw or ACCEPTED}: {len(verdict.fail_to_pass)} FAIL_TO_PASS")
    if yours != ACCEPTED:
        detail = given.verdict.detail if given is not None and given.verdict is not None else ""
        said = f"{yours} ({brief(detail)})" if detail else yours
        say(f"your recipe: {said}{_instead(examination)}")


def log_of(attempt: Attempt) -> str | None:
    """Why a recipe failed, in its own words: of the build, else of a run with a flaw of its own."""
    if attempt.failure is not None:
        return attempt.failure.outcome.output.decode("utf-8", "replace")
    runs = () if attempt.verdict is None else attempt.verdict.runs
    flawed = next((run for run in runs if run.flaw is not None), None)
    return None if flawed is None else flawed.outcome.output.decode("utf-8", "replace")


def tell_attempts(attempts: tuple[Attempt, ...]) -> None:
    """One line a recipe tried."""
    table(
        "Recipes tried",
        ["python", "install", "test", "s", "what came of it"],
        [
            [
                attempt.recipe.python,
                _installed(attempt.recipe),
                attempt.recipe.test_cmd,
                round((attempt.ended_at - attempt.started_at).total_seconds(), 1),
                attempt.reason,
            ]
            for attempt in attempts
        ],
    )


def _installed(recipe: Recipe) -> str:
    """What and how, in one cell."""
    return f"{' '.join(recipe.requirements)} ({recipe.project_install})"


def _document(row: StoredRecipe) -> dict[str, object]:
    return {
        "author": row.author,
        "made_at": row.made_at,
        "environment_key": row.environment_key,
        "base_commit": row.base_commit,
        "recipe": document(row.recipe),
    }
