"""Recipes are tried in order until the tests of a task can be seen; every attempt is kept."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from validators.engine import ContainerEngine, Progress
from validators.environment import build_environment
from validators.errors import UnknownRecipeError
from validators.languages import LANGUAGES, Language
from validators.model import (
    Attempt,
    BuildFailure,
    BuildSettings,
    Environment,
    Examination,
    FailureClass,
    Flaw,
    Maker,
    Policy,
    Recipe,
    Task,
    Verdict,
)
from validators.patched_text import patched
from validators.selection import selected
from validators.tree import read_tree
from validators.verification import verify

Advisor = Callable[[Mapping[str, str], Sequence[Attempt]], Sequence[Recipe]]
"""Asked when the language's own recipes are spent: manifests (path → text) and what was tried →
recipes to try. Whatever it needs must be picklable with it; what it fails at is no recipe."""


def examine(  # noqa: PLR0913 - all but the task say with what
    task: Task,
    *,
    engine: ContainerEngine,
    policy: Policy,
    stored: Sequence[Recipe] = (),
    settings: BuildSettings,
    progress: Progress,
    advisor: Advisor | None = None,
    turn: AbstractContextManager[object] | None = None,
) -> Examination:
    """Build and verify with `stored` recipes first, then with the language's own proposals.

    At most `settings.attempts` recipes are tried; when no test was seen with any of them, those of
    `advisor` are tried too. The attempt that tells the most decides and stands last in the
    examination. `turn` is held while tests run. Raises EngineUnavailableError when the machine
    failed.
    """
    language = _language(task)
    files = _files(task)
    bench = _Bench(language, task, files, engine, policy, settings, progress, turn)
    proposals = _proposals(language, files, task)
    queue = [*(_dated(recipe, task, proposals) for recipe in stored), *proposals]
    tried: dict[Recipe, Attempt] = {}  # by what they do, whoever said so
    while queue and len(tried) < settings.attempts:
        recipe, *queue = queue
        if _nameless(recipe) in tried:
            continue
        attempt = tried[_nameless(recipe)] = bench.attempt(recipe)
        repairs = bench.repairs(attempt)
        if _is_settled(attempt) and not repairs:
            break
        queue = _next(tuple(tried.values()), repairs, [] if _is_settled(attempt) else queue)
    if advisor is not None and not any(map(_is_settled, tried.values())):
        for advised in advisor(bench.manifests(), tuple(tried.values())):
            recipe = _dated(replace(advised, origin="advisor"), task, proposals)
            if _nameless(recipe) not in tried:
                tried[_nameless(recipe)] = bench.attempt(recipe)
    attempts = sorted(tried.values(), key=_worth)
    return Examination(
        instance_id=task.instance_id,
        attempts=tuple(attempts),
        verdict=_verdict(attempts, policy),
    )


def proposed(task: Task) -> Sequence[Recipe]:
    """The recipes that the tree itself proposes, the likeliest first. Nothing is built."""
    return _proposals(_language(task), _files(task), task)


@dataclass(frozen=True, slots=True)
class _Bench:
    """One task on one engine."""

    language: Language
    task: Task
    files: Mapping[str, str]  # the tree with tests and fix
    engine: ContainerEngine
    policy: Policy
    settings: BuildSettings
    progress: Progress
    turn: AbstractContextManager[object] | None

    def manifests(self) -> Mapping[str, str]:
        """The files that the language wants to read, as they are after tests and fix."""
        return _manifests(self.language, self.files)

    def attempt(self, recipe: Recipe) -> Attempt:
        """Build, and verify what was built."""
        started_at = datetime.now(UTC)
        self.progress(f"{self.task.instance_id}: {recipe.origin} recipe on Python {recipe.python}")
        built = build_environment(
            self.task.tree,
            recipe,
            patches=(self.task.test_patch, self.task.patch),
            repository=self.task.repo,
            maker=Maker.MINER,
            engine=self.engine,
            settings=self.settings,
            progress=lambda line: self.progress(f"{self.task.instance_id}: {line}"),
        )
        environment = None if isinstance(built, BuildFailure) else built
        attempt = Attempt(
            recipe=recipe if environment is None else environment.recipe,
            environment=environment,
            failure=built if isinstance(built, BuildFailure) else None,
            verdict=None if environment is None else self._verified(environment),
            started_at=started_at,
            ended_at=datetime.now(UTC),
        )
        if not _is_settled(attempt):
            self.progress(f"{self.task.instance_id}: {attempt.reason}")
        return attempt

    def repairs(self, attempt: Attempt) -> Sequence[Recipe]:
        """What the language would try after this."""
        problem = attempt.failure or attempt.verdict
        if problem is None:
            return ()
        return self.language.repair(attempt.recipe, problem, self._texts())

    def _verified(self, environment: Environment) -> Verdict:
        verdict = verify(
            self.task,
            environment,
            test_files=selected(self.task.test_patch, environment.recipe),
            engine=self.engine,
            policy=self.policy,
            progress=self.progress,
            turn=self.turn,
        )
        return self._diagnosed(verdict)

    def _diagnosed(self, verdict: Verdict) -> Verdict:
        missing = None if verdict.accepted else self.language.diagnose(verdict, self._texts())
        if missing is None:
            return verdict
        detail = "; ".join(filter(None, (str(missing), verdict.detail)))
        return replace(verdict, diagnosis=missing, detail=detail)

    def _texts(self) -> Mapping[str, str]:
        """Every path of the tree, with the text of manifests only."""
        return dict.fromkeys(self.files, "") | dict(self.manifests())


def _language(task: Task) -> Language:
    language = LANGUAGES.get(task.language)
    if language is None:
        raise UnknownRecipeError(f"No language is called {task.language}; see LANGUAGES.")
    return language


def _proposals(language: Language, files: Mapping[str, str], task: Task) -> Sequence[Recipe]:
    """The language's recipes for base, tests and fix together."""
    return language.propose_recipes(_manifests(language, files), list(files), task.merged_at)


def _manifests(language: Language, files: Mapping[str, str]) -> Mapping[str, str]:
    return {path: files[path] for path in language.manifest_paths(list(files))}


def _files(task: Task) -> Mapping[str, str]:
    after = patched(read_tree(task.tree), (task.test_patch, task.patch))
    return {path: content.decode("utf-8", "replace") for path, content in after.items()}


def _next(
    tried: Sequence[Attempt], repairs: Sequence[Recipe], queue: Sequence[Recipe]
) -> list[Recipe]:
    """The likeliest repair of the last attempt first, its alternatives last.

    All of them wait for the queue where nobody knows what failed; where the recipe was learned at
    other commits, maybe of other times; and where one name after another is on no index, as in a
    list of private packages, which has more of them than there are attempts.
    """
    last = tried[-1]
    failures = [attempt.failure.failure_class for attempt in tried[-2:] if attempt.failure]
    unknown = failures[-1:] == [FailureClass.OTHER]
    strangers = failures == [FailureClass.PACKAGE_NOT_FOUND] * 2
    if unknown or strangers or last.recipe.origin == "stored":
        return [*queue, *repairs]
    return [*repairs[:1], *queue, *repairs[1:]]


def _dated(recipe: Recipe, task: Task, proposals: Sequence[Recipe]) -> Recipe:
    """A recipe that names neither lock nor date is of the task's: never of today's packages."""
    if recipe.lock is not None or recipe.cutoff_at is not None:
        return recipe
    exempt = recipe.cutoff_exempt or (proposals[0].cutoff_exempt if proposals else ())
    return replace(recipe, cutoff_at=task.merged_at, cutoff_exempt=exempt)


def _nameless(recipe: Recipe) -> Recipe:
    """The same steps, wherever they come from, are tried once."""
    return replace(recipe, origin="")


def _is_settled(attempt: Attempt) -> bool:
    """Another proposal would tell nothing new: tests were seen, whatever they said."""
    verdict = attempt.verdict
    return verdict is not None and verdict.flaw is not Flaw.NO_TESTS_SEEN


def _worth(attempt: Attempt) -> tuple[int, int, int]:
    """How much an attempt tells; equal ones stay in the order they were made."""
    verdict = attempt.verdict
    if verdict is None:
        return (0, 0, 0)
    rank = 3 if verdict.accepted else 2 if verdict.flaw is not Flaw.NO_TESTS_SEEN else 1
    return (rank, len(verdict.fail_to_pass), len(verdict.pass_to_pass))


def _verdict(attempts: Sequence[Attempt], policy: Policy) -> Verdict:
    last = attempts[-1] if attempts else None
    if last is not None and last.verdict is not None:
        return last.verdict
    detail = last.reason if last is not None else "no recipe could be proposed"
    return Verdict(flaw=Flaw.BUILD_FAILED, detail=detail, policy=policy.name)
